import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { assess } from '../../src/service/health.ts';
import { tell } from '../queue/psql.ts';
import { progressWith } from '../service/healthy.ts';
import { end, onFreePort, remove, run } from '../support/launch.ts';
import { openTestMirror, UPSTREAM } from '../support/mirror.ts';
import { requireProgram, skipUnless } from '../support/programs.ts';
import { posts } from '../support/rows.ts';
import { ordinaryUser, type Server, startPostgres } from '../support/servers.ts';
import { sweep } from '../support/steps.ts';
import { assertRowEqual, openTestPublisher } from './copy.ts';

describe('who may write the copy', skipUnless('initdb', 'postgres'), () => {
  let server: Server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  function mirrorFor(t: TestContext) {
    const mirror = openTestMirror();
    t.after(() => mirror.dispose());
    sweep(mirror.store, 'posts', posts(1, 2, 3), 1);
    const publisher = (schema: string, url = server.url) => {
      const opened = openTestPublisher(url, { path: mirror.path, upstream: UPSTREAM }, schema);
      t.after(() => opened.close());
      return opened;
    };
    return { ...mirror, publisher };
  }

  const as = (user: string) => server.url.replace('postgres@', `${user}@`);

  it('needs no more than a schema of its own, and shows it to a role that only reads', async (t) => {
    const { path, publisher } = mirrorFor(t);
    await tell(
      server.url,
      'CREATE ROLE mirror_writer LOGIN; CREATE SCHEMA plain AUTHORIZATION mirror_writer',
    );
    await tell(
      server.url,
      'REVOKE CREATE, TEMPORARY ON DATABASE postgres FROM PUBLIC; CREATE ROLE reader LOGIN',
    );
    await publisher('plain', as('mirror_writer')).step();
    await assertRowEqual(path, server.url, 'plain');
    await tell(
      as('mirror_writer'),
      'GRANT USAGE ON SCHEMA plain TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA plain TO reader',
    );
    assert.equal((await tell(as('reader'), 'SELECT * FROM plain.live_posts')).length, 3);
    await assert.rejects(tell(as('reader'), 'DELETE FROM plain.posts'), /permission denied/);
    await assert.rejects(publisher('elsewhere', as('mirror_writer')).step(), {
      code: 'usage',
      message: /does not let the user of PUBLISH_URL make or write the schema elsewhere/,
    });
  });

  it('leaves a schema of another mirror or another program unchanged', async (t) => {
    const first = mirrorFor(t).publisher('taken');
    await first.step();
    await first.close();
    await assert.rejects(mirrorFor(t).publisher('taken').step(), {
      code: 'usage',
      message: /another mirror/,
    });
    await tell(server.url, 'CREATE SCHEMA shop; CREATE TABLE shop.orders (id int)');
    await assert.rejects(mirrorFor(t).publisher('shop').step(), {
      code: 'usage',
      message: /something else: orders/,
    });
  });

  it('tells a service of another mirror at once that the schema is taken, also while it is being written', async (t) => {
    await mirrorFor(t).publisher('held').step();
    const other = mirrorFor(t).publisher('held');
    await assert.rejects(other.step(), { code: 'usage', message: /another mirror/ });
    const { checks } = assess(progressWith({ copy: other.progress() }));
    const told = checks.find(({ name }) => name === 'copy');
    assert.equal(told?.warning, true);
    assert.match(String(told?.detail), /the schema held holds the copy of another mirror/);
  });

  it('is one service at a time, and another takes over when the first ends', async (t) => {
    const { publisher } = mirrorFor(t);
    const [first, second] = [publisher('shared'), publisher('shared')];
    await first.step();
    assert.equal(await second.step(), 0);
    assert.equal(second.progress().isElsewhere, true);
    await first.close();
    await second.step();
    assert.equal(second.progress().isElsewhere, false);
    assert.equal(second.progress().behind, 0);
  });

  it('costs nothing but lag while the server is away, and says so without making the service unready', async (t) => {
    const own = await startPostgres();
    t.after(() => own.stop());
    const { store, path, publisher } = mirrorFor(t);
    const copy = publisher('away', own.url);
    await copy.step();
    await own.kill();
    sweep(store, 'posts', posts(1, 2, 3, 4), 2);
    await assert.rejects(copy.step());
    await assert.rejects(copy.step(), { code: 'unreachable' });
    const { ready, checks } = assess(progressWith({ copy: copy.progress() }));
    const told = checks.find(({ name }) => name === 'copy');
    assert.deepEqual([ready, told?.ok, told?.warning], [true, false, true]);
    assert.match(String(told?.detail), /could not be reached.*a lost disk would cost the last/);
    const behind = copy.progress();
    assert.ok((behind.behind ?? 0) > 0);
    await copy.close();
    // A service that is started again meanwhile knows as much.
    const next = publisher('away', own.url);
    await assert.rejects(next.step());
    const { place, trouble, ...known } = next.progress();
    assert.deepEqual(
      { ...known, place: behind.place, trouble: behind.trouble },
      { ...behind, behindSince: known.behindSince },
    );
    assert.ok((known.behindSince ?? Infinity) <= (behind.behindSince ?? 0));
    await own.restart();
    await next.step();
    await assertRowEqual(path, own.url, 'away');
    assert.equal(next.progress().trouble, null);
  });

  it(
    'is refused through a pooler of transactions or statements, and not through one of sessions',
    skipUnless('pgbouncer'),
    async (t) => {
      const { path, publisher } = mirrorFor(t);
      for (const size of [1, 5]) {
        const pooler = await startPooler(t, server.port, 'transaction', size);
        await assert.rejects(publisher('pooled', pooler).step(), {
          code: 'usage',
          message: /pooler that shares sessions by the transaction/,
        });
      }
      const statements = await startPooler(t, server.port, 'statement', 5);
      await assert.rejects(publisher('pooled', statements).step(), {
        code: 'usage',
        message: /pooler that shares sessions by the statement/,
      });
      await publisher('pooled', await startPooler(t, server.port, 'session', 5)).step();
      await assertRowEqual(path, server.url, 'pooled');
    },
  );
});

async function startPooler(t: TestContext, server: number, mode: string, size: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fm-pgbouncer-'));
  chmodSync(folder, 0o755);
  const launch = (port: number): Promise<ChildProcess> => {
    const lines = [
      '[databases]',
      `postgres = host=127.0.0.1 port=${server} user=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
    ];
    lines.push('auth_type = any', 'unix_socket_dir =', `pool_mode = ${mode}`, `default_pool_size = ${size}`);
    writeFileSync(join(folder, 'pgbouncer.ini'), `${lines.join('\n')}\n`);
    const args = [join(folder, 'pgbouncer.ini')];
    return run(
      { command: requireProgram('pgbouncer'), args, ready: /process up/, ...ordinaryUser() },
      folder,
    );
  };
  const [child, port] = await onFreePort(launch);
  t.after(async () => {
    await end(child, 'SIGKILL');
    await remove(folder);
  });
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}
