import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AppError, codeOf, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { OpenOptions } from '../../db/open.ts';
import { batchId } from '../../outbox/create.ts';
import { type Inspection, inspectCsv } from '../../outbox/import/csv/read.ts';
import { FIELDS } from '../../outbox/import/csv/rows.ts';
import { ENCODINGS } from '../../outbox/import/csv/text.ts';
import { DUPLICATE_KINDS, type DuplicateKind } from '../../outbox/import/duplicates.ts';
import {
  compareInBackground,
  dryRun,
  type Imported,
  type ImportRequest,
  importFile,
  type ImportChoices as ReadChoices,
} from '../../outbox/import/import.ts';
import { openResults } from '../../outbox/import/results.ts';
import { estimateOf, paceOfNewRows } from '../../outbox/send/estimate.ts';
import { type MarkSetting, markLabel } from '../../outbox/send/mark.ts';
import type { ImportReads, KeptDuplicate } from '../../outbox/store/imports.ts';
import type { OutboxStore } from '../../outbox/store/store.ts';
import type { OutboxView } from '../../outbox/store/view.ts';
import { boardNamed } from '../../text/boards.ts';
import { sendFile } from '../server/replies.ts';
import { isOn, numberOf, textIn, wordIn } from './parameters.ts';
import {
  type CommittedUpload,
  NO_CHOICES,
  tooLarge,
  type Upload,
  type UploadChoices,
  type UploadPreview,
  Uploads,
} from './uploads.ts';

export interface ImportState {
  id: string;
  bytes: number;
  headers: string[];
  choices: UploadChoices;
  preview: UploadPreview | null;
  comparison: ComparisonProgress;
  /** Null until a person starts the import. */
  committed: Committed | null;
}

/** How far the new rows are compared with the mirror, and what was found so far. */
interface ComparisonProgress {
  checked: number;
  isDone: boolean;
  problem: string | null;
  byKind: Record<DuplicateKind, { found: number; skipped: number }>;
}

export interface Committed {
  batch: string;
  /** Null while rows are still being taken in. */
  result: Imported | null;
}

/** A row that looks like a post, and its title in the file. Null while the service compares it again after a restart. */
export interface FoundDuplicate extends KeptDuplicate {
  title: string | null;
}

/** A page of rows that look like posts, in the order of the file. */
export interface ShownDuplicates {
  rows: FoundDuplicate[];
  next: number | null;
}

export interface ImportLimits {
  bytes: number;
}

export interface ImportDeps {
  view: OutboxView;
  outbox: OutboxStore;
  reads: ImportReads;
  mirror: OpenOptions;
  clock: Clock;
  /** The data folder: what is uploaded lies there for a day. */
  folder: string;
  perMinute: number;
  /** Whose posts carry a reference by the settings; none where it is left out. */
  markSetting?: MarkSetting;
  log: Logger;
  random?: () => number;
  limitBytes?: number;
}

const LIMIT_BYTES = 64 * 1024 * 1024;
const DUPLICATES_SHOWN = 25;
/** 2000 rows, as the command line takes them, keep the main thread for 70 ms and more, and several times that right after a start. */
const ROWS_AT_ONCE = 100;

/** `/data/imports`: a CSV file is handed over, previewed as often as wanted, and then imported once. */
export async function addImports(app: FastifyInstance, deps: ImportDeps): Promise<void> {
  const { clock, folder, limitBytes = LIMIT_BYTES, outbox } = deps;
  const onDrop = (id: string): void => outbox.duplicates.forget(id);
  const uploads = new Uploads({ folder: join(folder, 'uploads'), clock, limitBytes, onDrop });
  const closing = new AbortController();
  app.addHook('preClose', async () => {
    closing.abort(new AppError('interrupted', 'the service is stopping'));
    await uploads.close();
  });
  const context: ImportContext = { ...deps, uploads, signal: closing.signal };
  const uploadOf = ({ params }: FastifyRequest): Promise<Upload> => uploads.find(textIn(params, 'id') ?? '');

  app.get('/data/imports/limits', async (): Promise<ImportLimits> => ({ bytes: limitBytes }));
  // A scope of its own: no other route takes a body as a stream, or a body so large.
  const taking: FastifyPluginAsync = async (scope) => {
    scope.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload));
    scope.post('/data/imports', { config: { isUpload: true } }, async ({ headers, body }, reply) => {
      if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
      if (!(body instanceof Readable)) throw new AppError('usage', 'send the file itself, as text/csv');
      const upload = await uploads.take(body);
      return reply.code(201).send(await stateOf(context, upload));
    });
  };
  await app.register(taking);
  app.get('/data/imports/:id', async (request) => stateOf(context, await uploadOf(request)));
  app.post('/data/imports/:id/preview', async (request) => {
    const upload = await uploadOf(request);
    if (upload.committed) throw importedAlready();
    await preview(context, upload, choicesOf(request.body, upload.choices));
    return await stateOf(context, upload);
  });
  app.post('/data/imports/:id/commit', async (request) => {
    const upload = await uploadOf(request);
    await commit(context, upload, choicesOf(request.body, NO_CHOICES));
    return await stateOf(context, upload);
  });
  addDuplicates(app, context, uploadOf);
  app.get('/data/imports/:id/results', async (request, reply) => {
    const upload = await uploadOf(request);
    const { choices } = upload.committed ?? upload;
    const results = await openResults(upload.input, readChoices(context, upload, choices), deps.reads);
    return sendFile(reply, 'results.csv', Readable.from(results));
  });
  for (const upload of await uploads.interrupted()) resume(context, upload);
}

/** What looks like a post that exists, page by page, and what a person says about it: one row, all of a kind, or all. */
function addDuplicates(
  app: FastifyInstance,
  context: ImportContext,
  uploadOf: (request: FastifyRequest) => Promise<Upload>,
): void {
  const { duplicates } = context.outbox;
  app.get('/data/imports/:id/duplicates', async (request): Promise<ShownDuplicates> => {
    const { id, comparison } = await uploadOf(request);
    const kind = wordIn(request.query, 'kind', DUPLICATE_KINDS);
    const after = numberOf(request.query, 'after') ?? 0;
    const rows = duplicates.page(id, { kind, after, limit: DUPLICATES_SHOWN + 1 });
    const titleOf = (line: number): string | null => comparison?.titles.get(line) ?? null;
    const shown = rows
      .slice(0, DUPLICATES_SHOWN)
      .map((row): FoundDuplicate => ({ ...row, title: titleOf(row.line) }));
    return { rows: shown, next: rows.length > shown.length ? (shown.at(-1)?.line ?? null) : null };
  });
  app.post('/data/imports/:id/duplicates', async (request) => {
    const upload = await uploadOf(request);
    if (upload.committed) throw importedAlready();
    const [line, kind] = [numberOf(request.body, 'line'), wordIn(request.body, 'kind', DUPLICATE_KINDS)];
    duplicates.skip(upload.id, { ...(line && { line }), ...(kind && { kind }) }, isOn(request.body, 'skip'));
    await preview(context, upload, upload.choices);
    return await stateOf(context, upload);
  });
}

interface ImportContext extends ImportDeps {
  uploads: Uploads;
  signal: AbortSignal;
}

type Switch = 'acceptUnknownBoards' | 'includeClosed' | 'acceptRepeatedTitles' | 'acceptStrippedKeys';

/** Keeps choices that the body leaves out: each of two people in one file sends only their own choices. */
function choicesOf(body: unknown, before: UploadChoices): UploadChoices {
  const said = <T>(name: keyof UploadChoices, read: () => T, kept: T): T =>
    Object.hasOwn(Object(body), name) ? read() : kept;
  const map = { ...before.map, ...mapOf(body) };
  const board = said('board', () => textIn(body, 'board')?.trim() || null, before.board);
  // One board for all rows replaces the column of boards.
  if (board !== null) delete map.board;
  const switched = (name: Switch): boolean => said(name, () => isOn(body, name), before[name]);
  return {
    map,
    board,
    boardMap: { ...before.boardMap, ...boardMapOf(body) },
    acceptUnknownBoards: switched('acceptUnknownBoards'),
    includeClosed: switched('includeClosed'),
    acceptRepeatedTitles: switched('acceptRepeatedTitles'),
    acceptStrippedKeys: switched('acceptStrippedKeys'),
    encoding: said('encoding', () => wordIn(body, 'encoding', ENCODINGS), before.encoding),
    perMinute: said('perMinute', () => numberOf(body, 'perMinute'), before.perMinute),
    mark: said('mark', () => markLabel(textIn(body, 'mark') ?? '') || null, before.mark ?? null),
  };
}

function mapOf(body: unknown): UploadChoices['map'] {
  const given: unknown = Reflect.get(Object(body), 'map') ?? {};
  const map: UploadChoices['map'] = {};
  for (const field of FIELDS) {
    const header: unknown = Reflect.get(Object(given), field);
    if (header === null || typeof header === 'string') map[field] = header;
    else if (header !== undefined) throw new AppError('usage', `"${field}" must be the name of a column`);
  }
  return map;
}

function boardMapOf(body: unknown): UploadChoices['boardMap'] {
  const given = Object.entries(
    Object(Reflect.get(Object(body), 'boardMap') ?? {}) as Record<string, unknown>,
  );
  return Object.fromEntries(
    given.map(([name, slug]) => {
      if (slug === null || typeof slug === 'string')
        return [name, slug === null ? null : slug.trim() || null];
      throw new AppError('usage', `the board for "${name}" must be the short part of its URL`);
    }),
  );
}

/** A board for all rows, or for the rows of one, may be typed: a name is as good as the short part of the URL. */
function readChoices({ outbox, reads }: ImportContext, { id }: Upload, choices: UploadChoices): ReadChoices {
  const { map, board, boardMap, acceptUnknownBoards, encoding } = choices;
  const { includeClosed, acceptRepeatedTitles, acceptStrippedKeys } = choices;
  const known = reads.boards();
  const meant = Object.entries(boardMap).map(([name, text]) => [name, text && boardNamed(known, text)]);
  return {
    map,
    board: board === null ? undefined : boardNamed(known, board),
    boards: { map: Object.fromEntries(meant), acceptUnknown: acceptUnknownBoards },
    encoding: encoding ?? undefined,
    skipLines: outbox.duplicates.skippedLines(id),
    ...{ includeClosed, acceptRepeatedTitles, acceptStrippedKeys },
  };
}

async function preview(context: ImportContext, upload: Upload, choices: UploadChoices): Promise<void> {
  const isOther = JSON.stringify(upload.choices) !== JSON.stringify(choices);
  // Before the dry run: choices of other people in the meantime are added, and everybody sees all of them.
  upload.choices = choices;
  let found: UploadPreview;
  do found = await previewOf(context, upload, upload.choices);
  while (found.choices !== upload.choices);
  upload.preview = found;
  if (found.ok) compare(context, upload, found.choices);
  if (isOther) await context.uploads.save(upload);
}

/** A dry run fails only for a problem of the whole file. The person can then choose to read the file in another way. */
async function previewOf(
  context: ImportContext,
  upload: Upload,
  choices: UploadChoices,
): Promise<UploadPreview> {
  const { reads, view, clock, signal } = context;
  const request = { ...requestFor(context, upload, choices), signal };
  let columns: Inspection | null = null;
  try {
    columns = await inspectCsv(upload.input.read, request);
    const { tally, preview: found, questions, lost } = await dryRun({ reads }, request);
    const rates = { perMinute: context.perMinute, ownPerMinute: choices.perMinute };
    const estimate = estimateOf(paceOfNewRows(view, tally.accepted, rates, clock.now()), clock.now());
    return { ok: true, choices, columns, questions, tally, found, estimate, lost };
  } catch (error) {
    if (codeOf(error) !== 'usage') throw error;
    return { ok: false, choices, columns, questions: columns?.questions ?? [], problem: messageOf(error) };
  }
}

/**
 * Begins anew for other columns: another title makes other duplicates. What a person decided about rows stays when only boards change,
 * and so all rows are compared, also those of boards that are left out and finished ones.
 */
function compare(context: ImportContext, upload: Upload, choices: UploadChoices): void {
  const { outbox, reads, mirror } = context;
  const as = JSON.stringify([choices.map, choices.board, choices.encoding]);
  if (upload.comparison?.as === as) return;
  upload.comparison?.running.stop();
  // After a restart nothing runs, and what is kept was found with these choices.
  if (upload.comparison) outbox.duplicates.forget(upload.id);
  const boards = { map: {}, acceptUnknown: true };
  const titles = new Map<number, string>();
  const read = {
    ...readChoices(context, upload, choices),
    boards,
    skipLines: undefined,
    ...{ includeClosed: true, acceptStrippedKeys: true },
    rowsAtOnce: ROWS_AT_ONCE,
  };
  const running = compareInBackground(reads, mirror, { ...read, input: upload.input }, (found) => {
    if (upload.comparison?.running !== running) return;
    for (const { line, title } of found) titles.set(line, title);
    outbox.duplicates.keep(
      upload.id,
      found.map(({ postId: post_id, ...duplicate }) => ({ ...duplicate, post_id })),
    );
  });
  upload.comparison = { as, running, titles };
}

function requestFor(context: ImportContext, upload: Upload, choices: UploadChoices): ImportRequest {
  const quiet = { signal: context.signal, onFile: () => {}, onBytes: () => {}, onRows: () => {} };
  const { perMinute, mark } = choices;
  return {
    input: upload.input,
    ...readChoices(context, upload, choices),
    perMinute,
    marking: { label: mark ?? null, setting: context.markSetting ?? 'off' },
    rowsAtOnce: ROWS_AT_ONCE,
    ...quiet,
  };
}

/** A second request starts no second import. An import that failed continues where it stopped, also without the page. */
async function commit(context: ImportContext, upload: Upload, choices: UploadChoices): Promise<void> {
  const { uploads, clock, random = Math.random } = context;
  if (upload.committed && !isSame(upload.committed.choices, choices)) throw importedAlready();
  if (!upload.committed) {
    const batch = batchId('import', clock.now(), random);
    upload.committed = { choices, batch, result: null, work: null };
  }
  const { committed } = upload;
  committed.work ??= takeIn(context, upload, committed);
  try {
    await committed.work;
  } catch (error) {
    // The service continues it after its next start.
    if (codeOf(error) === 'interrupted') throw error;
    upload.committed = null;
    await uploads.save(upload);
    throw error;
  }
}

/** The request is on disk before the first row is accepted, so that a service that was killed continues it. */
async function takeIn(context: ImportContext, upload: Upload, committed: CommittedUpload): Promise<Imported> {
  const { outbox: store, reads, clock, uploads } = context;
  await uploads.save(upload);
  const { batch, choices } = committed;
  committed.result = await importFile({ store, reads, clock }, batch, requestFor(context, upload, choices));
  await uploads.save(upload);
  return committed.result;
}

/** Takes in the file again. The outbox knows by their keys the rows that were taken in before the service ended. */
function resume(context: ImportContext, upload: Upload): void {
  const { committed } = upload;
  if (!committed) return;
  committed.work = takeIn(context, upload, committed);
  committed.work.catch((error: unknown) => {
    committed.work = null;
    const event = 'import.resume.failed';
    context.log.warn({ event }, `an import that was interrupted could not continue: ${messageOf(error)}`);
  });
}

function isSame(a: UploadChoices, b: UploadChoices): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function importedAlready(): AppError {
  return new AppError('usage', 'this file was imported already', {
    hint: 'Choose it again to import it in another way.',
  });
}

async function stateOf(context: ImportContext, upload: Upload): Promise<ImportState> {
  if (!upload.preview && !upload.committed) await preview(context, upload, upload.choices);
  const { id, input, headers, choices, committed } = upload;
  return {
    ...{ id, bytes: input.bytes, headers, choices, preview: upload.preview },
    comparison: progressOf(context, upload),
    committed: committed && { batch: committed.batch, result: committed.result },
  };
}

function progressOf({ outbox }: ImportContext, { id, comparison }: Upload): ComparisonProgress {
  const { checked = 0, result = null, problem = null } = comparison?.running.state() ?? {};
  const none = { found: 0, skipped: 0 };
  const byKind: ComparisonProgress['byKind'] = { same: none, title: none, content: none };
  for (const { kind, found, skipped } of outbox.duplicates.counts(id)) byKind[kind] = { found, skipped };
  return { checked, isDone: result !== null, problem, byKind };
}
