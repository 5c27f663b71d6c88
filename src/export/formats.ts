import { csvCell, withFormulaGuard } from '../text/csv.ts';
import type { ExportCell, ExportRow } from './store/export.ts';
import type { ExportColumn } from './store/tables.ts';

export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const;
export type Format = (typeof EXPORT_FORMATS)[number];

/** One file's bytes, in pieces: what `begin`, every `rows` and `end` return, one after the other. */
export interface Encoder {
  begin(): Uint8Array;
  rows(rows: readonly ExportRow[]): Uint8Array;
  end(): Uint8Array;
}

interface EncoderOptions {
  /** Exactly the texts of the mirror, also those a spreadsheet would run. */
  raw: boolean;
}

export type MakeEncoder = (columns: readonly ExportColumn[], options: EncoderOptions) => Encoder;

export const NO_BYTES = new Uint8Array();

/** A line of text a row: each cell behind its lead, then the end of the row. */
interface Lines {
  head: string;
  leads: readonly string[];
  missing: string;
  end: string;
  cells: readonly ((cell: ExportCell) => string)[];
}

function textEncoder(
  { head, leads, missing, end, cells }: Lines,
  finish = (text: string): string => text,
): Encoder {
  const lines = (rows: readonly ExportRow[]): string => {
    let text = '';
    for (const row of rows) {
      for (let i = 0; i < cells.length; i++) {
        const cell = row[i] ?? null;
        text += (leads[i] ?? '') + (cell === null ? missing : (cells[i]?.(cell) ?? ''));
      }
      text += end;
    }
    return text;
  };
  return {
    begin: () => Buffer.from(head),
    rows: (rows) => Buffer.from(finish(lines(rows))),
    end: () => NO_BYTES,
  };
}

/** RFC 4180 with a header, UTF-8, LF; booleans are 0 and 1. An empty text is `""` and a missing value nothing, so that a raw file can be read back. */
export function csvEncoder(columns: readonly ExportColumn[], { raw }: EncoderOptions): Encoder {
  return textEncoder({
    head: `${columns.map(({ name }) => name).join(',')}\n`,
    leads: columns.map((_, i) => (i === 0 ? '' : ',')),
    missing: '',
    end: '\n',
    cells: columns.map((column) => csvCellOf(column, raw)),
  });
}

/** Only texts are looked at twice: a negative number is no formula, and our own times and numbers need no quotes. */
function csvCellOf({ type }: ExportColumn, raw: boolean): (cell: ExportCell) => string {
  if (type !== 'text' && type !== 'json') return String;
  const whole = (cell: ExportCell): string => (cell === '' ? '""' : csvCell(String(cell)));
  return raw ? whole : (cell) => whole(withFormulaGuard(String(cell)));
}

/** One JSON object a line; what the mirror keeps as JSON text is an object here as well. */
export function ndjsonEncoder(columns: readonly ExportColumn[]): Encoder {
  const lines = {
    head: '',
    leads: columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`),
    missing: 'null',
    end: '}\n',
    cells: columns.map(jsonCellOf),
  };
  return textEncoder(lines, oneLineEach);
}

function jsonCellOf({ type }: ExportColumn): (cell: ExportCell) => string {
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
