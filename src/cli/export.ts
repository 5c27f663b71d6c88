import { stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Command } from 'commander';
import type { Settings } from '../../config/load.ts';
import { mirrorOf } from '../app/place.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Destination, ExportRequest } from '../export/export.ts';
import type { Format } from '../export/formats.ts';
import type { Manifest } from '../export/manifest.ts';
import type { ExportTable } from '../export/store/tables.ts';
import { durationText } from '../text/text.ts';
import {
  type Context,
  closing,
  type Flags,
  openTogether,
  type SourceContexts,
  sayIfElsewhere,
  stoppable,
} from './context.ts';
import { openProgress, type ProgressBars } from './progress.ts';
import { table } from './table.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('export')
    .argument('<what...>', 'posts, comments, users, boards, statuses, history, outbox, or all')
    .description('write tables of the mirror to csv, ndjson or parquet files')
    .option('--format <format>', 'csv, ndjson or parquet; else as --out ends, else EXPORT_FORMAT')
    .option('--out <path>', 'a folder; for one table also a file, or - for standard output (else EXPORT_DIR)')
    .option('--since <time>', 'only rows seen, changed or deleted since: 2026-01-31, a time, or 7d')
    .option('--all', 'all sources of sources.yaml, with a column source in each file')
    .option('--live', 'without what was deleted upstream')
    .option('--segment <filter>', 'only what these imported customers wrote, such as plan=Pro')
    .option('--raw', 'csv with exactly the texts of the mirror, formulas too')
    .option('--redact <what>', 'emails: pseudonyms instead of e-mail addresses and names')
    .addHelpText('after', HELP)
    .action((what: string[], flags: ExportFlags) =>
      exportTables(openTogether(program, stop, flags), what, flags),
    );
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
  feedback-mirror export posts --format csv --redact emails --out - | head
  feedback-mirror export posts --all --out all-posts.csv`;

async function exportTables(
  { contexts, isTogether }: SourceContexts,
  what: string[],
  flags: ExportFlags,
): Promise<void> {
  const [context] = contexts as [Context];
  const place = await sayIfElsewhere(contexts);
  const toStdout = flags.out === '-';
  if (toStdout && context.json)
    throw new AppError('usage', '--json would print the manifest between the rows of --out -');
  if (isTogether && flags.out === undefined)
    throw new AppError('usage', 'the files of several sources need a place: say --out FOLDER, FILE or -');
  // One request for each source: an export must not replace a mirror of any of them, and each source has its own pseudonyms.
  const requests = await Promise.all(contexts.map(({ settings }) => requestOf(what, flags, settings)));
  const [request] = requests as [Settled];
  const [{ openExportSource }, { exportParts }] = await Promise.all([
    import('../export/store/export.ts'),
    import('../export/export.ts'),
  ]);
  await using opened = new AsyncDisposableStack();
  const parts = contexts.map(({ settings }, i) => ({
    name: isTogether ? settings.source : null,
    source: opened.use(closing(openExportSource(mirrorOf(settings)))),
    redact: requests[i]?.redact ?? null,
  }));
  // Rows on the same screen would break the bars.
  const isQuiet = context.json || (toStdout && process.stdout.isTTY) || !process.stderr.isTTY;
  const progress = await openProgress({ json: isQuiet });
  const count = (table: ExportTable): number =>
    parts.reduce((sum, { source }) => sum + source.count(table), 0);
  const shown = isQuiet ? {} : { onProgress: bars(progress, count, request) };
  const work = async (): Promise<Manifest> => {
    try {
      return await exportParts(parts, { ...request, signal: context.signal, ...shown });
    } finally {
      progress.stop();
    }
  };
  report(context, request, { ...(await stoppable(context, STOPPED, work)), ...place });
}

const STOPPED = 'Stopped: nothing was written, older files are as they were.';

/** A bar for each table. With a filter the number of rows is not known before. */
function bars(
  progress: ProgressBars,
  count: (table: ExportTable) => number,
  { since, live, segment }: Pick<ExportRequest, 'since' | 'live' | 'segment'>,
) {
  const moves = new Map<ExportTable, ReturnType<ProgressBars['start']>>();
  return (table: ExportTable, rows: number): void => {
    let move = moves.get(table);
    if (!move) {
      const total = since === null && segment == null && !live ? count(table) : 0;
      move = progress.start({ name: table, total, text: '{rows} rows  {rate} rows/s' });
      moves.set(table, move);
    }
    move(rows, { rows });
  };
}

function report(context: Context, { to }: Pick<ExportRequest, 'to'>, manifest: Manifest): void {
  const files = manifest.files.map(({ name, rows, bytes, ms }) => [name, rows, bytes, durationText(ms)]);
  const text = table(['file', 'rows', 'bytes', 'time'], files);
  if (context.json) context.print(JSON.stringify(manifest));
  else if ('stream' in to) context.say(text);
  else context.print(`${text}\n${whereText(to)}`);
}

function whereText(to: { folder: string } | { file: string }): string {
  return 'folder' in to
    ? `In ${to.folder}; ${join(to.folder, 'manifest.json')} describes them.`
    : `${to.file}.manifest.json describes it.`;
}

type ExportFlags = Flags<'format' | 'out' | 'since' | 'segment' | 'redact', 'raw' | 'live' | 'all'>;

type Settled = Omit<ExportRequest, 'signal' | 'onProgress'>;

/** What the words and flags ask for; refused before anything is opened where they contradict each other. */
export async function requestOf(
  what: readonly string[],
  flags: ExportFlags,
  settings: Pick<Settings, 'dataDir' | 'exportDir' | 'exportFormat' | 'mirrorPath' | 'timeZone'>,
): Promise<Settled> {
  const { EXPORT_TABLES } = await import('../export/store/tables.ts');
  const wanted = new Set(what.flatMap((word) => tablesOf(word, EXPORT_TABLES)));
  const tables = EXPORT_TABLES.filter((table) => wanted.has(table));
  const format = await formatOf(flags, settings.exportFormat);
  const { raw = false, live = false } = flags;
  if (raw && format !== 'csv')
    throw new AppError('usage', `--raw is for csv: ${format} keeps every text exactly as it is anyway`);
  return {
    what: tables,
    format,
    to: await destinationOf(flags.out ?? settings.exportDir, tables, format, settings),
    since: flags.since === undefined ? null : await sinceOf(flags.since, settings.timeZone),
    live,
    segment: flags.segment ?? null,
    raw,
    redact: await redactorOf(flags.redact, settings.dataDir),
    clock: systemClock,
  };
}

function tablesOf(word: string, all: readonly ExportTable[]): readonly ExportTable[] {
  if (word === 'all') return all;
  if (word === 'history') return ['post_history', 'comment_history'];
  const table = all.find((name) => name === word);
  if (table) return [table];
  throw new AppError('usage', `there is no "${word}" to export`, {
    hint: `Say one or more of ${all.join(', ')}, history (both of them), or all.`,
  });
}

/** The format that the flag names, or else the name of the file, or else the setting of scheduled exports. */
async function formatOf({ format, out }: ExportFlags, fallback: Format): Promise<Format> {
  const { EXPORT_FORMATS } = await import('../export/formats.ts');
  const given = format ?? (out === undefined ? '' : extname(out).slice(1));
  const found = EXPORT_FORMATS.find((name) => name === given.toLowerCase());
  if (found) return found;
  if (format === undefined) return fallback;
  throw new AppError('usage', `--format must be one of ${EXPORT_FORMATS.join(', ')}, not "${format}"`);
}

async function destinationOf(
  out: string,
  tables: readonly ExportTable[],
  format: Format,
  { mirrorPath: path, dataDir }: Pick<Settings, 'dataDir' | 'mirrorPath'>,
): Promise<Destination> {
  if (out === '-') return stdoutFor(tables, format);
  const present = await stat(out).catch(() => null);
  if (present && !present.isDirectory() && !present.isFile())
    throw new AppError('usage', `--out ${out} is neither a file nor a folder`, {
      hint: 'For standard output say --out -',
    });
  const isFile = present
    ? present.isFile()
    : extname(out) !== '' && !out.endsWith('/') && tables.length === 1;
  if (!isFile) return { folder: out };
  if (tables.length > 1)
    throw new AppError('usage', `--out ${out} is a file, and these are ${tables.length}`, ONE_FILE);
  await refuseMissingFolder(out);
  const { refuseOwnFile } = await import('../mirror/file/own-files.ts');
  refuseOwnFile({ path, dataDir }, out, '--out');
  return { file: out };
}

const ONE_FILE = { hint: 'Export one table at a time, or say a folder with --out. (history is two tables.)' };

function stdoutFor(tables: readonly ExportTable[], format: Format): Destination {
  if (tables.length > 1)
    throw new AppError('usage', `standard output holds one file, not ${tables.length}`, ONE_FILE);
  if (format === 'parquet')
    throw new AppError('usage', 'parquet does not go to standard output', {
      hint: 'Say --format csv or ndjson, or a file with --out.',
    });
  return { stream: process.stdout };
}

async function refuseMissingFolder(out: string): Promise<void> {
  const folder = await stat(dirname(out)).catch(() => null);
  if (!folder?.isDirectory())
    throw new AppError('usage', `--out ${out}: there is no folder ${dirname(out)}`, {
      hint: 'Make it first, or end the path with / for a folder that is made.',
    });
}

async function redactorOf(what: string | undefined, dataDir: string): Promise<ExportRequest['redact']> {
  if (what === undefined) return null;
  if (what !== 'emails')
    throw new AppError('usage', `--redact "${what}" is unknown`, {
      hint: 'Say --redact emails: pseudonyms instead of e-mail addresses and names.',
    });
  const { openRedactor } = await import('../export/redaction-key.ts');
  return openRedactor(dataDir);
}

/** As reports read it: a day begins by the clock of TZ. */
async function sinceOf(text: string, timeZone: string): Promise<string> {
  const { calendarOf, momentOf } = await import('../reports/moment.ts');
  return momentOf('since', text, systemClock.now(), calendarOf(timeZone));
}
