import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { type ReadableTable, schemaOf } from '../../src/query/schema.ts';
import { INSIDE_TABLES, PUBLIC_TABLES } from '../../src/query/schema-words.ts';
import { makeMirror } from '../query/mirror.ts';
import { type CliResult, runCli } from '../support/cli.ts';
import { findProgram, skipUnless } from '../support/programs.ts';

describe('feedback-mirror query', () => {
  let mirror: ReturnType<typeof makeMirror>;
  before(() => {
    mirror = makeMirror();
  });
  after(() => mirror.remove());

  const query = (args: string[], input?: string): Promise<CliResult> =>
    runCli(['query', ...args], {
      cwd: mirror.folder,
      env: { FEEDBACK_BASE_URL: 'http://127.0.0.1:9', MIRROR_PATH: mirror.path },
      ...(input === undefined ? {} : { input }),
    });

  it('prints a table with exact numbers, visible line ends', async () => {
    const sql =
      "SELECT 1234567 AS big, 'a' || char(10) || 'b' AS text, NULL AS none, x'0a' AS bytes, 'NULL' AS word";
    const { code, stdout, stderr } = await query([sql]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(
      stdout,
      "big      text  none  bytes  word\n1234567  a\\nb  NULL  x'0a'  'NULL'\n".replace(
        /^big {6}/,
        '    big  ',
      ),
    );
  });

  it('cuts long texts in a table and says so, and nowhere else', async () => {
    const sql = "SELECT printf('%.*c', 200, 'x') AS long";
    const [table, json] = await Promise.all([query([sql]), query([sql, '--format', 'ndjson'])]);
    assert.match(table.stdout, /\nx{79}…\n/);
    assert.match(table.stdout, /Long texts are cut here/);
    assert.deepEqual([json.stdout, json.stderr], [`{"long":"${'x'.repeat(200)}"}\n`, '']);
  });

  it('prints csv that tells NULL from an empty text and starts no formula, unless it is to be raw', async () => {
    const sql = `SELECT '=1+1' AS f, -5 AS n, NULL AS none, '' AS empty, 'a "b", c' AS q, 9223372036854775807 AS i
                  UNION ALL SELECT '@x', -0.0, 1, 2, 3, 4`;
    const [safe, raw] = await Promise.all([
      query([sql, '--format', 'csv']),
      query([sql, '--format', 'csv', '--raw']),
    ]);
    assert.equal(
      safe.stdout,
      'f,n,none,empty,q,i\r\n\'=1+1,-5,,"","a ""b"", c",9223372036854775807\r\n\'@x,-0.0,1,2,3,4\r\n',
    );
    assert.match(raw.stdout, /\r\n=1\+1,.*\r\n@x,/);
  });

  it('prints json with every digit, doubled names told apart and no null for infinity', async () => {
    const sql = 'SELECT 9223372036854775807 AS a, 9e999 AS a, -0.0 AS b UNION ALL SELECT 1, 2, 3';
    const [json, same, lines] = await Promise.all([
      query([sql, '--format', 'json']),
      query([sql, '--json']),
      query([sql, '--format', 'ndjson']),
    ]);
    assert.equal(
      json.stdout,
      '[\n{"a":9223372036854775807,"a_2":9e999,"b":-0.0},\n{"a":1,"a_2":2,"b":3}\n]\n',
    );
    assert.equal(same.stdout, json.stdout);
    assert.equal(lines.stdout, '{"a":9223372036854775807,"a_2":9e999,"b":-0.0}\n{"a":1,"a_2":2,"b":3}\n');
    assert.deepEqual(JSON.parse((await query(['SELECT 1 WHERE 0', '--json'])).stdout), []);
  });

  it('says when there are more rows than it prints', async () => {
    const { code, stdout, stderr } = await query([
      'SELECT id FROM posts ORDER BY id',
      '--limit',
      '2',
      '--json',
    ]);
    assert.deepEqual([code, JSON.parse(stdout)], [0, [{ id: 1 }, { id: 2 }]]);
    assert.match(stderr, /^These are the first 2 rows; there are more\./);
  });

  it('ends with 5 where it left out rows by itself, and says so last; --limit 0 prints them all', async () => {
    const sql = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100001) SELECT i FROM n`;
    const cut = await query([sql, '--format', 'csv']);
    assert.deepEqual([cut.code, cut.stdout.split('\r\n').length], [5, 100_002]);
    assert.match(
      cut.stderr,
      /^These are the first 100,000 rows; there are more\. --limit 0 prints all of them\.\n$/,
    );
    const whole = await query([sql, '--format', 'csv', '--limit', '0']);
    assert.deepEqual([whole.code, whole.stdout.split('\r\n').length, whole.stderr], [0, 100_003, '']);
  });

  it('takes the statement from standard input', async () => {
    const { stdout } = await query(
      ['-', '--format', 'csv'],
      '-- n\nSELECT count(*) AS n\n  FROM live_posts;\n',
    );
    assert.equal(stdout, 'n\r\n50\r\n');
  });

  it('ends with 2 for what is wrong or not allowed, on stderr only', async () => {
    const cases: [args: string[], said: RegExp][] = [
      [['DELETE FROM posts'], /only reading is allowed here\n/],
      [['SELECT * FROM pots'], /no such table: pots\nDid you mean posts\?/],
      [[], /there is no statement\nFor example/],
      [['SELECT 1', '--format', 'xml'], /--format must be one of table, csv, json, ndjson/],
      [['SELECT 1', '--limit', '-1'], /--limit must be a whole number/],
      [['SELECT 1', '--timeout', '5'], /--timeout must be a duration/],
      [['--schema', 'post'], /there is no table post\nDid you mean posts\?/],
    ];
    await Promise.all(
      cases.map(async ([args, said]) => {
        const { code, stdout, stderr } = await query(args);
        assert.deepEqual([code, stdout], [2, ''], args.join(' '));
        assert.match(stderr, said);
      }),
    );
  });

  it('ends with 5 at its time limit, and what it printed cannot be taken for whole JSON', async () => {
    const sql =
      'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 10';
    const { code, stdout, stderr } = await query([sql, '--timeout', '500ms', '--json']);
    assert.equal(code, 5);
    assert.throws(() => JSON.parse(stdout));
    assert.match(stderr, /"code":"partial".*stopped after 500 ms/);
  });

  it('belongs to one upstream like every other command', async () => {
    const { code, stderr } = await runCli(['query', 'SELECT 1'], {
      cwd: mirror.folder,
      env: { FEEDBACK_BASE_URL: 'http://127.0.0.1:7', MIRROR_PATH: mirror.path },
    });
    assert.deepEqual([code, /belongs to/.test(stderr)], [2, true]);
  });

  it('describes every table, without a mirror too', async () => {
    const [all, one, json] = await Promise.all([
      runCli(['query', '--schema']),
      runCli(['query', '--schema', 'boards']),
      runCli(['query', '--schema', '--json']),
    ]);
    assert.equal(all.code, 0, all.stderr);
    const inside = Object.entries(INSIDE_TABLES).map(([name, line]) => ({ name, line }));
    for (const { name, line } of [...PUBLIC_TABLES, ...inside])
      assert.ok(all.stdout.includes(`${name}: ${line}\n`), name);
    assert.match(one.stdout, /^boards: boards\n {2}id +INTEGER +the upstream's number of the board\n/);
    const tables = JSON.parse(json.stdout) as ReadableTable[];
    assert.deepEqual(tables, schemaOf(null));
    assert.deepEqual(tables.find(({ name }) => name === 'sweep_pages')?.types, {
      run_id: 'INTEGER',
      n: 'INTEGER',
      ids: 'BLOB',
    });
  });
});

describe('the file itself', () => {
  it('opens in the sqlite3 program', skipUnless('sqlite3'), (t) => {
    const mirror = makeMirror();
    t.after(() => mirror.remove());
    const sql = 'SELECT board, count(*) FROM live_posts GROUP BY board';
    const printed = execFileSync(findProgram('sqlite3') ?? '', ['-readonly', mirror.path, sql], {
      encoding: 'utf8',
    });
    assert.equal(printed, 'Bugs|50\n');
  });
});
