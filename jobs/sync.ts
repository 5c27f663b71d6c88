import type { Job } from 'bullmq';
import { doMirrorHousekeeping, eraseExpiredRows } from '../src/app/upkeep.ts';
import { codeOf, type ErrorCode, messageOf } from '../src/base/errors.ts';
import { RESOURCES, type Resource } from '../src/contract/endpoints.ts';
import type { Pass, PassMode, PassSummary } from '../src/mirror/decide/types.ts';
import { syncOnce } from '../src/mirror/sweep/engine.ts';
import { checkAfterSweep } from '../src/outbox/send/after-check.ts';
import { lastSweep } from '../src/state/state.ts';
import { grouped } from '../src/text/text.ts';
import { type JobContext, type JobDefinition, retryNow, type WorkContext } from './context.ts';
import { isFresh, rhythmOf, type SweepRequest } from './schedules.ts';

const PROGRESS_MS = 1000;
const DAY_MS = 86_400_000;

export const syncHead: JobDefinition = {
  name: 'sync-head',
  async run(context, job) {
    return await runPass(context, resourceOf(job), 'head', { onPage: reporter(context, job) });
  },
};

/**
 * Waits while another process has the list: the worker of this queue has nothing else to do meanwhile. BullMQ would put a job that is
 * to come back later on the wall clock, which may be set.
 */
export const syncSweep: JobDefinition = {
  name: 'sync-sweep',
  async run(context, job) {
    const { app, retry, signal } = context;
    const [resource, wish] = [resourceOf(job), requestIn(job)];
    const options = { onPage: reporter(context, job), acceptDeletes: wish === 'accept-deletes' };
    while (!signal.aborted) {
      if (wish === null && hasFreshSweep(context, resource)) return 'a sweep has only just begun';
      const result = await runPass(context, resource, 'sweep', options);
      if (result !== BUSY) return result;
      await app.clock.sleep(retry.busyMs, signal).catch(() => undefined);
    }
    return STOPPED;
  },
};

const BUSY = 'another pass over this list is under way';
const STOPPED = 'stopped; it continues from there';

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
  const { client, store, clock, log, sweep } = app;
  const since = clock.monotonic();
  const running = { mode, since, lastPageAt: since };
  if (activity.passes.has(resource)) return BUSY;
  activity.passes.set(resource, running);
  const counted = countPages(context, resource);
  const onEachPage = (pass: Pass): void => {
    running.lastPageAt = clock.monotonic();
    counted(pass);
    onPage?.(pass);
  };
  try {
    const request = { resource, mode, acceptDeletes, wait: false };
    const around = { signal, onPage: onEachPage };
    const here = { client, store, clock, ahead: app.settings.pagesAhead, ...around };
    const outcome = await (mode === 'sweep' && sweep ? sweep(request, around) : syncOnce(here, request));
    if (!outcome.done) {
      log.debug({ event: `sync.${mode}.left-out`, resource }, outcome.reason);
      return outcome.reason;
    }
    await concluded(context, outcome.summary, since);
    return outcome.summary;
  } catch (error) {
    return failed(context, { resource, mode, since }, error);
  } finally {
    activity.passes.delete(resource);
  }
}

async function concluded(context: WorkContext, summary: PassSummary, since: number): Promise<void> {
  const { app, metrics, activity } = context;
  const { error: _, resource, mode, ...counts } = summary;
  const seconds = (app.clock.monotonic() - since) / 1000;
  metrics.pass({ ...summary, seconds });
  activity.diskError = null;
  if (mode === 'sweep') activity.failures.delete(resource);
  else retryNow(context, resource);
  const changes = changesOf(summary);
  const { inserted, updated, deleted, held } = summary;
  const hasChanged = inserted + updated + deleted + held > 0;
  const facts = { event: `sync.${mode}.completed`, resource, mode, ...counts };
  const line = `${resource}: ${[...changes, `${seconds.toFixed(1)} s`].join(', ')}`;
  // Rows that cannot be read are the same ones at every pass; `status`, the metrics and the table tell of them.
  if (hasChanged) app.log.info(facts, line);
  else app.log.debug(facts, `${line}, nothing changed`);
  if (mode !== 'sweep') return;
  if (summary.outcome === 'incomplete')
    app.log.warn(
      { event: 'sync.sweep.incomplete', resource },
      `the sweep of ${resource} is incomplete: ${summary.error}`,
    );
  if (resource === 'posts') await reportDoubled(context, summary.startedAt);
  await eraseSoon(context);
  if (summary.inserted > MANY_NEW) await mergeSoon(context);
}

/** What a pass did, in words for the log; empty where the list was as the mirror had it. */
function changesOf({ inserted, updated, deleted, quarantined, held }: PassSummary): string[] {
  const counts = { new: inserted, changed: updated, deleted, quarantined, held };
  return Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${grouped(count)} ${what}`] : []));
}

/** Rows that are kept for less than a day do not wait for the nightly maintenance. */
async function eraseSoon({ app, signal }: WorkContext): Promise<void> {
  const { retentionDeleted: keepMs } = app.settings;
  if (keepMs === 'never' || keepMs >= DAY_MS) return;
  try {
    await eraseExpiredRows(app, signal);
  } catch (error) {
    app.log.error(
      { event: 'erasure.failed', code: codeOf(error) },
      `erasing deleted rows: ${messageOf(error)}`,
    );
  }
}

/** A sweep with more new rows than one chunk of the index: the index of posts or comments has several pieces then. */
const MANY_NEW = 10_000;

/**
 * The first sweep of a million leaves a hundred pieces of the index, and posts like another take several times as long to find until those
 * are merged: that does not wait for the night. A process of its own does it in steps. Not a part of the sweep, which would take a tenth longer.
 */
async function mergeSoon({ app, signal }: WorkContext): Promise<void> {
  try {
    const pages = await doMirrorHousekeeping(app, 'merge the search indexes', signal);
    app.log.debug({ event: 'search.merged', pages }, 'merged the search indexes');
  } catch (error) {
    if (signal.aborted) return;
    app.log.error({ event: 'search.merge.failed', code: codeOf(error) }, `merging: ${messageOf(error)}`);
  }
}

function failed(
  context: WorkContext,
  { resource, mode, since }: { resource: Resource; mode: PassMode; since: number },
  error: unknown,
): string {
  const { app, metrics, activity } = context;
  const code = codeOf(error);
  if (code === 'busy') return BUSY;
  const outcome = code === 'interrupted' ? 'interrupted' : 'failed';
  const seconds = (app.clock.monotonic() - since) / 1000;
  metrics.pass({ resource, mode, outcome, seconds, ...NOTHING });
  if (outcome === 'interrupted') return STOPPED;
  activity.diskError = code === 'storage' ? messageOf(error) : null;
  if (mode === 'sweep') noteFailure(context, resource, code);
  app.log.error({ event: `sync.${mode}.failed`, resource, code }, `${resource}: ${messageOf(error)}`);
  throw error;
}

/** A full disk is nothing that the upstream has to be spared for: once there is room, the sweep goes on within seconds. */
const STORAGE_RETRY_MS = 3000;

/** The next attempt: doubling up to the cap with half of it random, and not before the upstream may be called again. */
function noteFailure(
  { app, activity, retry, sending }: WorkContext,
  resource: Resource,
  code: ErrorCode,
): void {
  const count = (activity.failures.get(resource)?.count ?? 0) + 1;
  const doubled = Math.min(retry.lastPassMs, retry.firstPassMs * 2 ** Math.min(count - 1, 16));
  const most = code === 'storage' ? Math.min(STORAGE_RETRY_MS, doubled) : doubled;
  const now = app.clock.now();
  const closedMs = (app.gate.closedUntil(now, 'reads') ?? now) - now;
  const delayMs = Math.max(most / 2 + (sending.random() * most) / 2, closedMs);
  activity.failures.set(resource, { count, retryAt: app.clock.monotonic() + delayMs });
}

/** What a pass that failed did to rows was counted page by page, and not to its end. */
const NOTHING = { inserted: 0, updated: 0, unchanged: 0, deleted: 0, quarantined: 0 };

async function reportDoubled({ app }: WorkContext, sweepStartedAt: string): Promise<void> {
  for (const row of await checkAfterSweep(app.outbox, app.clock, sweepStartedAt)) {
    const { id, state, post_id: post, duplicate_of: duplicate, candidates, last_error } = row;
    const isUndecided = state === 'uncertain';
    app.log.warn(
      { event: isUndecided ? 'push.displaced' : 'push.duplicate', outbox: id, post, duplicate },
      `outbox ${id}: ${isUndecided ? last_error : `post ${duplicate ?? candidates.join(', ')} may be a second one of it`}`,
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

/** Progress for the page of the queues, about once a second; a queue that lost the job does not stop the pass. */
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

function resourceOf(job: Job): Resource {
  const asked: unknown = Reflect.get(Object(job.data), 'resource');
  const resource = RESOURCES.find((name) => name === asked);
  if (resource === undefined) throw new Error(`job ${job.id} names no list`);
  return resource;
}

/** Null for a pass of a schedule. */
function requestIn(job: Job): SweepRequest | null {
  const wish: unknown = Reflect.get(Object(job.data), 'wish');
  return wish === 'now' || wish === 'accept-deletes' ? wish : null;
}
