import { realpath, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Settings } from '../../config/load.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Destination, ExportRequest } from '../export/export.ts';
import type { Format } from '../export/formats.ts';
import type { ExportTable } from '../store/export-tables.ts';
import { readSince } from './since.ts';

export interface ExportFlags {
  format?: string;
  out?: string;
  raw?: true;
  since?: string;
  live?: true;
  redact?: string;
}

type Settled = Omit<ExportRequest, 'signal' | 'onProgress'>;

/** What the words and flags ask for; refused before anything is opened where they contradict each other. */
export async function requestOf(
  what: readonly string[],
  flags: ExportFlags,
  settings: Pick<Settings, 'dataDir' | 'exportDir' | 'exportFormat' | 'mirrorPath'>,
): Promise<Settled> {
  const { EXPORT_TABLES } = await import('../store/export-tables.ts');
  const wanted = new Set(what.flatMap((word) => tablesOf(word, EXPORT_TABLES)));
  const tables = EXPORT_TABLES.filter((table) => wanted.has(table));
  const format = await formatOf(flags, settings.exportFormat);
  const { raw = false, live = false } = flags;
  if (raw && format !== 'csv')
    throw new AppError('usage', `--raw is for csv: ${format} keeps every text exactly as it is anyway`);
  return {
    what: tables,
    format,
    to: await destinationOf(flags.out ?? settings.exportDir, tables, format, settings.mirrorPath),
    since: flags.since === undefined ? null : readSince(flags.since, systemClock.now()),
    live,
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

/** As told; or as the name of the file tells; or as scheduled exports do it. */
async function formatOf({ format, out }: ExportFlags, fallback: Format): Promise<Format> {
  const { FORMATS } = await import('../export/formats.ts');
  const given = format ?? (out === undefined ? '' : extname(out).slice(1));
  const found = FORMATS.find((name) => name === given.toLowerCase());
  if (found) return found;
  if (format === undefined) return fallback;
  throw new AppError('usage', `--format must be one of ${FORMATS.join(', ')}, not "${format}"`);
}

async function destinationOf(
  out: string,
  tables: readonly ExportTable[],
  format: Format,
  mirrorPath: string,
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
  await refuseMirror(out, mirrorPath);
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

/** Replacing a file is what an export does; the mirror and what belongs to it must never be that file. */
async function refuseMirror(out: string, mirrorPath: string): Promise<void> {
  const folder = await stat(dirname(out)).catch(() => null);
  if (!folder?.isDirectory())
    throw new AppError('usage', `--out ${out}: there is no folder ${dirname(out)}`, {
      hint: 'Make it first, or end the path with / for a folder that is made.',
    });
  const [mine, theirs] = await Promise.all([
    realpath(out).catch(() => out),
    realpath(mirrorPath).catch(() => mirrorPath),
  ]);
  if ([theirs, `${theirs}-wal`, `${theirs}-shm`].includes(mine))
    throw new AppError('usage', `--out ${out} is the mirror itself`);
}

async function redactorOf(what: string | undefined, dataDir: string): Promise<ExportRequest['redact']> {
  if (what === undefined) return null;
  if (what !== 'emails')
    throw new AppError('usage', `--redact "${what}" is unknown`, {
      hint: 'Say --redact emails: pseudonyms instead of e-mail addresses and names.',
    });
  const [{ redactionKey }, { createRedactor }] = await Promise.all([
    import('../export/redaction-key.ts'),
    import('../export/redact.ts'),
  ]);
  return createRedactor(await redactionKey(join(dataDir, 'redaction.key')));
}
