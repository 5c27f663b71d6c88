import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { tell } from '../queue/psql.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { place, start } from './place.ts';

describe('the copies of several sources in PostgreSQL', skipUnless('initdb', 'postgres'), () => {
  let server: Server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  it('are a schema each, and views over all with the name of the source', async (t) => {
    const site = await place(t, { acme: { posts: 30 }, 'be-ta': { posts: 10 } });
    const service = await start(t, site, { PUBLISH_URL: server.url });
    const count = 'SELECT source, count(*)::int AS n FROM feedback_all.live_posts GROUP BY 1 ORDER BY 1';
    const expected = [
      { source: 'acme', n: 30 },
      { source: 'be-ta', n: 10 },
    ];
    await until('the views have the rows of both', async () => {
      const found = await tell(server.url, count).catch(() => []);
      return JSON.stringify(found) === JSON.stringify(expected);
    });
    const own = await tell(server.url, 'SELECT count(*)::int AS n FROM feedback_be_ta.posts');
    assert.deepEqual(own, [{ n: 10 }]);
    const joined = `SELECT count(*)::int AS n FROM feedback_all.posts p
                      JOIN feedback_all.boards b ON b.source = p.source AND b.id = p.board_id`;
    assert.deepEqual(await tell(server.url, joined), [{ n: 40 }]);
    assert.equal(await service.stop(), 0);
  });

  it('do not wait for the views over all, which another source makes just now', async (t) => {
    const site = await place(t, { gamma: { posts: 5 } });
    const other = new pg.Client(server.url);
    await other.connect();
    t.after(() => other.end());
    await other.query('SELECT pg_advisory_lock(4701248)');
    const service = await start(t, site, { PUBLISH_URL: server.url });
    const rows = async (sql: string): Promise<string> =>
      JSON.stringify(await tell(server.url, sql).catch(() => null));
    const isCopied = async (): Promise<boolean> =>
      (await rows('SELECT count(*)::int AS n FROM feedback_gamma.posts')) === '[{"n":5}]';
    await until('the posts are in the copy', isCopied);
    const made = await site.run(['create', '--board', '1', '--title', 'After the first copy']);
    assert.equal(made.code, 0, made.stderr);
    const isThere = async (): Promise<boolean> =>
      (await rows('SELECT count(*)::int AS n FROM feedback_gamma.outbox')) === '[{"n":1}]';
    await until('the row that came later is in the copy', isThere);
    await other.query('SELECT pg_advisory_unlock(4701248)');
    const again = await site.run(['create', '--board', '1', '--title', 'After the lock']);
    assert.equal(again.code, 0, again.stderr);
    const isAmongAll = async (): Promise<boolean> =>
      (await rows("SELECT count(*)::int AS n FROM feedback_all.outbox WHERE source = 'gamma'")) ===
      '[{"n":2}]';
    await until('the views have it too', isAmongAll);
    assert.equal(await service.stop(), 0);
  });
});
