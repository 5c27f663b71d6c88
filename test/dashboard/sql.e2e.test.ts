import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { addSaved } from '../../src/http/dashboard/saved.ts';
import { addSql, type SqlAnswer, type SqlInfo } from '../../src/http/dashboard/sql.ts';
import { limitQueries, type QueryPart } from '../../src/query/run.ts';
import { openSaved, type SavedQuery } from '../../src/query/saved.ts';
import { openBench } from '../erasure/bench.ts';
import { ask, detailOf, dial, type Reply } from '../http/client.ts';
import { open, type Running } from '../http/service.ts';
import { makeMirror } from '../query/mirror.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { until } from '../support/until.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('the questions of the dashboard', () => {
  let mirror: ReturnType<typeof makeMirror>;
  before(() => {
    mirror = makeMirror();
  });
  after(() => mirror.remove());

  /** Every statement that is under way, so that a test can see it end. */
  let underWay = 0;
  const serve = async (t: TestContext): Promise<Running> => {
    const { path } = mirror;
    const run = limitQueries(2);
    const saved = openSaved({ path, upstream: 'http://127.0.0.1:9' });
    const counted = async function* (
      ...[request, signal]: Parameters<typeof run>
    ): AsyncGenerator<QueryPart> {
      underWay += 1;
      try {
        yield* run(request, signal);
      } finally {
        underWay -= 1;
      }
    };
    const clock = fakeClock();
    const deps = {
      ask: (asked: object & { sql: string }, signal?: AbortSignal) => counted({ ...asked, path }, signal),
      saved,
      clock,
      folder: folderFor(t, 'downloads'),
    };
    const http = await open(t, { parts: [(app) => addSql(app, deps), (app) => addSaved(app, deps)] });
    t.after(() => saved.close());
    return http;
  };
  const post = (http: Running, path: string, body: unknown): Promise<Reply> =>
    ask(http, path, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });

  it('are answered with columns and rows, every digit and byte as it is', async (t) => {
    const http = await serve(t);
    const sql = `SELECT 1 AS n, 9007199254740993 AS big, 1e999 AS most, x'0aff' AS bytes, NULL AS none, '<img src=x>' AS text`;
    const { status, body } = await post(http, '/data/query', { sql });
    assert.equal(status, 200);
    const { columns, rows, more } = JSON.parse(body) as SqlAnswer;
    assert.deepEqual(columns, ['n', 'big', 'most', 'bytes', 'none', 'text']);
    assert.deepEqual(rows, [[1, '9007199254740993', '9e999', "x'0aff'", null, '<img src=x>']]);
    assert.equal(more, null);
  });

  it('show a thousand rows on the page and say that there are more; the file has them', async (t) => {
    const http = await serve(t);
    const sql = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1500) SELECT i FROM n';
    const shown = JSON.parse((await post(http, '/data/query', { sql })).body) as SqlAnswer;
    assert.deepEqual([shown.rows.length, shown.more], [1000, 'rows']);
    const file = await post(http, '/data/query.csv', { sql });
    assert.equal(file.headers['content-disposition'], 'attachment; filename="answer.csv"');
    assert.equal(file.body.split('\r\n').length, 1502);
  });

  it('give a file that is safe for spreadsheets', async (t) => {
    const http = await serve(t);
    const sql = `SELECT '=1+1' AS "a,b", 'say "hi"' AS said, NULL AS none`;
    assert.equal(
      (await post(http, '/data/query.csv', { sql })).body,
      `"a,b",said,none\r\n'=1+1,"say ""hi""",\r\n`,
    );
  });

  it('that only read are allowed, and a refusal says why in the words of the command', async (t) => {
    const http = await serve(t);
    const refused: [sql: string, why: RegExp][] = [
      ['DELETE FROM posts', /only reading is allowed/i],
      ['SELECT 1; SELECT 2', /one statement at a time/i],
      ['SELEC 1', /syntax error \(line 1, column 1\)/i],
      ['SELECT tittle FROM posts', /Did you mean title\? The tables and their columns stand beside/i],
      ['SELECT * FROM suppressions', /not for reading/i],
      ["ATTACH '/etc/passwd' AS x", /only reading is allowed/i],
      [' ', /there is no statement/i],
    ];
    for (const path of ['/data/query', '/data/query.csv'])
      for (const [sql, why] of refused) {
        const reply = await post(http, path, { sql });
        assert.equal(reply.status, 400, sql);
        assert.match(detailOf(reply), why);
      }
  });

  it('end when whoever asked leaves', async (t) => {
    const http = await serve(t);
    const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';
    const leave = new AbortController();
    const body = JSON.stringify({ sql: endless });
    const asked = fetch(`${http.url}/data/query`, {
      method: 'POST',
      headers: JSON_TYPE,
      body,
      signal: leave.signal,
    });
    await until('it is under way', () => underWay === 1);
    leave.abort();
    await assert.rejects(asked);
    await until('it has ended', () => underWay === 0);
  });

  const large = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
                 SELECT i, hex(zeroblob(300)) FROM n`;
  /** A client that asks for a file of 12 MB and reads the beginning of it. */
  const download = async (http: Running): Promise<Socket> => {
    const socket = await dial(http.port);
    const body = JSON.stringify({ sql: large });
    const head = [
      'POST /data/query.csv HTTP/1.1',
      `Host: 127.0.0.1:${http.port}`,
      'Content-Type: application/json',
    ];
    socket.write([...head, `Content-Length: ${body.length}`, '', body].join('\r\n'));
    await once(socket, 'readable');
    return socket;
  };

  it('give their slot back when the download of the file is cancelled', async (t) => {
    const http = await serve(t);
    for (let n = 0; n < 5; n++) (await download(http)).destroy();
    await until('all have ended', () => underWay === 0);
    assert.equal((await post(http, '/data/query', { sql: 'SELECT 1' })).status, 200);
  });

  it('are over before the file is read: slow readers keep no statement from running, and four of them a fifth file', async (t) => {
    const http = await serve(t);
    const readers: Socket[] = [];
    t.after(() => readers.forEach((reader) => void reader.destroy()));
    for (let n = 0; n < 4; n++) readers.push(await download(http));
    assert.equal(underWay, 0);
    assert.equal((await post(http, '/data/query', { sql: 'SELECT 1' })).status, 200);
    const fifth = await post(http, '/data/query.csv', { sql: 'SELECT 1' });
    assert.equal(fifth.status, 503);
    assert.match(detailOf(fifth), /4 files are being downloaded already/);
    readers[0]?.destroy();
    await until('there is room for one', async () => {
      return (await post(http, '/data/query.csv', { sql: 'SELECT 1' })).status === 200;
    });
  });

  it('beyond twenty that wait are told to come back later', async (t) => {
    const http = await serve(t);
    const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';
    const leave = new AbortController();
    const init = {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ sql: endless }),
      signal: leave.signal,
    };
    const asked = Array.from({ length: 22 }, () => fetch(`${http.url}/data/query`, init).catch(() => null));
    await until('all are under way or wait', () => underWay === 22);
    const refused = await post(http, '/data/query', { sql: 'SELECT 1' });
    assert.equal(refused.status, 503);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.match(detailOf(refused), /20 statements are waiting already/);
    leave.abort();
    await Promise.all(asked);
    await until('all have ended', () => underWay === 0);
  });

  it('come with the tables there are, in words', async (t) => {
    const http = await serve(t);
    const { tables, limits } = JSON.parse((await ask(http, '/data/query')).body) as SqlInfo;
    assert.ok(tables.some(({ name, columns }) => name === 'live_posts' && columns.votes_count));
    assert.deepEqual(limits, { page: 1000, file: 100_000 });
  });

  it('can be kept, renamed, changed and deleted, by everybody and under names of their own', async (t) => {
    const http = await serve(t);
    const list = async () =>
      (JSON.parse((await ask(http, '/data/queries')).body) as { queries: SavedQuery[] }).queries;
    const first = await post(http, '/data/queries', { name: ' Votes ', sql: 'SELECT 1' });
    assert.equal(first.status, 201);
    const { id } = JSON.parse(first.body) as SavedQuery;
    assert.deepEqual(
      (await list()).map(({ name, sql }) => [name, sql]),
      [['Votes', 'SELECT 1']],
    );
    const taken = await post(http, '/data/queries', { name: 'votes', sql: 'SELECT 2' });
    assert.deepEqual([taken.status, /already/.test(detailOf(taken))], [400, true]);
    assert.equal((await post(http, '/data/queries', { name: 'About', sql: 'SELECT 3' })).status, 201);
    assert.equal((await post(http, `/data/queries/${id}`, { name: 'about' })).status, 400);
    assert.equal((await post(http, `/data/queries/${id}`, { name: 'Zeal' })).status, 200);
    assert.equal((await post(http, `/data/queries/${id}`, { sql: 'SELECT 4' })).status, 200);
    assert.deepEqual(
      (await list()).map(({ name, sql }) => [name, sql]),
      [
        ['About', 'SELECT 3'],
        ['Zeal', 'SELECT 4'],
      ],
    );
    assert.equal((await post(http, `/data/queries/${id}/delete`, {})).body, '{"deleted":true}');
    assert.equal((await post(http, `/data/queries/${id}/delete`, {})).body, '{"deleted":false}');
    assert.equal((await post(http, `/data/queries/${id}`, { name: 'Gone' })).status, 404);
  });

  it('are kept with a name and a statement of reasonable length only', async (t) => {
    const http = await serve(t);
    const bad = [
      { name: '', sql: 'SELECT 1' },
      { name: 'x', sql: ' ' },
      { name: 'x'.repeat(101), sql: 'SELECT 1' },
    ];
    for (const words of [
      ...bad,
      { name: 'x', sql: 'x'.repeat(50_001) },
      { name: 'x\0', sql: 'SELECT 1' },
      { sql: 'SELECT 1' },
    ])
      assert.equal(
        (await post(http, '/data/queries', words)).status,
        400,
        JSON.stringify(words).slice(0, 80),
      );
  });
});

describe('a statement that people keep', () => {
  it('loses the address of a person who is erased, even where two names become the same by that', async (t) => {
    const bench = await openBench(t);
    const saved = openSaved({ path: bench.path, upstream: 'https://upstream.test/api' });
    t.after(() => saved.close());
    for (const person of ['ada@example.com', 'bob@example.com'])
      saved.queries.save({ name: `Of ${person}`, sql: `SELECT 1 FROM users WHERE email = '${person}'` }, 0);
    for (const person of ['ada@example.com', 'bob@example.com']) await bench.erase(person);
    assert.deepEqual(bench.found(['ada@example.com', 'bob@example.com']), []);
    const [one, two] = saved.queries.list();
    assert.ok(one && two && one.name === two.name);
  });
});
