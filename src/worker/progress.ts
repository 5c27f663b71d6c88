import { QUEUES, type RunningPass, type WorkContext } from '../../jobs/context.ts';
import { rhythmOf, sweepDueAt } from '../../jobs/freshness.ts';
import { within } from '../base/within.ts';
import { RESOURCES, type Resource } from '../contract/resources.ts';
import type { QueueBackend } from '../queue/backend.ts';
import type { LastPass, UnderWay } from '../store/service-state.ts';
import type { ListProgress, Progress } from './health.ts';

export interface ProgressOptions {
  startedAt: number;
  tickEveryMs: number;
  /** Null until the queue is open. */
  queue: () => OpenQueue | null;
}

export interface OpenQueue {
  backend: QueueBackend;
  isSender(): boolean;
}

/** Whoever asks how we are wants an answer also while the queue is away, and before a probe's usual second is over. */
const ANSWER_MS = 800;
/** Another process whose pass shows no page for so long may be dead: then it is nobody's. */
const SIGN_OF_LIFE_MS = 60_000;
const STATES = ['waiting', 'active', 'delayed', 'prioritized', 'failed'] as const;

export function progressReader(context: WorkContext, options: ProgressOptions): () => Promise<Progress> {
  const foreign = foreignPasses(context);
  return async () => {
    const { app, activity } = context;
    const now = app.clock.now();
    const open = options.queue();
    const depth = open && (await queueDepth(open));
    const { since, count } = await app.outbox.due(now, 1);
    return {
      now,
      startedAt: options.startedAt,
      lastTickAt: activity.lastTickAt,
      tickEveryMs: options.tickEveryMs,
      lists: RESOURCES.map((resource) => ({
        ...listProgress(context, resource, options.startedAt),
        running: activity.passes.get(resource) ?? foreign(resource),
      })),
      outbox: {
        due: count,
        oldestDueAt: since,
        lastAttemptAt: activity.lastAttemptAt,
        paused: await app.outbox.paused(),
        isSender: open?.isSender() ?? false,
      },
      closedUntil: app.gate.closedUntil(now),
      queue: { kind: open?.backend.kind ?? null, reachable: depth !== null, depth: depth ?? [] },
    };
  };
}

function listProgress({ app }: WorkContext, resource: Resource, startedAt: number): ListProgress {
  const last = app.state.lastPasses().find((pass) => pass.resource === resource && pass.mode === 'sweep');
  return {
    resource,
    lastSweepAt: last?.finishedAt ?? null,
    sweepDueAt: (last && sweepDueAt(last, rhythmOf(app.settings))) ?? startedAt,
    usualSweepMs: last ? durationOf(last) : 0,
    running: null,
  };
}

function durationOf({ startedAt, finishedAt }: LastPass): number {
  return startedAt === null || finishedAt === null ? 0 : finishedAt - startedAt;
}

type Depth = Progress['queue']['depth'];

/** Jobs by queue and state; null when the queue does not answer. */
export async function queueDepth({ backend }: OpenQueue): Promise<Depth | null> {
  const counted = async () => {
    await backend.ping(ANSWER_MS);
    const each = QUEUES.map(async (queue) => {
      const counts = await backend.queue(queue).getJobCounts(...STATES);
      return Object.entries(counts).map(([state, jobs]) => ({ queue, state, jobs }));
    });
    return (await Promise.all(each)).flat();
  };
  return await within<Depth | null>(ANSWER_MS, counted(), () => null).catch(() => null);
}

/** Sweeps of other processes, followed by the pages they write down; a number that does not grow shows nothing. */
function foreignPasses({ app }: WorkContext): (resource: Resource) => RunningPass | null {
  const seen = new Map<Resource, UnderWay & { at: number }>();
  return (resource) => {
    const now = app.clock.now();
    const found = app.state.sweepUnderWay(resource);
    if (!found) return null;
    const before = seen.get(resource);
    const isSame = before?.runId === found.runId && before.pages === found.pages;
    const at = isSame ? before.at : now;
    seen.set(resource, { ...found, at });
    if (now - at > SIGN_OF_LIFE_MS) return null;
    return { mode: 'sweep', since: found.startedAt, lastPageAt: at };
  };
}
