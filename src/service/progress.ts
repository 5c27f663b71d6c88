import { dirname } from 'node:path';
import { QUEUES, type RunningPass, type WorkContext } from '../../jobs/context.ts';
import { rhythmOf, sweepDueAt } from '../../jobs/schedules.ts';
import { keptFiles } from '../app/upkeep.ts';
import type { Webhooks } from '../app/webhooks.ts';
import { iso, pastOrNull } from '../base/clock.ts';
import { storageError } from '../base/errors.ts';
import { freeSpace } from '../base/files.ts';
import type { Gauges, GaugeValue, KnownLabels } from '../base/metrics.ts';
import { within } from '../base/timeout.ts';
import { CREATE_OUTCOMES, ENDPOINTS, RESOURCES, type Resource } from '../contract/endpoints.ts';
import type { TroubleFacts } from '../mirror/decide/troubles.ts';
import type { ResourceStatus } from '../mirror/decide/types.ts';
import type { ReconcileResult } from '../outbox/send/reconcile.ts';
import { refusedText } from '../outbox/store/refused.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { type LastPass, lastSweep, type MirrorFileState, type SweepUnderWay } from '../state/state.ts';
import { sizeText } from '../text/text.ts';
import { assess, type ListProgress, MIRROR_LOST, type Progress, type WebhookProgress } from './health.ts';

interface ProgressOptions {
  /** On the monotonic clock. */
  startedAt: number;
  tickEveryMs: number;
  queue: () => OpenQueue | null;
}

export interface OpenQueue {
  backend: QueueBackend;
  isSender(): boolean;
}

/** A health probe gets its answer within its usual second, also while the queue is away. */
const ANSWER_MS = 800;
/** Another process whose pass shows no page for so long may be dead: its pass then counts as ended. */
const SIGN_OF_LIFE_MS = 60_000;
const STATES = ['waiting', 'active', 'delayed', 'prioritized', 'failed'] as const;

export function progressReader(context: WorkContext, options: ProgressOptions): () => Promise<Progress> {
  const { app, activity } = context;
  const foreign = foreignPasses(context);
  const mirrorFile = toldMirrorFile(context);
  const dueSince = overdueLists(context, options.startedAt);
  const disk = diskWatch(context);
  return async () => {
    const now = app.clock.now();
    // What this process measured on the monotonic clock, as times beside those that are stored.
    const offset = now - app.clock.monotonic();
    const timed = (at: number | null | undefined): number | null => (at == null ? null : at + offset);
    const open = options.queue();
    const found = open && (await queueDepth(open));
    const depth = found instanceof Error ? null : found;
    const { since } = app.outbox.due(now, 1);
    return {
      now,
      startedAt: options.startedAt + offset,
      lastTickAt: timed(activity.lastTickAt),
      tickEveryMs: options.tickEveryMs,
      mirror: mirrorFile(),
      lists: RESOURCES.map((resource) => {
        const running = activity.passes.get(resource) ?? foreign(resource);
        return {
          ...listProgress(context, resource, (last) => dueSince(last) + offset),
          retryAt: timed(activity.failures.get(resource)?.retryAt),
          running: running && {
            ...running,
            since: running.since + offset,
            lastPageAt: running.lastPageAt + offset,
          },
        };
      }),
      outbox: {
        due: app.outbox.countDue(now),
        oldestDueAt: since,
        lastAttemptAt: timed(activity.lastAttemptAt),
        paused: app.outbox.paused(),
        refused: app.outbox.refusedBoards().map(refusedText),
        isSender: open?.isSender() ?? false,
      },
      closedUntil: app.gate.closedUntil(now),
      troubles: {
        ...app.state.troubles(),
        disk: disk(found instanceof Error ? found : null),
        newToken: app.tokenNews(),
      },
      ...(app.publisher ? { copy: app.publisher.progress() } : {}),
      needsCopy: app.settings.fleetUrl !== null,
      ...(app.webhooks ? { webhooks: webhookProgress(app.webhooks) } : {}),
      queue: { kind: open?.backend.kind ?? null, reachable: depth !== null, depth: depth ?? [] },
    };
  };
}

/** SQLite cannot write a transaction of usual size into less. */
const NO_ROOM = 1_000_000;

/** A failing disk, which no table can record. This process knows of it from a pass or from its queue, and remembers since when. */
function diskWatch({ app, activity }: WorkContext): (ofQueue: Error | null) => TroubleFacts['disk'] {
  const { dataDir, mirrorPath } = app.settings;
  let known: TroubleFacts['disk'] = null;
  return (ofQueue) => {
    const free = Math.min(freeSpace(dataDir), freeSpace(dirname(mirrorPath)));
    const full = free < NO_ROOM ? `${sizeText(free)} are free` : activity.diskError;
    // The embedded queue wraps what SQLite said.
    const said = storageError(ofQueue?.cause ?? ofQueue);
    const found = full ?? (said?.code === 'storage' ? said.message : null);
    known = found === null ? null : { since: known?.since ?? iso(app.clock.now()), error: found };
    return known;
  };
}

/** Logs once that the file of the mirror is gone or replaced. Each request for readiness shows it. */
function toldMirrorFile({ app }: WorkContext): () => MirrorFileState {
  let last: MirrorFileState = 'in place';
  return () => {
    const found = app.state.mirrorFile();
    if (last === 'in place' && found !== 'in place')
      app.log.error(
        { event: `mirror.${found}`, path: app.settings.mirrorPath },
        `the mirror: ${MIRROR_LOST[found]}`,
      );
    last = found;
    return found;
  };
}

function webhookProgress({ endpoints, deps: { store } }: Webhooks): WebhookProgress[] {
  return endpoints.map(({ id, host }) => {
    const { position, failing_since, disabled_why, lost } = store.state(id);
    const failingSince = failing_since === null ? null : Date.parse(failing_since);
    return { id, host, lag: store.lag(position), lost, failingSince, disabledWhy: disabled_why };
  });
}

function listProgress(
  { app }: WorkContext,
  resource: Resource,
  dueSince: (last: LastPass) => number,
): Omit<ListProgress, 'running' | 'retryAt'> {
  const last = lastSweep(app.state.lastPasses(), resource);
  return {
    resource,
    lastSweepAt: last.finishedAt,
    sweepDueAt: sweepDueAt(last, rhythmOf(app.settings), app.clock.now()) ?? dueSince(last),
    usualSweepMs: durationOf(last),
  };
}

/** The clock may have been set between the two. */
function durationOf({ startedAt, finishedAt }: LastPass): number {
  return startedAt === null || finishedAt === null ? 0 : Math.max(0, finishedAt - startedAt);
}

/** Since when a list of unknown age has been due, on the monotonic clock: since our start, or since the clock was set. */
function overdueLists({ app }: WorkContext, startedAt: number): (last: LastPass) => number {
  const noticed = new Map<Resource, { finishedAt: number; at: number }>();
  return ({ resource, finishedAt }) => {
    if (finishedAt === null) return startedAt;
    const known = noticed.get(resource);
    if (known?.finishedAt === finishedAt) return known.at;
    const at = app.clock.monotonic();
    noticed.set(resource, { finishedAt, at });
    return at;
  };
}

type Depth = Progress['queue']['depth'];

/** Jobs by queue and state; why not where the queue does not answer, null where it does not in time. */
async function queueDepth({ backend }: OpenQueue): Promise<Depth | Error | null> {
  const counted = async () => {
    await backend.ping(ANSWER_MS);
    const each = QUEUES.map(async (queue) => {
      const counts = await backend.queue(queue).getJobCounts(...STATES);
      return Object.entries(counts).map(([state, jobs]) => ({ queue, state, jobs }));
    });
    return (await Promise.all(each)).flat();
  };
  return await within<Depth | null>(ANSWER_MS, counted(), () => null).catch((error: unknown) =>
    error instanceof Error ? error : null,
  );
}

/** Follows sweeps of other processes by the number of pages that they write down. A number that does not grow is no sign of life. */
function foreignPasses({ app }: WorkContext): (resource: Resource) => RunningPass | null {
  const seen = new Map<Resource, SweepUnderWay & { at: number }>();
  return (resource) => {
    const now = app.clock.monotonic();
    const found = app.state.sweepUnderWay(resource);
    if (!found) return null;
    const before = seen.get(resource);
    const isSame = before?.runId === found.runId && before.pages === found.pages;
    const at = isSame ? before.at : now;
    seen.set(resource, { ...found, at });
    if (now - at > SIGN_OF_LIFE_MS) return null;
    const ranFor = app.clock.now() - found.startedAt;
    return { mode: 'sweep', since: now - Math.max(0, ranFor), lastPageAt: at };
  };
}

/** Gauges, read with each scrape. Each source has one reader. */
export function observeGauges(
  { app, metrics }: WorkContext,
  { queue, progress }: { queue: () => OpenQueue | null; progress: () => Promise<Progress> },
): void {
  metrics.startAtZero(KNOWN);
  metrics.observe(async () => {
    const now = app.clock.now();
    const { ready, troubles } = assess(await progress());
    const trouble_since_seconds = troubles.map(({ symptom, since }) => ({
      labels: { symptom },
      value: (since === null ? now : Date.parse(since)) / 1000,
    }));
    return { ready: [{ value: ready ? 1 : 0 }], trouble_since_seconds };
  });
  metrics.observe(async () => ({
    sync_lag_seconds: app.state.lastPasses().map(({ resource, mode, finishedAt }) => ({
      labels: { resource, mode },
      value: ageOf(app, finishedAt),
    })),
  }));
  metrics.observe(async () => ({
    outbox_rows: Object.entries(app.outbox.counts(null)).map(([state, value]) => ({
      labels: { state },
      value,
    })),
    outbox_oldest_unsent_seconds: [{ value: ageOf(app, app.outbox.oldestUnsentAt()) ?? 0 }],
  }));
  metrics.observe(async () => ({
    webhook_lag_changes: (app.webhooks ? webhookProgress(app.webhooks) : []).map(({ id, lag }) => ({
      labels: { webhook: id },
      value: lag,
    })),
  }));
  metrics.observe(async () => {
    const copy = app.publisher?.progress();
    if (!copy) return {};
    const { behind, behindSince, publishedAt } = copy;
    return {
      publish_lag_seconds: [{ value: behindSince === null ? 0 : ageOf(app, behindSince) }],
      publish_behind_changes: [{ value: behind }],
      publish_age_seconds: [{ value: ageOf(app, publishedAt) }],
    };
  });
  metrics.observe(async () => mirrorGauges(app.store.status().resources));
  metrics.observe(async () => {
    const { backupAt, exportAt, sizes } = keptFiles(app.settings);
    return {
      backup_age_seconds: [{ value: ageOf(app, backupAt) }],
      export_age_seconds: [{ value: ageOf(app, exportAt) }],
      file_bytes: sizes.map(({ file, bytes }) => ({ labels: { file }, value: bytes })),
    };
  });
  metrics.observe(async () => {
    const open = queue();
    const depth = open && (await queueDepth(open));
    if (!Array.isArray(depth)) throw new Error('the queue does not answer');
    return { queue_jobs: depth.map(({ jobs, ...labels }) => ({ labels, value: jobs })) };
  });
}

const RESULTS: Record<ReconcileResult, 0> = { found: 0, 'send again': 0, uncertain: 0, later: 0 };

const KNOWN: KnownLabels = {
  passes: RESOURCES.flatMap((resource) =>
    (['head', 'sweep'] as const).flatMap((mode) =>
      ['complete', 'incomplete', 'interrupted', 'failed'].map((outcome) => ({ resource, mode, outcome })),
    ),
  ),
  pushes: CREATE_OUTCOMES,
  reconciles: Object.keys(RESULTS),
  operations: Object.keys(ENDPOINTS),
};

function mirrorGauges(resources: readonly ResourceStatus[]): Gauges {
  const each = (value: (status: ResourceStatus) => number, state?: string): GaugeValue[] =>
    resources.map((status) => ({
      labels: { resource: status.resource, ...(state ? { state } : {}) },
      value: value(status),
    }));
  return {
    mirrored_rows: [...each(({ live }) => live, 'live'), ...each(({ deleted }) => deleted, 'deleted')],
    held_deletions: each(({ held }) => held),
    quarantined_rows: each(({ quarantined }) => quarantined),
  };
}

/** In seconds; null where there is nothing, or where its time lies ahead of a clock that was set back. */
function ageOf({ clock }: WorkContext['app'], at: number | null): number | null {
  const past = pastOrNull(at, clock.now());
  return past === null ? null : (clock.now() - past) / 1000;
}
