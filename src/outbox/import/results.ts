import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crashPoint } from '../../base/crash.ts';
import { AppError } from '../../base/errors.ts';
import { replaceFile } from '../../base/files.ts';
import type { OpenOptions } from '../../db/open.ts';
import { refuseOwnFile } from '../../mirror/file/own-files.ts';
import { SUPPRESSED } from '../../mirror/suppression/list.ts';
import { csvCell, type Delimiter, withFormulaGuard } from '../../text/csv.ts';
import type { OutboxRow } from '../decide/types.ts';
import type { ImportReads, KnownRow } from '../store/imports.ts';
import { boardChooser } from './boards.ts';
import { openCsv } from './csv/read.ts';
import {
  type AcceptedRow,
  type CsvFile,
  type CsvRow,
  dataColumns,
  FIELDS,
  hasKeys,
  RESULT_COLUMNS,
} from './csv/rows.ts';
import { identities } from './csv/source-key.ts';
import { erasedAmong, type ImportChoices, keyText, readOptions } from './import.ts';
import type { Input } from './input.ts';
import { conflictReason, heldReason, isConfirmed, newRow, skipReason } from './intake.ts';

/** Writes the file that was imported again, with the outcome behind each row. */
export async function writeResults(
  path: string,
  request: ImportChoices & { input: Pick<Input, 'read'> },
  reads: ImportReads,
): Promise<void> {
  const results = await openResults(request.input, request, reads);
  await replaceFile(path, async (handle) => {
    for await (const text of results) await handle.writeFile(text);
    crashPoint('import:results');
  });
}

/** The text of a results file, piece by piece. */
async function* resultsText(
  file: CsvFile,
  reads: ResultReads,
  choices: Omitted,
): AsyncGenerator<string, void, undefined> {
  const writer = resultsWriter(file);
  const identify = identities(hasKeys(file), reads.otherSlugs);
  yield writer.header;
  for await (const rows of file.rows) yield lines(rows, identify, file, { writer, reads, choices });
}

type ResultReads = Pick<ImportReads, 'known' | 'suppressed' | 'zeroesApart' | 'otherSlugs'>;
/** What is not sent by choice. */
type Omitted = Pick<ImportChoices, 'skipLines' | 'includeClosed' | 'acceptStrippedKeys'>;

interface LineDeps {
  writer: ResultsWriter;
  reads: ResultReads;
  choices: Omitted;
}

function lines(
  rows: readonly CsvRow[],
  identify: ReturnType<typeof identities>,
  { headers }: CsvFile,
  { writer, reads, choices }: LineDeps,
): string {
  const keyed = rows.flatMap((row) => (row.ok ? [newRow(row, identify(row), '')] : []));
  const apart = choices.acceptStrippedKeys ? [] : reads.zeroesApart(keyed);
  const known = reads.known(keyed);
  const erased = erasedAmong(reads, keyed);
  let next = 0;
  let text = '';
  const found = (row: AcceptedRow): RowResult => {
    const held = apart[next] ?? null;
    return resultOf(row, known[next++] ?? null, headers.length, { erased, held, choices });
  };
  for (const row of rows) {
    const result: RowResult = row.ok ? found(row) : { state: 'refused', reason: row.reason };
    text += writer.line(row, result);
  }
  return text;
}

interface Judged {
  erased: ReadonlySet<string>;
  /** The row of an earlier import whose key differs in leading zeros alone. */
  held: { source_key: string } | null;
  choices: Omitted;
}

function resultOf(
  row: AcceptedRow,
  known: KnownRow | null,
  columns: number,
  { erased, held, choices }: Judged,
): RowResult {
  if (known?.same)
    return { state: known.state, post_id: known.post_id, url: known.url, reason: known.last_error };
  // Confirmed by another machine, or before the outbox was lost: what the file says is all there is.
  if (isConfirmed(row)) {
    const [state = '', post_id = '', url = '', reason = ''] = row.cells.slice(
      columns - RESULT_COLUMNS.length,
    );
    return { state, post_id, url, reason };
  }
  const skipped = skipReason(row, choices);
  if (skipped !== null) return { state: 'skipped', reason: skipped };
  if (held) return { state: 'refused', reason: heldReason(keyText(held)) };
  if (erased.has(row.post.email ?? '')) return { state: 'refused', reason: SUPPRESSED };
  if (known) return { state: 'refused', reason: conflictReason(`outbox row ${known.id}`) };
  return { state: 'refused', reason: 'was not there yet when the file was imported; import it again' };
}

/** Called before the import, because a results file that cannot be written would be noticed too late. */
export async function checkResultsPath(
  path: string,
  input: Pick<Input, 'isSame'>,
  mirror: Pick<OpenOptions, 'path' | 'dataDir'>,
): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => null);
  if (!folder?.isDirectory())
    throw new AppError('usage', `--results ${path}: there is no folder ${dirname(path)}`);
  const present = await stat(path).catch(() => null);
  if (present && !present.isFile()) throw new AppError('usage', `--results ${path} is not a file`);
  refuseOwnFile(mirror, path, '--results');
  if (present === null) return;
  if (input.isSame(present))
    throw new AppError('usage', '--results would overwrite the file that is being imported', {
      hint: 'Give the results another name; they can be imported in its place.',
    });
}

/** The file with what became of each row, read and imported with these choices. */
export async function openResults(
  input: Pick<Input, 'read'>,
  choices: ImportChoices,
  reads: ImportReads,
): Promise<AsyncGenerator<string, void, undefined>> {
  const chooser = boardChooser(reads, choices.boards);
  const file = await openCsv(input.read, readOptions(choices, chooser));
  return resultsText(file, reads, choices);
}

/** Rows of the outbox as a file that can be imported again: the columns of an import, and behind them what became of each. */
export function* outboxCsv(rows: Iterable<OutboxRow>): Generator<string> {
  const headers = [...FIELDS, ...RESULT_COLUMNS];
  const writer = resultsWriter({ headers, delimiter: ',', bom: false });
  yield writer.header;
  for (const row of rows) {
    const key = row.source_key.startsWith('key:') ? row.source_key.slice('key:'.length) : '';
    const cells = [row.board, row.title, row.content, row.email ?? '', row.full_name ?? '', key];
    const { state, post_id, url, last_error: reason } = row;
    yield writer.line({ cells }, { state, post_id, url, reason });
  }
}

/** One line of CSV with its line end, as RFC 4180 has it. Reading it back gives exactly these cells. */
export function resultLine(cells: readonly string[], delimiter: Delimiter): string {
  // A lone empty cell would be a blank line, which is no record.
  const isBlank = cells.length === 1 && cells[0] === '';
  return `${isBlank ? '""' : cells.map(csvCell).join(delimiter)}\r\n`;
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
 * The lines of a results file: the file as it was, and behind it what became of each row. It is made to be opened in a spreadsheet and
 * to be fed back, so no cell is a formula there, and the reader takes the apostrophes off again. The result columns of a results file
 * that was fed back are replaced, not repeated.
 */
export function resultsWriter({
  headers,
  delimiter,
  bom,
}: Pick<CsvFile, 'headers' | 'delimiter' | 'bom'>): ResultsWriter {
  const data = dataColumns(headers);
  const mark = bom ? '\uFEFF' : '';
  const line = (cells: readonly string[]): string => resultLine(cells.map(withFormulaGuard), delimiter);
  return {
    header: mark + line([...headers.slice(0, data), ...RESULT_COLUMNS]),
    line: ({ cells }, result) => line([...ownCells(cells, headers.length, data), ...resultCells(result)]),
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

function resultCells({ state, post_id, url, reason }: RowResult): string[] {
  return [state, String(post_id ?? ''), url ?? '', reason ?? ''];
}
