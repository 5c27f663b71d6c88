import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AppError, codeOf, messageOf } from '../../base/errors.ts';
import { FIELDS } from '../../outbox/csv/csv-file.ts';
import { openCsv } from '../../outbox/csv/read.ts';
import { batchId } from '../../outbox/import/batch-id.ts';
import { type FileFacts, type ImportRequest, importFile, rehearse } from '../../outbox/import/import.ts';
import { resultsText } from '../../outbox/import/results.ts';
import { sumCounts } from '../../outbox/import/wait.ts';
import type { ImportReads } from '../../store/outbox/import-reads.ts';
import { openScratch } from '../../store/outbox/scratch.ts';
import type { OutboxStore } from '../../store/outbox/store.ts';
import type { OutboxView } from '../../store/outbox/view.ts';
import { required, textOf } from './asked.ts';
import type { Committed, ImportLimits, ImportState, Rehearsal, Wishes } from './imports-shapes.ts';
import { openUploads, tooLarge, type Upload } from './imports-uploads.ts';

export interface ImportDeps {
  view: Pick<OutboxView, 'counts'>;
  outbox: OutboxStore;
  reads: ImportReads;
  clock: Clock;
  /** The data folder: what is uploaded lies there, without a name, for at most an hour. */
  folder: string;
  random?: () => number;
  limitBytes?: number;
}

const LIMIT_BYTES = 64 * 1024 * 1024;
/** Somebody waits in front of the page, and the service has other work: fewer rows are compared with the mirror. */
const SEARCH_MS = 3000;

/** `/data/imports`: a CSV file is handed over, rehearsed as often as wanted, and then imported once. */
export async function addImports(app: FastifyInstance, deps: ImportDeps): Promise<void> {
  const { clock, folder, limitBytes = LIMIT_BYTES } = deps;
  const uploads = openUploads({ folder, clock, limitBytes });
  const closing = new AbortController();
  app.addHook('preClose', async () => {
    closing.abort(new AppError('interrupted', 'the service is stopping'));
    await uploads.close();
  });
  const desk: Desk = { ...deps, signal: closing.signal };
  const uploadOf = ({ params }: FastifyRequest): Upload => uploads.find(textOf(params, 'id') ?? '');

  app.get('/data/imports/limits', async (): Promise<ImportLimits> => ({ bytes: limitBytes }));
  // In a scope of its own: nowhere else is a body taken as a stream, or so large a one.
  const taking: FastifyPluginAsync = async (scope) => {
    scope.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload));
    scope.post('/data/imports', { config: { isUpload: true } }, async ({ headers, body }, reply) => {
      if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
      if (!(body instanceof Readable)) throw new AppError('usage', 'send the file itself, as text/csv');
      const upload = await uploads.take(body);
      upload.rehearsal = await rehearsed(desk, upload, { map: {}, board: null });
      return reply.code(201).send(await stateOf(desk, upload));
    });
  };
  await app.register(taking);
  app.get('/data/imports/:id', (request) => stateOf(desk, uploadOf(request)));
  app.post('/data/imports/:id/rehearse', async (request) => {
    const upload = uploadOf(request);
    if (upload.committed) throw importedAlready();
    upload.rehearsal = await rehearsed(desk, upload, wishesOf(request.body));
    return await stateOf(desk, upload);
  });
  app.post('/data/imports/:id/commit', async (request) => {
    const upload = uploadOf(request);
    await commit(desk, upload, wishesOf(request.body));
    return await stateOf(desk, upload);
  });
  app.get('/data/imports/:id/results', async (request, reply) => {
    const upload = uploadOf(request);
    const file = await openCsv(upload.input.read(), readOptions(usedWishes(upload)));
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="results.csv"')
      .send(Readable.from(resultsText(file, deps.reads)));
  });
}

interface Desk extends ImportDeps {
  signal: AbortSignal;
}

function wishesOf(body: unknown): Wishes {
  const given: unknown = Reflect.get(Object(body), 'map') ?? {};
  const map: Wishes['map'] = {};
  for (const field of FIELDS) {
    const header: unknown = Reflect.get(Object(given), field);
    if (header === null || typeof header === 'string') map[field] = header;
    else if (header !== undefined) throw new AppError('usage', `"${field}" must be the name of a column`);
  }
  const board = textOf(body, 'board')?.trim() || null;
  // One board for all rows says already where the column is not to be looked at.
  if (board !== null) delete map.board;
  return { map, board };
}

function usedWishes({ committed, rehearsal }: Upload): Wishes {
  return required(committed?.wishes ?? rehearsal?.wishes ?? null, 'map');
}

function readOptions({ map, board }: Wishes): Pick<ImportRequest, 'map' | 'board'> {
  return { map, board: board ?? undefined };
}

/** Only what concerns the file as a whole stops a dry run, and then the person can read it another way. */
async function rehearsed(desk: Desk, upload: Upload, wishes: Wishes): Promise<Rehearsal> {
  const { reads, clock, signal } = desk;
  const scratch = openScratch();
  let facts: FileFacts | null = null;
  const onFile = (found: FileFacts): void => {
    facts = found;
  };
  try {
    const request = requestFor(upload, wishes, signal, onFile);
    const { tally, outlook } = await rehearse({ reads, scratch, clock, searchMs: SEARCH_MS }, request);
    return { ok: true, wishes, facts: required<FileFacts>(facts, 'facts'), tally, outlook };
  } catch (error) {
    if (codeOf(error) !== 'usage') throw error;
    return { ok: false, wishes, problem: messageOf(error) };
  } finally {
    await scratch.close();
  }
}

function requestFor(
  { input }: Upload,
  wishes: Wishes,
  signal: AbortSignal,
  onFile: (facts: FileFacts) => void = () => {},
): ImportRequest {
  return { input, ...readOptions(wishes), signal, onFile, onBytes: () => {}, onRows: () => {} };
}

/** Asked for twice it is still done once; one that failed goes on where it stopped. Whoever leaves meanwhile finds it done. */
async function commit(desk: Desk, upload: Upload, wishes: Wishes): Promise<void> {
  const { outbox: store, reads, clock, signal, random = Math.random } = desk;
  if (upload.committed && !isSame(upload.committed.wishes, wishes)) throw importedAlready();
  if (!upload.committed) {
    const batch = batchId('import', clock.now(), random);
    const work = importFile({ store, reads, clock }, batch, requestFor(upload, wishes, signal));
    upload.committed = { wishes, batch, result: null, work };
  }
  const under = upload.committed;
  try {
    under.result = await under.work;
  } catch (error) {
    upload.committed = null;
    throw error;
  }
}

function isSame(a: Wishes, b: Wishes): boolean {
  return a.board === b.board && FIELDS.every((field) => a.map[field] === b.map[field]);
}

function importedAlready(): AppError {
  return new AppError('usage', 'this file was imported already', {
    hint: 'Choose it again to import it in another way.',
  });
}

async function stateOf(desk: Desk, upload: Upload): Promise<ImportState> {
  const { id, input, headers, rehearsal } = upload;
  return { id, bytes: input.bytes ?? 0, headers, rehearsal, committed: await committedOf(desk, upload) };
}

async function committedOf({ view }: Desk, { committed }: Upload): Promise<Committed | null> {
  if (!committed?.result) return null;
  const { tally, batches } = committed.result;
  return { batch: committed.batch, tally, batches, counts: await sumCounts(view, batches) };
}
