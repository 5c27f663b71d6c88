import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvEncoder } from '../../src/export/formats.ts';
import type { ExportRow } from '../../src/export/store/export.ts';
import { anyRows, COLUMNS } from './cells.ts';

function csv(rows: ExportRow[], raw: boolean): string {
  const encoder = csvEncoder(COLUMNS, { raw });
  return Buffer.concat([encoder.begin(), encoder.rows(rows), encoder.end()]).toString();
}

/** Cells as csv-parse reads them; what stands between two commas without quotes is missing. */
function cellsOf(text: string): (string | null)[][] {
  return parse(text, { cast: (value, { quoting }) => (value === '' && !quoting ? null : value) });
}

describe('a csv file', () => {
  it('read back raw has exactly the cells of the mirror, empty and missing ones told apart', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const expected = rows.map((row) => row.map((cell) => (cell === null ? null : String(cell))));
        assert.deepEqual(cellsOf(csv(rows, true)).slice(1), expected);
      }),
    );
  });

  it('has no text that a spreadsheet would run, and differs from the raw one by apostrophes only', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const [raw, safe] = [cellsOf(csv(rows, true)), cellsOf(csv(rows, false))];
        for (const [y, cells] of safe.entries())
          for (const [x, cell] of cells.entries()) {
            const before = raw[y]?.[x] ?? null;
            const isText = ['text', 'json'].includes(COLUMNS[x]?.type ?? '');
            if (isText) assert.doesNotMatch(cell ?? '', /^[=+\-@\t\r]/);
            assert.ok(cell === before || (isText && cell === `'${before}`), `${before} became ${cell}`);
          }
      }),
    );
  });

  it('leaves negative numbers numbers', () => {
    assert.match(csv([[1, '-2', null, 0, null, null, -3]], false), /^1,'-2,,0,,,-3$/m);
  });

  it('begins with the names of the columns, and ends its lines with a line feed', () => {
    assert.equal(
      csv([[1, 'a', '', 1, null, null, null]], false),
      'id,text,word,flag,at,extra,count\n1,a,"",1,,,\n',
    );
  });
});
