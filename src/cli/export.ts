import { join } from 'node:path';
import type { Command } from 'commander';
import { AppError, codeOf } from '../base/errors.ts';
import { keepHeapFlat } from '../base/heap.ts';
import type { ExportRequest } from '../export/export.ts';
import type { Manifest } from '../export/manifest.ts';
import type { ExportSource } from '../store/export.ts';
import type { ExportTable } from '../store/export-tables.ts';
import { type Context, openContext } from './context.ts';
import { type ExportFlags, requestOf } from './export-request.ts';
import { openProgress, type Progress } from './progress.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('export')
    .argument('<what...>', 'posts, comments, users, boards, statuses, history, outbox, or all')
    .description('write tables of the mirror to csv, ndjson or parquet files')
    .option('--format <format>', 'csv, ndjson or parquet; else as --out ends, else EXPORT_FORMAT')
    .option('--out <path>', 'a folder; for one table also a file, or - for standard output (else EXPORT_DIR)')
    .option('--since <time>', 'only rows seen, changed or deleted since: 2026-01-31, a time, or 7d')
    .option('--live', 'without what was deleted upstream')
    .option('--raw', 'csv with exactly the texts of the mirror, formulas too')
    .option('--redact <what>', 'emails: pseudonyms instead of e-mail addresses and names')
    .addHelpText('after', HELP)
    .action((what: string[], flags: ExportFlags) => exportTables(openContext(program, stop), what, flags));
}

const HELP = `
All files of a run show the mirror at one moment. They replace files of the same name once they are whole;
manifest.json beside them has the rows, columns and sha256 of each. Deleted posts and comments are there, with their
deleted_at. In csv a text that begins with = + - @ a tab or a return gets an apostrophe before it, because a
spreadsheet would run it.

With --redact a person has the same pseudonym in every table and every export of this mirror; the key for that is
redaction.key in DATA_DIR. E-mail addresses inside texts are replaced too. Names inside texts are not: nothing tells
them from other words.

Examples:
  feedback-mirror export all --format parquet --out exports/today/
  feedback-mirror export posts --out posts.csv
  feedback-mirror export posts comments --format ndjson --since 7d --live
  feedback-mirror export posts --format csv --redact emails --out - | head`;

async function exportTables(context: Context, what: string[], flags: ExportFlags): Promise<void> {
  const toStdout = flags.out === '-';
  if (toStdout && context.json)
    throw new AppError('usage', '--json would print the manifest between the rows of --out -');
  const request = await requestOf(what, flags, context.settings);
  const [{ exportSource }, { exportMirror }] = await Promise.all([
    import('../app/readers.ts'),
    import('../export/export.ts'),
  ]);
  keepHeapFlat();
  const source = exportSource(context.settings);
  // Rows on the same screen would break the bars.
  const isQuiet = context.json || (toStdout && process.stdout.isTTY) || !process.stderr.isTTY;
  const progress = await openProgress({ json: isQuiet });
  const shown = isQuiet ? {} : { onProgress: bars(progress, source, request) };
  try {
    const manifest = await stoppable(context, progress, () =>
      exportMirror(source, { ...request, signal: context.signal, ...shown }),
    );
    await report(context, request, manifest);
  } finally {
    progress.stop();
    source.close();
  }
}

/** A bar for each table; where a filter chooses the rows nobody knows how many there will be. */
function bars(
  progress: Progress,
  source: ExportSource,
  { since, live }: Pick<ExportRequest, 'since' | 'live'>,
) {
  const moves = new Map<ExportTable, ReturnType<Progress['start']>>();
  return (table: ExportTable, rows: number): void => {
    let move = moves.get(table);
    if (!move) {
      const total = since === null && !live ? source.count(table) : 0;
      move = progress.start({ name: table, total, text: '{rows} rows  {rate} rows/s' });
      moves.set(table, move);
    }
    move(rows, { rows });
  };
}

async function stoppable<T>({ json, say }: Context, progress: Progress, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) === 'interrupted' && !json)
      say('Stopped: nothing was written, older files are as they were.');
    throw error;
  } finally {
    progress.stop();
  }
}

async function report(
  context: Context,
  { to }: Pick<ExportRequest, 'to'>,
  manifest: Manifest,
): Promise<void> {
  if (context.json) return context.print(JSON.stringify(manifest));
  const { table } = await import('./table.ts');
  const files = manifest.files.map(({ name, rows, bytes, ms }) => [name, rows, bytes, secondsText(ms)]);
  const text = table(['file', 'rows', 'bytes', 'time'], files);
  if ('stream' in to) return context.say(text);
  context.print(text);
  context.say(whereText(to));
}

function whereText(to: { folder: string } | { file: string }): string {
  return 'folder' in to
    ? `In ${to.folder}; ${join(to.folder, 'manifest.json')} describes them.`
    : `${to.file}.manifest.json describes it.`;
}

function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
