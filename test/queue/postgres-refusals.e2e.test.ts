import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { tell } from './psql.ts';
import { openTarget } from './target.ts';

const openAt = (url: string, mirrorId = 'm') => openTarget({ url, dataDir: 'none', mirrorId });

const SCHEMAS = `SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1`;

describe('a PostgreSQL for the queue', skipUnless('initdb', 'postgres'), () => {
  let server: Server;
  before(async () => {
    server = await startPostgres({ password: 'right-password' });
  });
  after(() => server.stop());

  const as = (user: string, database = 'postgres') =>
    `postgres://${user}@127.0.0.1:${server.port}/${database}`;

  it('takes two services that start on it at the same moment, and gets a schema of its own', async () => {
    const backends = await Promise.all([openAt(server.url, 'one'), openAt(server.url, 'other')]);
    for (const backend of backends) await backend.queue('work').add('n', {});
    assert.deepEqual(
      (await tell(server.url, SCHEMAS)).map(({ name }) => name),
      ['feedback_mirror_queue', 'information_schema', 'public'],
    );
    const inPublic = await tell(
      server.url,
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
    );
    assert.deepEqual(inPublic, []);
    await Promise.all(backends.map((backend) => backend.close()));
  });

  it('gets its schema back with the next question when somebody dropped it', async () => {
    const backend = await openAt(server.url);
    await tell(server.url, 'DROP SCHEMA feedback_mirror_queue CASCADE');
    assert.equal(await (await backend.queue('work').add('n', {})).getState(), 'waiting');
    await backend.close();
  });

  it('refuses a wrong or missing password clearly and without showing it', async () => {
    for (const user of ['postgres:wr0ng-secret', 'postgres', 'nobody:wr0ng-secret'])
      await assert.rejects(openAt(as(user)), (error: Error & { code: string; hint: string }) => {
        assert.equal(error.code, 'usage');
        assert.match(error.message, /refused the user or the password/);
        assert.doesNotMatch(error.message + error.hint, /wr0ng-secret/);
        return true;
      });
  });

  it('says when there is no such database', async () => {
    await assert.rejects(openAt(as('postgres:right-password', 'nothing')), {
      code: 'usage',
      message: /no database/,
    });
  });

  it('says when it speaks no TLS', async () => {
    await assert.rejects(openAt(`${server.url}?sslmode=verify-full`), {
      code: 'usage',
      message: /does not speak TLS/,
    });
  });

  it('says which right is missing, and does not need it once the schema exists', async () => {
    await tell(server.url, "CREATE ROLE clerk LOGIN PASSWORD 'clerk-word'");
    await tell(server.url, 'CREATE DATABASE office');
    const clerk = as('clerk:clerk-word', 'office');
    await assert.rejects(openAt(clerk), { code: 'usage', hint: /GRANT CREATE ON DATABASE/ });
    await tell(server.url, 'GRANT CREATE ON DATABASE office TO clerk');
    await (await openAt(clerk)).close();
    await tell(server.url, 'REVOKE CREATE ON DATABASE office FROM clerk');
    await (await openAt(clerk)).close();
  });

  it('that is away is waited for as long as a server takes to come up, and no longer', async () => {
    await server.kill();
    await assert.rejects(openAt(server.url), {
      code: 'unreachable',
      message: /could not be reached \(ECONNREFUSED\)/,
    });
    const opening = openAt(server.url);
    await server.restart();
    await (await opening).close();
  });
});
