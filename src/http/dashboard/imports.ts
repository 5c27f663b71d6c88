import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AppError, codeOf, messageOf } from '../../base/errors.ts';
import { batchId } from '../../outbox/create.ts';
import { FIELDS } from '../../outbox/csv/rows.ts';
import {
  type ComparisonState,
  compareInBackground,
  dryRun,
  type FileFacts,
  type Imported,
  type ImportRequest,
  importFile,
  type ImportChoices as ReadChoices,
} from '../../outbox/import/import.ts';
import { sumCounts } from '../../outbox/import/intake.ts';
import { openResults } from '../../outbox/import/results.ts';
import type { OpenOptions } from '../../store/db.ts';
import type { ImportReads } from '../../store/outbox/import-reads.ts';
import { openScratch } from '../../store/outbox/scratch.ts';
import type { OutboxStore } from '../../store/outbox/store.ts';
import type { StateCounts } from '../../store/outbox/types.ts';
import type { OutboxView } from '../../store/outbox/view.ts';
import { required, textOf } from './parameters.ts';
import { type ImportChoices, openUploads, type Preview, tooLarge, type Upload } from './uploads.ts';

export interface ImportState {
  id: string;
  bytes: number;
  headers: string[];
  preview: Preview | null;
  /** How far the new rows are compared with the mirror; null where that has not begun. */
  comparison: ComparisonState | null;
  /** Null until somebody has said that it should be imported. */
  committed: Committed | null;
}

export interface Committed extends Imported {
  batch: string;
  /** How the rows of all its batches stand. */
  counts: StateCounts;
}

export interface ImportLimits {
  bytes: number;
}

export interface ImportDeps {
  view: Pick<OutboxView, 'counts'>;
  outbox: OutboxStore;
  reads: ImportReads;
  /** Which file new rows are compared with. */
  mirror: OpenOptions;
  clock: Clock;
  /** The data folder: what is uploaded lies there, without a name, for at most an hour. */
  folder: string;
  random?: () => number;
  limitBytes?: number;
}

const LIMIT_BYTES = 64 * 1024 * 1024;

/** `/data/imports`: a CSV file is handed over, previewOf as often as wanted, and then imported once. */
export async function addImports(app: FastifyInstance, deps: ImportDeps): Promise<void> {
  const { clock, folder, limitBytes = LIMIT_BYTES } = deps;
  const uploads = openUploads({ folder, clock, limitBytes });
  const closing = new AbortController();
  app.addHook('preClose', async () => {
    closing.abort(new AppError('interrupted', 'the service is stopping'));
    await uploads.close();
  });
  const context: ImportContext = { ...deps, signal: closing.signal };
  const uploadOf = ({ params }: FastifyRequest): Upload => uploads.find(textOf(params, 'id') ?? '');

  app.get('/data/imports/limits', async (): Promise<ImportLimits> => ({ bytes: limitBytes }));
  // In a scope of its own: nowhere else is a body taken as a stream, or so large a one.
  const taking: FastifyPluginAsync = async (scope) => {
    scope.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload));
    scope.post('/data/imports', { config: { isUpload: true } }, async ({ headers, body }, reply) => {
      if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
      if (!(body instanceof Readable)) throw new AppError('usage', 'send the file itself, as text/csv');
      const upload = await uploads.take(body);
      upload.preview = await previewOf(context, upload, NO_CHOICES);
      return reply.code(201).send(await stateOf(context, upload));
    });
  };
  await app.register(taking);
  app.get('/data/imports/:id', (request) => stateOf(context, uploadOf(request)));
  app.post('/data/imports/:id/preview', async (request) => {
    const upload = uploadOf(request);
    if (upload.committed) throw importedAlready();
    upload.preview = await previewOf(context, upload, choicesOf(request.body));
    return await stateOf(context, upload);
  });
  app.post('/data/imports/:id/commit', async (request) => {
    const upload = uploadOf(request);
    await commit(context, upload, choicesOf(request.body));
    return await stateOf(context, upload);
  });
  app.get('/data/imports/:id/results', async (request, reply) => {
    const upload = uploadOf(request);
    const results = await openResults(
      upload.input,
      readChoices(context, upload, usedChoices(upload)),
      deps.reads,
    );
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="results.csv"')
      .send(Readable.from(results));
  });
}

interface ImportContext extends ImportDeps {
  signal: AbortSignal;
}

function choicesOf(body: unknown): ImportChoices {
  const given: unknown = Reflect.get(Object(body), 'map') ?? {};
  const map: ImportChoices['map'] = {};
  for (const field of FIELDS) {
    const header: unknown = Reflect.get(Object(given), field);
    if (header === null || typeof header === 'string') map[field] = header;
    else if (header !== undefined) throw new AppError('usage', `"${field}" must be the name of a column`);
  }
  const board = textOf(body, 'board')?.trim() || null;
  // One board for all rows says already where the column is not to be looked at.
  if (board !== null) delete map.board;
  const acceptUnknownBoards = Reflect.get(Object(body), 'acceptUnknownBoards') === true;
  return { map, board, boardMap: boardMapOf(body), acceptUnknownBoards };
}

const NO_CHOICES: ImportChoices = { map: {}, board: null, boardMap: {}, acceptUnknownBoards: false };

function boardMapOf(body: unknown): ImportChoices['boardMap'] {
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

function usedChoices({ committed, preview }: Upload): ImportChoices {
  return required(committed?.choices ?? preview?.choices ?? null, 'map');
}

function readChoices({ outbox }: ImportContext, { id }: Upload, choices: ImportChoices): ReadChoices {
  const { map, board, boardMap, acceptUnknownBoards } = choices;
  const boards = { map: boardMap, acceptUnknown: acceptUnknownBoards };
  return { map, board: board ?? undefined, boards, skipLines: outbox.duplicates.skippedLines(id) };
}

/** Only what concerns the file as a whole stops a dry run, and then the person can read it another way. */
async function previewOf(context: ImportContext, upload: Upload, choices: ImportChoices): Promise<Preview> {
  const { reads, signal } = context;
  const scratch = openScratch();
  let facts: FileFacts | null = null;
  const onFile = (found: FileFacts): void => {
    facts = found;
  };
  try {
    const request = { ...requestFor(context, upload, choices), signal, onFile };
    const { tally, preview: found } = await dryRun({ reads, scratch }, request);
    compare(context, upload, choices);
    return { ok: true, choices, facts: required<FileFacts>(facts, 'facts'), tally, found };
  } catch (error) {
    if (codeOf(error) !== 'usage') throw error;
    return { ok: false, choices, problem: messageOf(error) };
  } finally {
    scratch.close();
  }
}

/** Begins anew for other choices: another title column makes other duplicates. */
function compare(context: ImportContext, upload: Upload, choices: ImportChoices): void {
  const { outbox, reads, mirror } = context;
  upload.comparison?.stop();
  outbox.duplicates.forget(upload.id);
  const request = { ...readChoices(context, upload, choices), input: upload.input };
  const comparison = compareInBackground(reads, mirror, request, (found) => {
    if (upload.comparison !== comparison) return;
    outbox.duplicates.keep(
      upload.id,
      found.map(({ postId: post_id, ...duplicate }) => ({ ...duplicate, post_id })),
    );
  });
  upload.comparison = comparison;
}

function requestFor(context: ImportContext, upload: Upload, choices: ImportChoices): ImportRequest {
  const quiet = { signal: context.signal, onFile: () => {}, onBytes: () => {}, onRows: () => {} };
  return { input: upload.input, ...readChoices(context, upload, choices), ...quiet };
}

/** Asked for twice it is still done once; one that failed goes on where it stopped. Whoever leaves meanwhile finds it done. */
async function commit(context: ImportContext, upload: Upload, choices: ImportChoices): Promise<void> {
  const { outbox: store, reads, clock, random = Math.random } = context;
  if (upload.committed && !isSame(upload.committed.choices, choices)) throw importedAlready();
  if (!upload.committed) {
    const batch = batchId('import', clock.now(), random);
    const work = importFile({ store, reads, clock }, batch, requestFor(context, upload, choices));
    upload.committed = { choices, batch, result: null, work };
  }
  const under = upload.committed;
  try {
    under.result = await under.work;
  } catch (error) {
    upload.committed = null;
    throw error;
  }
}

function isSame(a: ImportChoices, b: ImportChoices): boolean {
  const isSameMap = JSON.stringify(a.boardMap) === JSON.stringify(b.boardMap);
  return isSameMap && a.board === b.board && FIELDS.every((field) => a.map[field] === b.map[field]);
}

function importedAlready(): AppError {
  return new AppError('usage', 'this file was imported already', {
    hint: 'Choose it again to import it in another way.',
  });
}

async function stateOf(context: ImportContext, upload: Upload): Promise<ImportState> {
  const { id, input, headers, preview } = upload;
  const comparison = upload.comparison?.state() ?? null;
  const committed = await committedOf(context, upload);
  return { id, bytes: input.bytes ?? 0, headers, preview, comparison, committed };
}

async function committedOf({ view }: ImportContext, { committed }: Upload): Promise<Committed | null> {
  if (!committed?.result) return null;
  const { tally, batches } = committed.result;
  return { batch: committed.batch, tally, batches, counts: sumCounts(view, batches) };
}
