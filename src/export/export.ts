import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { type Clock, iso } from '../base/clock.ts';
import { crashPoint } from '../base/crash.ts';
import { makeFolder, moveInPlace, removeLeftovers, replaceFile, temporaryName } from '../base/files.ts';
import type { Redactor } from '../text/redact.ts';
import { csvEncoder, type Format, type MakeEncoder, ndjsonEncoder } from './formats.ts';
import { type ExportedFile, type Manifest, type ManifestOptions, notesOn } from './manifest.ts';
import { type ByteSink, fileSink, streamSink } from './sink.ts';
import type { ExportCell, ExportRow, ExportSource } from './store/export.ts';
import { type ExportColumn, type ExportTable, type Personal, TABLES } from './store/tables.ts';

/** A folder for any number of files; or a file, or a stream, for one. A stream gets no manifest. */
export type Destination = { folder: string } | { file: string } | { stream: Writable };

export interface ExportRequest {
  what: readonly ExportTable[];
  format: Format;
  to: Destination;
  /** As the mirror spells its times; null for all rows. */
  since: string | null;
  live: boolean;
  /** Only what people of these imported customers wrote, such as `plan=Pro`. */
  segment?: string | null | undefined;
  raw: boolean;
  /** Null leaves people as they are. */
  redact: Redactor | null;
  clock: Clock;
  signal: AbortSignal;
  onProgress?(table: ExportTable, rows: number): void;
}

/** The mirror that rows are of. */
interface ExportPart {
  /** Of the source, for a column of that name; null where there is one mirror. */
  name: string | null;
  source: ExportSource;
  /** Each mirror has its own pseudonyms. */
  redact: Redactor | null;
}

/** The rows of one mirror. */
export async function exportMirror(source: ExportSource, request: ExportRequest): Promise<Manifest> {
  return await exportParts([{ name: null, source, redact: request.redact }], request);
}

/**
 * Writes the tables. All of them show the moment at which the source was opened. Every file has reached the disk under a temporary name before
 * the first takes its own, and the manifest comes last: a set that does not match it was cut short. Whatever ends the run early, no
 * older file is touched and no temporary one is left.
 */
export async function exportParts(parts: readonly ExportPart[], request: ExportRequest): Promise<Manifest> {
  const { format, clock, to } = request;
  const options = optionsOf(request);
  const startedAt = iso(clock.now());
  const files =
    'stream' in to ? await toStream(parts, request, to.stream) : await toFiles(parts, request, to);
  const manifest: Manifest = {
    format,
    upstream: parts.map(({ source }) => source.upstream).join(', '),
    startedAt,
    finishedAt: iso(clock.now()),
    options,
    notes: notesOn(format, options),
    files,
  };
  await writeManifest(to, manifest);
  return manifest;
}

function optionsOf({ since, live, segment, raw, redact }: ExportRequest): ManifestOptions {
  const only = segment == null ? {} : { segment };
  return { since, live, ...only, raw, redacted: redact ? 'emails' : null };
}

async function writeManifest(to: Destination, manifest: Manifest): Promise<void> {
  if ('stream' in to) return;
  const path = 'folder' in to ? join(to.folder, 'manifest.json') : `${to.file}.manifest.json`;
  await replaceFile(path, (file) => file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`));
}

/** The library for Parquet is loaded when asked for. */
async function encoderOf(format: Format): Promise<MakeEncoder> {
  if (format === 'csv') return csvEncoder;
  return format === 'ndjson' ? ndjsonEncoder : (await import('./parquet.ts')).parquetEncoder;
}

async function toStream(
  parts: readonly ExportPart[],
  request: ExportRequest,
  stream: Writable,
): Promise<ExportedFile[]> {
  const encoder = await encoderOf(request.format);
  const files: ExportedFile[] = [];
  for (const table of request.what) {
    const sink = streamSink(stream, request.signal);
    files.push(await writeTable(parts, request, { table, encoder, sink, name: '-' }));
  }
  return files;
}

interface Part {
  table: ExportTable;
  temporary: string;
  path: string;
}

async function toFiles(
  mirrors: readonly ExportPart[],
  request: ExportRequest,
  to: Exclude<Destination, { stream: Writable }>,
): Promise<ExportedFile[]> {
  const parts = request.what.map((table) => partOf(table, request.format, to));
  const folder = 'folder' in to ? to.folder : dirname(to.file);
  if ('folder' in to) makeFolder(folder);
  const names = new Set(parts.flatMap(({ path }) => [basename(path), `${basename(path)}.manifest.json`]));
  await removeLeftovers(folder, (name) => names.has(name) || name === 'manifest.json');
  try {
    const files = await writeParts(mirrors, request, parts);
    crashPoint('export:written');
    await moveInPlace(parts);
    return files;
  } finally {
    for (const { temporary } of parts) await rm(temporary, { force: true });
  }
}

function partOf(table: ExportTable, format: Format, to: { folder: string } | { file: string }): Part {
  const path = 'folder' in to ? join(to.folder, `${table}.${format}`) : to.file;
  return { table, path, temporary: temporaryName(path) };
}

async function writeParts(
  mirrors: readonly ExportPart[],
  request: ExportRequest,
  parts: readonly Part[],
): Promise<ExportedFile[]> {
  const encoder = await encoderOf(request.format);
  const files: ExportedFile[] = [];
  for (const { table, temporary, path } of parts) {
    const sink = await fileSink(temporary, path);
    try {
      files.push(await writeTable(mirrors, request, { table, encoder, sink, name: basename(path) }));
    } catch (error) {
      await sink.abandon();
      throw error;
    }
  }
  return files;
}

interface Writing {
  table: ExportTable;
  encoder: MakeEncoder;
  sink: ByteSink;
  name: string;
}

async function writeTable(
  parts: readonly ExportPart[],
  request: ExportRequest,
  { table, encoder: make, sink, name }: Writing,
): Promise<ExportedFile> {
  const columns = columnsOf(table, parts);
  const encoder = make(columns, request);
  const began = request.clock.now();
  let count = 0;
  await sink.write(encoder.begin());
  for (const rows of rowsOf(table, parts, request)) {
    request.signal.throwIfAborted();
    await sink.write(encoder.rows(rows));
    count += rows.length;
    request.onProgress?.(table, count);
  }
  await sink.write(encoder.end());
  const written = await sink.finish();
  const described = columns.map(({ personal: _, ...column }) => column);
  const ms = request.clock.now() - began;
  return { name, what: table, columns: described, rows: count, ...written, ms };
}

const SOURCE: ExportColumn = { name: 'source', type: 'text', nullable: false, personal: null };

function columnsOf(table: ExportTable, [first]: readonly ExportPart[]): readonly ExportColumn[] {
  const { columns } = TABLES[table];
  return first?.name == null ? columns : [SOURCE, ...columns];
}

/** One mirror after the other. */
function* rowsOf(
  table: ExportTable,
  parts: readonly ExportPart[],
  request: ExportRequest,
): Generator<ExportRow[]> {
  for (const { name, source, redact } of parts) {
    const redacted = redact ? rowRedaction(TABLES[table].columns, redact) : null;
    for (const rows of source.rows(table, request)) {
      const shown = redacted ? rows.map(redacted) : rows;
      yield name === null ? shown : shown.map((row) => [name, ...row]);
    }
  }
}

/** Copies each row without the values that identify a person. */
export function rowRedaction(
  columns: readonly ExportColumn[],
  redactor: Redactor,
): (row: ExportRow) => ExportRow {
  const at = new Map(columns.map(({ name }, i) => [name, i]));
  const rules = columns.map(({ personal }) => (personal ? ruleOf(personal, at, redactor) : null));
  return (row) =>
    row.map((cell, i) => {
      const rule = rules[i];
      return rule && typeof cell === 'string' && cell !== '' ? rule(cell, row) : cell;
    });
}

type Rule = (text: string, row: ExportRow) => ExportCell;

function ruleOf(personal: Personal, at: ReadonlyMap<string, number>, redactor: Redactor): Rule {
  switch (personal.kind) {
    case 'email':
      return redactor.email;
    case 'text':
      return redactor.text;
    case 'key':
      return redactor.key;
    case 'json':
      return (text) => redactor.json(text, personal.names);
    case 'name': {
      const email = at.get(personal.of) ?? -1;
      return (text, row) => redactor.name(text, (row[email] ?? null) as string | null);
    }
  }
}
