import { csvCell, inert } from '../../base/csv.ts';
import type { CsvFile, CsvRow, Delimiter } from './csv-file.ts';
import { dataColumns, RESULT_COLUMNS } from './result-columns.ts';

export interface LineOptions {
  delimiter: Delimiter;
  /** RFC 4180 says CRLF, and every spreadsheet agrees. */
  eol?: '\r\n' | '\n' | '\r';
}

/** One line of CSV with its line end. Reading it back gives exactly these cells. */
export function csvLine(cells: readonly string[], { delimiter, eol = '\r\n' }: LineOptions): string {
  // A lone empty cell would be a blank line, which is no record.
  if (cells.length === 1 && cells[0] === '') return `""${eol}`;
  let line = '';
  for (let i = 0; i < cells.length; i++) line += (i === 0 ? '' : delimiter) + csvCell(cells[i] ?? '');
  return line + eol;
}

export interface RowResult {
  state: string;
  post_id?: number | string | null;
  url?: string | null;
  reason?: string | null;
}

export interface ResultsWriter {
  header: string;
  line(row: Pick<CsvRow, 'cells'>, result: RowResult): string;
}

/**
 * The lines of a results file: the file as it was, and behind it what became of each row. The result columns of a
 * results file that was fed back are replaced, not repeated.
 */
export function resultsWriter(
  { headers, delimiter, bom }: Pick<CsvFile, 'headers' | 'delimiter' | 'bom'>,
  eol: '\r\n' | '\n' | '\r' = '\r\n',
): ResultsWriter {
  const data = dataColumns(headers);
  const options: LineOptions = { delimiter, eol };
  const mark = bom ? '\uFEFF' : '';
  return {
    header: mark + csvLine([...headers.slice(0, data), ...RESULT_COLUMNS], options),
    line: ({ cells }, result) =>
      csvLine([...ownCells(cells, headers.length, data), ...resultCells(result)], options),
  };
}

/**
 * A short row is filled up, so that its reason stands under the right name. A long one is left long: it stays refused
 * when it is fed back, which cutting it would hide.
 */
function ownCells(cells: readonly string[], columns: number, data: number): string[] {
  if (cells.length === columns) return cells.slice(0, data);
  return cells.length < data ? [...cells, ...Array<string>(data - cells.length).fill('')] : [...cells];
}

/** Addresses and reasons can come from the upstream, and this file is made to be opened in a spreadsheet. */
function resultCells({ state, post_id, url, reason }: RowResult): string[] {
  return [state, String(post_id ?? ''), inert(url ?? ''), inert(reason ?? '')];
}
