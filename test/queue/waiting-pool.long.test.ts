import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { waitingPool } from '../../src/queue/waiting-pool.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { tell } from './psql.ts';

const QUIET = { report() {}, away() {}, over() {} };

describe('a query of the PostgreSQL queue', skipUnless('postgres'), () => {
  let server: Server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());
  const open = (t: TestContext, repair: () => Promise<void>) => {
    const pool = waitingPool({ connectionString: server.url, max: 4 }, QUIET, repair);
    t.after(() => pool.abandon());
    return pool;
  };

  it('waits while its schema is gone, and one repair serves all that wait', async (t) => {
    let repairs = 0;
    const pool = open(t, async () => {
      if (++repairs < 3) throw new Error('not yet');
      await tell(server.url, 'CREATE SCHEMA dropped; CREATE TABLE dropped.job AS SELECT 7 AS id');
    });
    const asked = Array.from({ length: 20 }, () => pool.query<{ id: number }>('SELECT id FROM dropped.job'));
    const answers = await Promise.all(asked);
    assert.ok(answers.every(({ rows }) => rows[0]?.id === 7));
    assert.equal(repairs, 3);
  });

  it('fails when repairs bring nothing', async (t) => {
    let repairs = 0;
    const pool = open(t, async () => void repairs++);
    await assert.rejects(pool.query('SELECT 1 FROM nowhere'), /"nowhere" does not exist/);
    assert.equal(repairs, 5);
  });

  it('is sent again after a deadlock, which rolled it back', async (t) => {
    await tell(server.url, 'CREATE TABLE pair AS SELECT id, 0 AS n FROM generate_series(1, 2) id');
    const pool = open(t, async () => {});
    const touch = (first: number, second: number): Promise<unknown> =>
      pool.query(`DO $$ BEGIN
        UPDATE pair SET n = n + 1 WHERE id = ${first};
        PERFORM pg_sleep(0.2);
        UPDATE pair SET n = n + 1 WHERE id = ${second};
      END $$`);
    await Promise.all([touch(1, 2), touch(2, 1)]);
    assert.deepEqual(await tell(server.url, 'SELECT n FROM pair ORDER BY id'), [{ n: 2 }, { n: 2 }]);
  });

  it('that is wrong fails at once', async (t) => {
    const pool = open(t, () => assert.fail('nothing was broken'));
    await assert.rejects(pool.query('SELEC 1'), /syntax error/);
  });
});
