import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { makeFolder } from '../../base/files.ts';
import { exportMirror } from '../../export/export.ts';
import { EXPORT_FORMATS, type Format } from '../../export/formats.ts';
import { type Manifest, REDACTION_NOTE } from '../../export/manifest.ts';
import { openRedactor } from '../../export/redaction-key.ts';
import { EXPORT_NAME, KEPT_EXPORTS } from '../../export/schedule.ts';
import type { ExportSource } from '../../export/store/export.ts';
import { EXPORT_TABLES } from '../../export/store/tables.ts';
import { calendarOf, momentOf } from '../../reports/moment.ts';
import { sendFile, untilGone } from '../server/replies.ts';
import { required, textIn, wordIn } from './parameters.ts';

interface ExportsDeps {
  openSource(): ExportSource;
  service: { requestExport(): Promise<void> };
  schedule: ExportSchedule;
  /** The folder of exports that people download from the page. */
  folder: string;
  clock: Clock;
}

/** When and where whole exports are made; `cron` is null where only people ask for them. */
interface ExportSchedule {
  cron: string | null;
  timeZone: string;
  format: Format;
  root: string;
}

export interface ExportsAnswer {
  schedule: ExportSchedule & { kept: number };
  exports: MadeExport[];
  tables: readonly string[];
  formats: readonly Format[];
  redactionNote: string;
}

export interface MadeExport {
  folder: string;
  startedAt: string;
  finishedAt: string;
  files: { name: string; rows: number; bytes: number }[];
}

/** `/data/exports`: whole exports, made by schedule or now, and single tables as they are wanted. */
export function addExports(app: FastifyInstance, deps: ExportsDeps): void {
  const { schedule, service } = deps;
  app.get('/data/exports', async (): Promise<ExportsAnswer> => {
    return {
      schedule: { ...schedule, kept: KEPT_EXPORTS },
      exports: await madeIn(schedule.root),
      tables: EXPORT_TABLES,
      formats: EXPORT_FORMATS,
      redactionNote: REDACTION_NOTE,
    };
  });
  app.post('/data/exports', async (_request, reply) => {
    await service.requestExport();
    return reply.code(202).send({ asked: 'export' });
  });
  app.get('/data/exports/:folder/:name', async ({ params }, reply) => {
    const found = (await madeIn(schedule.root)).find(({ folder }) => folder === textIn(params, 'folder'));
    const file = found?.files.find(({ name }) => name === textIn(params, 'name'));
    if (!found || !file) return reply.code(404).send({ detail: 'There is no such export any more.' });
    return sendFile(reply, file.name, createReadStream(join(schedule.root, found.folder, file.name)));
  });
  app.get('/data/export/:table', async ({ params, query }, reply) => {
    const table = required(wordIn(params, 'table', EXPORT_TABLES), 'table');
    return sendTable(deps, table, query, reply);
  });
}

/** Whole exports have a manifest: what a folder without one holds is not known to be whole. */
async function madeIn(root: string): Promise<MadeExport[]> {
  const names = await readdir(root).catch(() => [] as string[]);
  const made = names
    .filter((name) => EXPORT_NAME.test(name))
    .toSorted()
    .toReversed()
    .map((folder) => describe(root, folder).catch(() => []));
  return (await Promise.all(made)).flat();
}

async function describe(root: string, folder: string): Promise<MadeExport[]> {
  const text = await readFile(join(root, folder, 'manifest.json'), 'utf8');
  const { startedAt, finishedAt, files } = JSON.parse(text) as Manifest;
  const listed = files.map(({ name, rows, bytes }) => ({ name: basename(name), rows, bytes }));
  return [{ folder, startedAt, finishedAt, files: listed }];
}

/**
 * One table as a file of its own. It is made on disk before it is sent: somebody with a slow line would otherwise keep the mirror
 * open as it was, and its write-ahead log from starting over.
 */
async function sendTable(
  { openSource, schedule, folder, clock }: ExportsDeps,
  table: (typeof EXPORT_TABLES)[number],
  query: unknown,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const format = wordIn(query, 'format', EXPORT_FORMATS) ?? 'csv';
  const since = textIn(query, 'since');
  const calendar = calendarOf(schedule.timeZone);
  const signal = untilGone(reply);
  makeFolder(folder);
  const place = await mkdtemp(join(folder, 'export-'));
  reply.raw.once('close', () => void rm(place, { recursive: true, force: true }));
  const path = join(place, `${table}.${format}`);
  const source = openSource();
  try {
    await exportMirror(source, {
      what: [table],
      format,
      to: { file: path },
      since: since === null ? null : momentOf('since', since, clock.now(), calendar),
      live: wordIn(query, 'live', ['1']) !== null,
      segment: textIn(query, 'segment'),
      raw: false,
      redact: wordIn(query, 'redact', ['emails']) === null ? null : await openRedactor(folder),
      clock,
      signal,
    });
  } finally {
    source.close();
  }
  const name = `${table}${since === null ? '' : `-since-${since}`}.${format}`;
  return sendFile(reply, name, createReadStream(path));
}
