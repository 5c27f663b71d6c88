import { csvCell, inert } from '../base/csv.ts';
import type { Cell, ExportRow } from '../store/export/export.ts';
import type { ExportColumn } from '../store/export/tables.ts';
import { type Encoder, type EncoderOptions, NOTHING } from './encoder.ts';

/**
 * RFC 4180 with a header, UTF-8, lines ending in LF; booleans are 0 and 1. An empty text is `""` and nothing at all is a missing
 * value, so that a raw file can be read back exactly.
 */
export function csvEncoder(columns: readonly ExportColumn[], { raw }: EncoderOptions): Encoder {
  const writers = columns.map((column) => cellWriter(column, raw));
  return {
    begin: () => Buffer.from(`${columns.map(({ name }) => name).join(',')}\n`),
    rows: (rows) => Buffer.from(lines(rows, writers)),
    end: () => NOTHING,
  };
}

type WriteCell = (cell: Cell) => string;

function lines(rows: readonly ExportRow[], writers: readonly WriteCell[]): string {
  let text = '';
  for (const row of rows) {
    for (let i = 0; i < writers.length; i++) {
      const cell = row[i] ?? null;
      text += (i === 0 ? '' : ',') + (cell === null ? '' : (writers[i]?.(cell) ?? ''));
    }
    text += '\n';
  }
  return text;
}

/** Only texts are looked at twice: a negative number is no formula, and our own times and numbers need no quotes. */
function cellWriter({ type }: ExportColumn, raw: boolean): WriteCell {
  if (type !== 'text' && type !== 'json') return String;
  const whole: WriteCell = (cell) => (cell === '' ? '""' : csvCell(String(cell)));
  return raw ? whole : (cell) => whole(inert(String(cell)));
}
