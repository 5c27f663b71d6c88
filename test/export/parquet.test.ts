import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { parquetEncoder } from '../../src/export/parquet.ts';
import type { ExportCell, ExportRow } from '../../src/export/store/export.ts';
import { temporaryFolder } from '../support/folder.ts';
import { anyRows, COLUMNS } from './cells.ts';

const folder = temporaryFolder('parquet');
const duckdb = await DuckDBInstance.create(':memory:');
const connection: DuckDBConnection = await duckdb.connect();
await connection.run("SET TimeZone = 'UTC'");
after(() => {
  connection.closeSync();
  duckdb.closeSync();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;

/** Writes the rows in pieces as an export does, and returns the file for a FROM. */
function written(rows: ExportRow[], piece = 1000): string {
  const encoder = parquetEncoder(COLUMNS);
  const parts = [encoder.begin()];
  for (let i = 0; i < rows.length; i += piece) parts.push(encoder.rows(rows.slice(i, i + piece)));
  const path = join(folder, `${++files}.parquet`);
  writeFileSync(path, Buffer.concat([...parts, encoder.end()]));
  return `'${path}'`;
}

async function ask(sql: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(sql)).getRowsJS();
}

/** Texts are compared by their bytes: the reader's own way into JavaScript drops a byte order mark. */
function base64(text: ExportCell | undefined): string | null {
  return text === null ? null : Buffer.from(String(text)).toString('base64');
}

function aRow(
  id: number,
  changes: Partial<{ text: string; at: string | null; word: string | null }> = {},
): ExportRow {
  const { text = `text ${id}`, at = '2026-01-02T03:04:05.678Z', word = null } = changes;
  return [id, text, word, id % 2, at, null, null];
}

describe('a parquet file, as DuckDB reads it', () => {
  it('has real types, and says which columns have no missing values', async () => {
    const types = await ask(
      `SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${written([aRow(1)])})`,
    );
    assert.deepEqual(Object.fromEntries(types), {
      id: 'BIGINT',
      text: 'VARCHAR',
      word: 'VARCHAR',
      flag: 'BOOLEAN',
      at: 'TIMESTAMP WITH TIME ZONE',
      extra: 'JSON',
      count: 'BIGINT',
    });
    const kinds = await ask(
      `SELECT name, repetition_type FROM parquet_schema(${written([aRow(1)])}) WHERE name != 'root'`,
    );
    for (const [name, kind] of kinds) {
      const column = COLUMNS.find((one) => one.name === name);
      assert.equal(kind, column?.nullable ? 'OPTIONAL' : 'REQUIRED', String(name));
    }
  });

  it('has the values of the mirror, every one', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, async (rows) => {
        const sql = `SELECT id, base64(encode(text)), base64(encode(word)), flag, epoch_ms("at"), extra, count FROM ${written(rows, 5)}`;
        const expected = rows.map(([id, text, word, flag, at, extra, count]) => [
          BigInt(id ?? 0),
          base64(text),
          base64(word),
          flag === 1,
          at === null ? null : BigInt(Date.parse(String(at))),
          extra,
          count === null ? null : BigInt(count ?? 0),
        ]);
        assert.deepEqual(await ask(sql), expected);
      }),
      { numRuns: 30 },
    );
  });

  it('may be empty, and still has its columns', async () => {
    const file = written([]);
    assert.deepEqual(await ask(`SELECT count(*), min(id), max("at") FROM ${file}`), [[0n, null, null]]);
    assert.equal((await ask(`DESCRIBE SELECT * FROM ${file}`)).length, COLUMNS.length);
  });

  it('keeps the largest ids there are', async () => {
    const largest = Number.MAX_SAFE_INTEGER;
    const file = written([aRow(0), aRow(largest)]);
    assert.deepEqual(await ask(`SELECT id FROM ${file} WHERE id >= ${largest}`), [[BigInt(largest)]]);
    assert.deepEqual(
      await ask(`SELECT sum(id) FROM ${file}`).then(([row]) => String(row?.[0])),
      String(largest),
    );
  });

  it('in many groups adds up', async () => {
    const rows = Array.from({ length: 12_345 }, (_, i) =>
      aRow(i + 1, { word: i % 3 === 0 ? null : `word ${i % 7}` }),
    );
    const file = written(rows);
    const [[count, sum, odd, missing, words] = []] = await ask(
      `SELECT count(*), sum(id)::BIGINT, count(*) FILTER (flag), count(*) FILTER (word IS NULL), count(DISTINCT word) FROM ${file}`,
    );
    assert.deepEqual(
      [count, sum, odd, missing, words],
      [12_345n, (12_345n * 12_346n) / 2n, 6173n, 4115n, 7n],
    );
    const [[groups] = []] = await ask(`SELECT count(DISTINCT row_group_id) FROM parquet_metadata(${file})`);
    assert.ok(Number(groups) > 2, String(groups));
    assert.deepEqual(await ask(`SELECT text FROM ${file} WHERE id = 9999`), [['text 9999']]);
  });

  it('ends a group early where texts are long', async () => {
    const file = written(Array.from({ length: 20 }, (_, i) => aRow(i, { text: 'x'.repeat(1_000_000) })));
    const [[groups] = []] = await ask(`SELECT count(DISTINCT row_group_id) FROM parquet_metadata(${file})`);
    assert.equal(groups, 5n);
  });

  it('finds a text by its beginning also where UTF-16 and UTF-8 disagree about the order of letters', async () => {
    const texts = ['\uFF21 full width', '😀 emoji', 'plain'];
    const file = written(texts.map((text, i) => aRow(i, { text, word: text })));
    for (const text of texts)
      assert.deepEqual(
        await ask(
          `SELECT text FROM ${file} WHERE text >= '${text}' AND word = '${text}' AND text = '${text}'`,
        ),
        [[text]],
      );
    assert.deepEqual(await ask(`SELECT count(*) FROM ${file} WHERE word > '\uFF30'`), [[1n]]);
  });
});
