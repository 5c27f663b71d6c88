import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { explainRefusal, SCHEMA_HINT } from '../../src/query/explain.ts';
import { HIDDEN_TABLES } from '../../src/query/schema-words.ts';
import { namesInternalTables } from '../../src/query/shown.ts';
import { csvLine, numberText } from '../../src/query/text.ts';
import {
  bodyLength,
  decodeTask,
  encodeFrame,
  type Frame,
  frames,
  type QueryRefusal,
  type Task,
} from '../../src/query/wire.ts';

const FRAMES: Frame[] = [
  { kind: 'started' },
  { kind: 'columns', columns: ['a', 'ä'] },
  { kind: 'rows', rows: [[1, 2n ** 60n, null, 'text', Number.NEGATIVE_INFINITY]] },
  { kind: 'end', more: null },
];

async function read(chunks: Buffer[]): Promise<Frame[]> {
  async function* stream() {
    yield* chunks;
  }
  const found: Frame[] = [];
  for await (const frame of frames(stream())) found.push(frame);
  return found;
}

describe('what the process of a statement says', () => {
  const bytes = Buffer.concat(FRAMES.map(encodeFrame));

  it('is understood wherever it is cut into pieces', async () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const edges = [0, ...places.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
        assert.deepEqual(await read(chunks), FRAMES);
      }),
      { numRuns: 25 },
    );
  });

  it('is understood up to where the process ended', async () => {
    assert.deepEqual(await read([bytes.subarray(0, -1)]), FRAMES.slice(0, -1));
    assert.deepEqual(await read([]), []);
  });

  it('is asked for by a task that says its length', () => {
    const task = { mirror: '/m', sql: 'SELECT 1', maxText: Number.POSITIVE_INFINITY } as Task;
    const sent = encodeFrame(task);
    assert.deepEqual([bodyLength(sent), decodeTask(sent.subarray(4))], [sent.length - 4, task]);
  });
});

describe('a value as text', () => {
  it('is a number that SQLite reads back as it was', () => {
    const values = [-0, 0, 1.5, 2n ** 60n, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    assert.deepEqual(values.map(numberText), ['-0.0', '0', '1.5', String(2n ** 60n), '9e999', '-9e999']);
  });

  it('tells null from an empty text, and is no formula for spreadsheets unless raw', () => {
    assert.equal(csvLine([null, '', 'a,"b"', -1, Uint8Array.of(1, 255)]), `,"","a,""b""",-1,x'01ff'`);
    assert.equal(csvLine([null]), '""');
    assert.equal(csvLine(['=1+1', '-x']), "'=1+1,'-x");
    assert.equal(csvLine(['=1+1', '-x'], true), '=1+1,-x');
  });
});

describe('a statement that got no answer', () => {
  const told = (reason: QueryRefusal['reason'], message: string, sql = '') => {
    const { code, message: what, hint } = explainRefusal({ reason, message }, sql);
    return [code, what, hint];
  };

  it('names the position of the word that SQLite did not understand, if it is unique', () => {
    const [, once] = told('sqlite', 'near "FORM": syntax error', 'SELECT *\nFORM posts');
    assert.equal(once, 'near "FORM": syntax error (line 2, column 1)');
    const [, begins] = told('sqlite', 'near "SELEKT": syntax error', 'SELEKT 1');
    assert.match(String(begins), /\(line 1, column 1\)$/);
    const [, twice] = told('sqlite', 'near "x": syntax error', 'SELECT x x x');
    assert.equal(twice, 'near "x": syntax error');
    const [, token] = told('sqlite', 'unrecognized token: "$$"', 'SELECT  $$');
    assert.match(String(token), /\(line 1, column 9\)$/);
  });

  it('is told which name was probably meant', () => {
    assert.match(String(told('sqlite', 'no such table: post')[2]), /^Did you mean posts\? /);
    assert.match(String(told('sqlite', 'no such column: p.titel')[2]), /^Did you mean title\? /);
    assert.doesNotMatch(String(told('sqlite', 'no such column: p')[2]), /Did you mean/);
    assert.doesNotMatch(String(told('sqlite', 'no such column: title')[2]), /Did you mean|single quotes/);
    assert.match(String(told('sqlite', 'no such column: "Open"')[2]), /A text stands in single quotes\.$/);
  });

  it('fails by its own fault, unless the disk is to blame', () => {
    const reasons = ['empty', 'several', 'forbidden', 'sqlite', 'unreadable', 'storage'] as const;
    assert.deepEqual(
      reasons.map((reason) => told(reason, 'why')[0]),
      [...reasons.slice(0, -1).map(() => 'usage'), 'storage'],
    );
    assert.match(String(told('sqlite', 'string or blob too big')[1]), /beyond 32 MiB/);
    assert.match(String(told('forbidden', 'PRAGMA x is not allowed here')[2]), /backup copy\.db/);
    const [[hidden = '', what] = []] = Object.entries(HIDDEN_TABLES);
    const hint = (table: string) => told('forbidden', `the table ${table} is not for reading here`)[2];
    assert.equal(hint(hidden.toUpperCase()), `It holds ${what}. ${SCHEMA_HINT}`);
    assert.equal(hint('zebras'), SCHEMA_HINT);
  });
});

describe('a statement of an assistant', () => {
  it('names no table of SQLite itself, however it is written; its version is none', () => {
    const named = [
      'SELECT * FROM sqlite_stat4',
      'SELECT * FROM "SQLite_Schema"',
      'SELECT sqlite_version(), x FROM sqlite_master',
    ];
    const harmless = ['SELECT sqlite_version()', 'SELECT 1'];
    assert.deepEqual(
      [named.map(namesInternalTables), harmless.map(namesInternalTables)],
      [
        [true, true, true],
        [false, false],
      ],
    );
  });
});
