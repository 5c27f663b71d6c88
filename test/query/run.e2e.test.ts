import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import {
  collectRows,
  limitQueries,
  type QueryRequest,
  runQuery,
  type SqlValue,
} from '../../src/query/run.ts';
import { until } from '../support/until.ts';
import { childrenOf, isAlive, makeMirror, onLinux } from './mirror.ts';

const ENDLESS = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';
const LONG = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)
              SELECT i, printf('%.*c', 1000, 'x') FROM n`;
const PATIENT_MS = 30_000;

describe('a query', () => {
  let mirror: ReturnType<typeof makeMirror>;
  before(() => {
    mirror = makeMirror();
  });
  after(() => mirror.remove());

  const ask = (sql: string, more: Partial<QueryRequest> = {}, signal?: AbortSignal) =>
    runQuery({ path: mirror.path, sql, limitMs: PATIENT_MS, ...more }, signal);

  const refusal = async (sql: string, more: Partial<QueryRequest> = {}): Promise<AppError> => {
    try {
      await collectRows(ask(sql, more));
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
    throw new Error(`it was answered: ${sql}`);
  };

  it('answers values exactly as SQLite has them', async () => {
    const sql = `SELECT NULL, 1, 9007199254740991, 9007199254740992, -9223372036854775808, 0.1, -0.0, 9e999, '', 'a' || char(0) || 'b',
                        '😀', x'00ff', x''`;
    const { rows } = await collectRows(ask(sql));
    const expected: SqlValue[] = [
      null,
      1,
      9007199254740991,
      9007199254740992n,
      -9223372036854775808n,
      0.1,
      -0,
    ];
    expected.push(Number.POSITIVE_INFINITY, '', 'a\0b', '😀', new Uint8Array([0, 255]), new Uint8Array());
    assert.deepEqual(rows, [expected]);
  });

  it('names its columns, doubled ones too, and hands out rows as they come', async () => {
    const { columns, rows, more } = await collectRows(
      ask('SELECT id AS a, votes_count AS a FROM posts WHERE id < 3'),
    );
    assert.deepEqual(
      [columns, rows, more],
      [
        ['a', 'a'],
        [
          [1, 1],
          [2, 2],
        ],
        null,
      ],
    );
  });

  it('stops at its limit of rows, and says whether there are more', async () => {
    const [some, all] = await Promise.all([
      collectRows(ask('SELECT id FROM posts', { maxRows: 49 })),
      collectRows(ask('SELECT id FROM posts', { maxRows: 50 })),
    ]);
    assert.deepEqual([some.rows.length, some.more, all.rows.length, all.more], [49, 'rows', 50, null]);
  });

  it('stops at its limit of bytes', async () => {
    const { rows, more } = await collectRows(ask(LONG, { maxBytes: 100_000 }));
    assert.deepEqual([rows.length, more], [98, 'bytes']);
  });

  it('is stopped at its limit of time, in words that say what to do', async () => {
    const error = await refusal(ENDLESS, { limitMs: 200 });
    assert.equal(error.code, 'partial');
    assert.match(error.message, /^the statement was stopped after 200 ms, its limit$/);
    assert.match(error.hint ?? '', /EXPLAIN QUERY PLAN/);
  });

  it('may have a limit that is longer than any timer runs', async () => {
    const { rows } = await collectRows(ask(LONG, { limitMs: 30 * 86_400_000, maxRows: 300 }));
    assert.equal(rows.length, 300);
  });

  it('does not count the time in which its rows are not read', async () => {
    // More than a pipe holds, so that the statement is not over before somebody takes them, and little to do.
    const [limitMs, maxRows] = [3000, 300];
    let rows = 0;
    for await (const part of ask(LONG, { limitMs, maxRows })) {
      if (part.kind === 'columns') {
        const late = performance.now() + limitMs + 100;
        await until('the time is over', () => performance.now() > late);
      }
      if (part.kind === 'rows') rows += part.rows.length;
    }
    assert.equal(rows, maxRows);
  });

  it('is stopped when its rows are not read for too long', onLinux, async () => {
    const parts = ask(LONG, { stallMs: 50 });
    await parts.next();
    await until('the child is gone', () => childrenOf(process.pid).length === 0);
    await assert.rejects(collectRows(parts), /nobody took its rows for 50 ms/);
  });

  it('is stopped at its limit of memory', async () => {
    const greedy = 'SELECT count(DISTINCT randomblob(1000000)) FROM posts a, posts b, posts c';
    const error = await refusal(greedy, { maxMemoryBytes: 200 * 1024 * 1024 });
    assert.deepEqual(
      [error.code, error.message],
      ['partial', 'the statement was stopped at its limit of 200 MiB of memory'],
    );
  });

  it('rejects with the reason of the abort signal, before and while it runs', async () => {
    const reason = new AppError('interrupted', 'stopped by a test');
    await assert.rejects(collectRows(ask('SELECT 1', {}, AbortSignal.abort(reason))), reason);
    const controller = new AbortController();
    const parts = ask(ENDLESS, {}, controller.signal);
    await parts.next();
    controller.abort(reason);
    await assert.rejects(collectRows(parts), reason);
  });

  it('takes its process along when its reader goes away', onLinux, async () => {
    for await (const part of ask(LONG)) if (part.kind === 'rows') break;
    await until('the child is gone', () => childrenOf(process.pid).length === 0);
  });

  it('is gone after a SIGKILL of the process that asked, although SQLite is at work', onLinux, async (t) => {
    const asker: ChildProcess = spawn(
      process.execPath,
      [join(import.meta.dirname, 'asker.ts'), mirror.path],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    t.after(() => asker.kill('SIGKILL'));
    await once(asker.stdout ?? asker, 'data');
    const [child = 0] = childrenOf(asker.pid ?? 0);
    assert.ok(isAlive(child));
    asker.kill('SIGKILL');
    await until('the child is gone', () => !isAlive(child));
  });

  it('says near what a mistake is, and which name was meant', async () => {
    const cases: [sql: string, message: RegExp, hint: RegExp][] = [
      ['SELECT 1\nFORM posts', /near "posts": syntax error \(line 2, column 6\)/, /--schema/],
      ['SELECT vote_count FROM posts', /no such column: vote_count/, /^Did you mean votes_count\? /],
      ['SELECT * FROM live_post', /no such table: live_post/, /^Did you mean live_posts\? /],
      [
        'SELECT * FROM suppressions',
        /the table suppressions is not for reading here/,
        /addresses of people who were erased/,
      ],
      ['SELECT 1; SELECT 2', /one statement at a time/, /each on its own/],
      ['DROP TABLE posts', /only reading is allowed here/, /copy/],
      ["ATTACH 'x' AS y", /only reading is allowed here/, /copy/],
    ];
    await Promise.all(
      cases.map(async ([sql, message, hint]) => {
        const error = await refusal(sql);
        assert.equal(error.code, 'usage');
        assert.match(error.message, message);
        assert.match(error.hint ?? '', hint);
      }),
    );
  });

  it('of a file that is no database is refused in words', async () => {
    const error = await refusal('SELECT 1 FROM posts', {
      path: join(import.meta.dirname, 'run.e2e.test.ts'),
    });
    assert.match(error.message, /file is not a database/);
    const missing = await refusal('SELECT 1', { path: join(mirror.folder, 'nothing.db') });
    assert.match(missing.message, /the mirror cannot be opened/);
  });
});

describe('many queries', () => {
  let mirror: ReturnType<typeof makeMirror>;
  before(() => {
    mirror = makeMirror();
  });
  after(() => mirror.remove());

  it('wait for each other beyond their number, in order; who gives up makes room', async () => {
    const run = limitQueries(1);
    const controller = new AbortController();
    const order: string[] = [];
    const first = run({ path: mirror.path, sql: ENDLESS, limitMs: PATIENT_MS });
    await first.next();
    const ask = async (name: string, signal?: AbortSignal): Promise<void> => {
      await collectRows(run({ path: mirror.path, sql: 'SELECT 1' }, signal)).then(
        () => order.push(name),
        () => order.push(`${name} gave up`),
      );
    };
    const others = [ask('second', controller.signal), ask('third'), ask('fourth')];
    assert.equal(childrenOf(process.pid).length, onLinux.skip ? 0 : 1);
    controller.abort();
    await others[0];
    await first.return();
    await Promise.all(others);
    assert.deepEqual(order, ['second gave up', 'third', 'fourth']);
  });
});
