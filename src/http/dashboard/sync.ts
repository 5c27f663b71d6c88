import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { RESOURCES, type Resource } from '../../contract/endpoints.ts';
import type { ResourceStatus, RunRow } from '../../mirror/decide/types.ts';
import type { AbsentRow, QuarantinedRow, SyncView } from '../../mirror/store/status.ts';
import { assess, type Health, type ListProgress, type Progress } from '../../service/health.ts';
import type { Service } from '../../service/service.ts';
import { idOf, numberOf, required, wordIn } from './parameters.ts';

interface SyncDeps {
  view: SyncView;
  service: Pick<Service, 'progress' | 'requestSync'>;
}

export interface SyncState {
  upstream: string;
  lists: SyncList[];
  runs: RunRow[];
  health: Health;
  queue: Progress['queue'];
  now: number;
}

export interface SyncList extends ResourceStatus {
  sweepDueAt: number;
  running: ListProgress['running'];
}

export interface Absent {
  rows: AbsentRow[];
  after: number | null;
}

export interface Quarantine {
  rows: QuarantinedRow[];
  before: number | null;
}

const PAGE_ROWS = 50;

/** `/data/sync`: how fresh the mirror is, and its troubles. It also starts a pass and accepts held deletions. */
export function addSync(app: FastifyInstance, { view, service }: SyncDeps): void {
  app.get('/data/sync', () => stateOf(view, service));
  app.get('/data/sync/:resource/absent', async ({ params, query }): Promise<Absent> => {
    const held = wordIn(query, 'held', ['0', '1']) !== '0';
    const after = numberOf(query, 'after') ?? 0;
    const rows = view.absent({ resource: resourceOf(params), held, after, limit: PAGE_ROWS + 1 });
    const { shown, last } = cut(rows);
    return { rows: shown, after: last };
  });
  app.get('/data/sync/quarantine', async ({ query }): Promise<Quarantine> => {
    const rows = view.quarantine({ before: numberOf(query, 'before'), limit: PAGE_ROWS + 1 });
    const { shown, last } = cut(rows);
    return { rows: shown, before: last };
  });
  app.get('/data/sync/quarantine/:id', async (request, reply) => {
    const body = view.quarantined(idOf(request));
    return body === null ? reply.code(404).send({ detail: 'There is no such row any more.' }) : { body };
  });
  app.post('/data/sync/:resource/run', async ({ params, body }, reply) => {
    const mode = required(wordIn(body, 'mode', ['head', 'sweep']), 'mode');
    await service.requestSync(resourceOf(params), mode);
    return reply.code(202).send({ asked: mode });
  });
  app.post('/data/sync/:resource/accept-deletes', async (request, reply) => {
    const held = await acceptDeletes(view, service, request);
    return reply.code(202).send({ asked: 'accept-deletes', held });
  });
}

/** Removes the extra row, which only tells whether there is a next page. */
function cut<T extends { id: number }>(rows: T[]): { shown: T[]; last: number | null } {
  const shown = rows.slice(0, PAGE_ROWS);
  return { shown, last: rows.length > shown.length ? (shown.at(-1)?.id ?? null) : null };
}

function resourceOf(params: unknown): Resource {
  return required(wordIn(params, 'resource', RESOURCES), 'resource');
}

/** Accepts only the deletions that the person saw. If the number has changed, they look again. */
async function acceptDeletes(
  view: SyncView,
  service: SyncDeps['service'],
  { params, body }: FastifyRequest,
): Promise<number> {
  const resource = resourceOf(params);
  const seen = required(numberOf(body, 'held'), 'held');
  const held = view.status().resources.find((list) => list.resource === resource)?.held ?? 0;
  if (held === 0)
    throw new AppError('usage', `no deletions of ${resource} are held any more`, {
      hint: 'Either they were accepted already, or the rows were seen again.',
    });
  if (held !== seen)
    throw new AppError('usage', `${held} deletions of ${resource} are held now, not ${seen}`, {
      hint: 'Look at them again before you accept them.',
    });
  await service.requestSync(resource, 'accept-deletes');
  return held;
}

async function stateOf(view: SyncView, service: SyncDeps['service']): Promise<SyncState> {
  const progress = await service.progress();
  const { upstream, resources, runs } = view.status();
  const lists = resources.map((list) => ({ ...list, ...listOf(progress, list.resource) }));
  const { queue, now } = progress;
  return { upstream, lists, runs, health: assess(progress, (iso) => iso), queue, now };
}

function listOf({ lists, now }: Progress, resource: Resource): Pick<SyncList, 'sweepDueAt' | 'running'> {
  const found = lists.find((list) => list.resource === resource);
  return { sweepDueAt: found?.sweepDueAt ?? now, running: found?.running ?? null };
}
