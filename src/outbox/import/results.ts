import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crashPoint } from '../../base/crash.ts';
import { AppError } from '../../base/errors.ts';
import { replaceFile } from '../../base/files.ts';
import { SUPPRESSED } from '../../store/erasure/list.ts';
import type { ImportReads, KnownRow } from '../../store/outbox/import-reads.ts';
import type { AcceptedRow, CsvFile, CsvRow } from '../csv/csv-file.ts';
import { RESULT_COLUMNS } from '../csv/result-columns.ts';
import { sourceKeys } from '../csv/source-key.ts';
import { type ResultsWriter, type RowResult, resultsWriter } from '../csv/write.ts';
import { erasedAmong } from './erased.ts';
import type { Input } from './input.ts';
import { conflictReason, isConfirmed } from './intake.ts';

/**
 * Writes the whole file anew, with what became of each row behind it. Cells of the person's own stay exactly as they are, also
 * one that a spreadsheet would run: the file is made to be fed back, and a changed cell would be another row.
 */
export async function writeResults(
  path: string,
  file: CsvFile,
  reads: Pick<ImportReads, 'known' | 'suppressed'>,
): Promise<void> {
  await replaceFile(path, async (handle) => {
    for await (const text of resultsText(file, reads)) await handle.writeFile(text);
    crashPoint('import:results');
  });
}

/** The same as text, piece by piece. */
export async function* resultsText(
  file: CsvFile,
  reads: Pick<ImportReads, 'known' | 'suppressed'>,
): AsyncGenerator<string, void, undefined> {
  const writer = resultsWriter(file);
  const keyOf = sourceKeys();
  yield writer.header;
  for await (const rows of file.rows) yield await lines(rows, keyOf, file, writer, reads);
}

async function lines(
  rows: readonly CsvRow[],
  keyOf: ReturnType<typeof sourceKeys>,
  { headers }: CsvFile,
  writer: ResultsWriter,
  reads: Pick<ImportReads, 'known' | 'suppressed'>,
): Promise<string> {
  const keyed = rows.flatMap((row) => (row.ok ? [{ ...row.post, source_key: keyOf(row) }] : []));
  const known = reads.known(keyed);
  const erased = await erasedAmong(reads, keyed);
  let next = 0;
  let text = '';
  for (const row of rows) {
    const result: RowResult = row.ok
      ? resultOf(row, known[next++] ?? null, headers.length, erased)
      : { state: 'refused', reason: row.reason };
    text += writer.line(row, result);
  }
  return text;
}

function resultOf(
  row: AcceptedRow,
  known: KnownRow | null,
  columns: number,
  erased: ReadonlySet<string>,
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
  if (erased.has(row.post.email ?? '')) return { state: 'refused', reason: SUPPRESSED };
  if (known) return { state: 'refused', reason: conflictReason(`outbox row ${known.id}`) };
  return { state: 'refused', reason: 'was not there yet when the file was imported; import it again' };
}

/** Before anything is imported: a results file that cannot be written would be noticed too late. */
export async function checkResultsPath(path: string, input: Pick<Input, 'isSame'>): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => null);
  if (!folder?.isDirectory())
    throw new AppError('usage', `--results ${path}: there is no folder ${dirname(path)}`);
  const present = await stat(path).catch(() => null);
  if (present === null) return;
  if (!present.isFile()) throw new AppError('usage', `--results ${path} is not a file`);
  if (input.isSame(present))
    throw new AppError('usage', '--results would overwrite the file that is being imported', {
      hint: 'Give the results another name; they can be imported in its place.',
    });
}
