import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ndjsonEncoder } from '../../src/export/formats.ts';
import type { ExportRow } from '../../src/export/store/export.ts';
import { anyRows, COLUMNS } from './cells.ts';

function ndjson(rows: ExportRow[]): string {
  const encoder = ndjsonEncoder(COLUMNS);
  return Buffer.concat([encoder.begin(), encoder.rows(rows), encoder.end()]).toString();
}

function objectOf(row: ExportRow): Record<string, unknown> {
  const values = row.map((cell, i) => {
    const type = COLUMNS[i]?.type;
    if (cell === null) return null;
    if (type === 'boolean') return cell === 1;
    return type === 'json' ? (JSON.parse(String(cell)) as unknown) : cell;
  });
  return Object.fromEntries(COLUMNS.map(({ name }, i) => [name, values[i]]));
}

describe('an ndjson file', () => {
  it('has one object a row with the values of the mirror, JSON as objects', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const lines = ndjson(rows).split('\n');
        assert.equal(lines.pop(), '');
        // -0 is the one number that JSON text cannot keep apart from 0 on its way through JSON.parse.
        const plain = rows.map((row) => JSON.parse(JSON.stringify(objectOf(row))) as unknown);
        assert.deepEqual(
          lines.map((line) => JSON.parse(line) as unknown),
          plain,
        );
      }),
    );
  });

  it('has no control character or separator but the line feeds, whatever else a reader takes for a line end', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        assert.equal(ndjson(rows).split(/[\p{Cc}\u2028\u2029]/u).length, rows.length + 1);
      }),
    );
  });
});
