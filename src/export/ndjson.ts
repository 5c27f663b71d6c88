import type { Cell, ExportRow } from '../store/export/export.ts';
import type { ExportColumn } from '../store/export/tables.ts';
import { type Encoder, NOTHING } from './encoder.ts';

/** One JSON object a line; what the mirror keeps as JSON text is an object here as well. */
export function ndjsonEncoder(columns: readonly ExportColumn[]): Encoder {
  const writers = columns.map(cellWriter);
  const keys = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return {
    begin: () => NOTHING,
    rows: (rows) => Buffer.from(oneLineEach(lines(rows, keys, writers))),
    end: () => NOTHING,
  };
}

type WriteCell = (cell: Cell) => string;

function lines(rows: readonly ExportRow[], keys: readonly string[], writers: readonly WriteCell[]): string {
  let text = '';
  for (const row of rows) {
    for (let i = 0; i < writers.length; i++) {
      const cell = row[i] ?? null;
      text += (keys[i] ?? '') + (cell === null ? 'null' : (writers[i]?.(cell) ?? ''));
    }
    text += '}\n';
  }
  return text;
}

function cellWriter({ type }: ExportColumn): WriteCell {
  if (type === 'boolean') return (cell) => (cell === 1 ? 'true' : 'false');
  if (type === 'text') return (cell) => JSON.stringify(cell);
  if (type === 'time') return (cell) => `"${cell}"`;
  // Numbers, and JSON that was checked and written on one line when it came in.
  return String;
}

/** JSON lets these stand in a text, and half of all programs that read lines break there. They occur nowhere but in texts. */
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

function oneLineEach(text: string): string {
  return text.replace(LINE_BREAKS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
