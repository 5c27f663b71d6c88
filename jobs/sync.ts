import type { Job } from 'bullmq';
import { eraseExpiredRows } from '../src/app/upkeep.ts';
import { codeOf, messageOf } from '../src/base/errors.ts';
import { RESOURCES, type Resource } from '../src/contract/endpoints.ts';
import { checkAfterSweep } from '../src/outbox/after-check.ts';
import type { Pass, PassMode, PassSummary } from '../src/store/mirror/types.ts';
import { lastSweep } from '../src/store/service-state.ts';
import { syncOnce } from '../src/sync/engine.ts';
import { type JobContext, type JobDefinition, RunAgain, type WorkContext } from './context.ts';
import { isFresh, rhythmOf } from './freshness.ts';
import type { Wish } from './schedules.ts';

const PROGRESS_MS = 1000;
const DAY_MS = 86_400_000;

export const syncHead: JobDefinition = {
  name: 'sync-head',
  queue: 'sync',
  async run(context, job) {
    return await runPass(context, resourceOf(job), 'head', { onPage: reporter(context, job) });
  },
};

export const syncSweep: JobDefinition = {
  name: 'sync-sweep',
  queue: 'sync',
  async run(context, job) {
    try {
      return await sweepInTurn(context, job);
    } catch (error) {
      throw new RunAgain(messageOf(error), passDelay(context, job.attemptsMade));
    }
  },
};

/**
 * Waits while another pass has the list, in a slot of the worker, of which there is one for every job of this queue. A job that is put back
 * into the queue as delayed waits for a moment of the wall clock, which may be set meanwhile.
 */
async function sweepInTurn(context: JobContext, job: Job): Promise<PassSummary | string> {
  const { app, retry, signal } = context;
  const [resource, wish] = [resourceOf(job), wishOf(job)];
  const options = { onPage: reporter(context, job), acceptDeletes: wish === 'accept-deletes' };
  while (!signal.aborted) {
    if (wish === null && hasFreshSweep(context, resource)) return 'a sweep has only just begun';
    const result = await runPass(context, resource, 'sweep', options);
    if (result !== BUSY) return result;
    await app.clock.sleep(retry.busyMs, signal).catch(() => undefined);
  }
  return STOPPED;
}

const BUSY = 'another pass over this list is under way';
const STOPPED = 'stopped; it goes on from there';

interface PassOptions {
  onPage?: (pass: Pass) => void;
  acceptDeletes?: boolean;
}

/**
 * One pass and one line about it: counts and ids, no names. A pass that is told to stop is no failure: it goes on where it stopped.
 */
export async function runPass(
  context: WorkContext,
  resource: Resource,
  mode: PassMode,
  { onPage, acceptDeletes = false }: PassOptions = {},
): Promise<PassSummary | string> {
  const { app, activity, signal } = context;
  const { client, store, clock, log } = app;
  const since = clock.monotonic();
  const under = { mode, since, lastPageAt: since };
  if (activity.passes.has(resource)) return BUSY;
  activity.passes.set(resource, under);
  const counted = countPages(context, resource);
  const onEachPage = (pass: Pass): void => {
    under.lastPageAt = clock.monotonic();
    counted(pass);
    onPage?.(pass);
  };
  try {
    const outcome = await syncOnce(
      { client, store, clock, signal, ahead: app.settings.pagesAhead, onPage: onEachPage },
      { resource, mode, acceptDeletes, wait: false },
    );
    if (!outcome.done) {
      log.info({ resource, mode }, outcome.reason);
      return outcome.reason;
    }
    await concluded(context, outcome.summary, under.since);
    return outcome.summary;
  } catch (error) {
    return failed(context, { resource, mode, since: under.since }, error);
  } finally {
    activity.passes.delete(resource);
  }
}

async function concluded(context: WorkContext, summary: PassSummary, since: number): Promise<void> {
  const { app, metrics } = context;
  const { error: _, ...counts } = summary;
  metrics.pass({ ...summary, seconds: (app.clock.monotonic() - since) / 1000 });
  app.log.info(counts, `${summary.mode} of ${summary.resource}`);
  if (summary.mode === 'sweep' && summary.rule === 'none')
    app.log.warn(
      { event: 'sync.deletions.unknown', resource: summary.resource },
      `no deletion of ${summary.resource} can be concluded: ${summary.ruleWhy}`,
    );
  if (summary.resource === 'posts' && summary.mode === 'sweep')
    await reportDoubled(context, summary.startedAt);
  if (summary.mode === 'sweep') await forgetSoon(context);
}

/** Who keeps deleted rows for less than a day does not want them to wait for the night. */
async function forgetSoon({ app, signal }: WorkContext): Promise<void> {
  const { retentionDeleted: keepMs } = app.settings;
  if (keepMs === 'never' || keepMs >= DAY_MS) return;
  try {
    await eraseExpiredRows(app, signal);
  } catch (error) {
    app.log.error({ code: codeOf(error) }, `erasing deleted rows: ${messageOf(error)}`);
  }
}

function failed(
  { app, metrics }: WorkContext,
  { resource, mode, since }: { resource: Resource; mode: PassMode; since: number },
  error: unknown,
): string {
  const code = codeOf(error);
  if (code === 'busy') return BUSY;
  const outcome = code === 'interrupted' ? 'interrupted' : 'failed';
  const seconds = (app.clock.monotonic() - since) / 1000;
  metrics.pass({ resource, mode, outcome, seconds, ...NOTHING });
  if (outcome === 'interrupted') return STOPPED;
  app.log.error({ resource, mode, code }, messageOf(error));
  throw error;
}

/** What a pass that failed did to rows was counted page by page, and not to its end. */
const NOTHING = { inserted: 0, updated: 0, unchanged: 0, deleted: 0, quarantined: 0 };

async function reportDoubled({ app }: WorkContext, sweepStartedAt: string): Promise<void> {
  for (const row of await checkAfterSweep(app.outbox, app.clock, sweepStartedAt)) {
    app.log.warn(
      { outbox: row.id, post: row.post_id, duplicate: row.duplicate_of },
      'an unclear attempt left a second post',
    );
  }
}

/** The counts of a pass only grow, also over the pages that an earlier run of it read. */
function countPages({ metrics }: WorkContext, resource: Resource): (pass: Pass) => void {
  let before: number | null = null;
  return ({ counts, resumed }) => {
    before ??= resumed === 0 ? 0 : counts.rows;
    metrics.page(resource, Math.max(0, counts.rows - before));
    before = counts.rows;
  };
}

/** Into the queue about once a second, for whoever looks there; a queue that lost the job does not stop the pass. */
function reporter({ app }: JobContext, job: Job): (pass: Pass) => void {
  let next = Number.NEGATIVE_INFINITY;
  return ({ runId, counts }) => {
    if (app.clock.monotonic() < next) return;
    next = app.clock.monotonic() + PROGRESS_MS;
    job.updateProgress({ runId, ...counts }).catch(() => undefined);
  };
}

function hasFreshSweep({ app }: JobContext, resource: Resource): boolean {
  return isFresh(lastSweep(app.state.lastPasses(), resource), rhythmOf(app.settings), app.clock.now());
}

/** Doubling up to the cap with half of it random, and in any case not before the upstream may be called again. */
function passDelay({ app, retry, sending }: JobContext, attemptsMade: number): number {
  const now = app.clock.now();
  const most = Math.min(retry.lastPassMs, retry.firstPassMs * 2 ** Math.min(attemptsMade, 16));
  return Math.max(most / 2 + (sending.random() * most) / 2, (app.gate.closedUntil(now) ?? now) - now);
}

function resourceOf(job: Job): Resource {
  const asked: unknown = Reflect.get(Object(job.data), 'resource');
  const resource = RESOURCES.find((name) => name === asked);
  if (resource === undefined) throw new Error(`job ${job.id} names no list`);
  return resource;
}

/** Null for a pass that time has rung. */
function wishOf(job: Job): Wish | null {
  const wish: unknown = Reflect.get(Object(job.data), 'wish');
  return wish === 'now' || wish === 'accept-deletes' ? wish : null;
}
