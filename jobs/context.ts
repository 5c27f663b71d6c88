import type { Job } from 'bullmq';
import type { App } from '../src/app.ts';
import type { Metrics } from '../src/base/metrics.ts';
import type { Resource } from '../src/contract/endpoints.ts';
import type { PassMode } from '../src/mirror/decide/types.ts';
import type { OutboxContext } from '../src/outbox/send/context.ts';
import type { QueueBackend } from '../src/queue/backend.ts';
import type { Dispatcher } from './dispatch.ts';

/**
 * `ticks` never waits for the upstream. Each list has a queue of its own, whose worker runs one job at a time: BullMQ lets the runs of
 * a schedule overlap where a worker has a free slot, also with `deduplication` in the template (tried on all three backends).
 */
export const QUEUES = [
  'ticks',
  'sync-posts',
  'sync-comments',
  'push',
  'reconcile',
  'webhooks',
  'maintenance',
] as const;
export type QueueName = (typeof QUEUES)[number];

export interface WorkContext {
  app: App;
  metrics: Metrics;
  sending: OutboxContext;
  activity: Activity;
  signal: AbortSignal;
  retry: RetryDelays;
}

export interface JobContext extends WorkContext {
  backend: QueueBackend;
  dispatcher: Dispatcher;
  slots: CreateSlots;
}

/**
 * Limits how many creates are under way at a time. The worker runs one job more, and that job waits here for a slot. Its request leaves
 * as soon as an answer arrives, before the queue has ended one job and handed out the next.
 */
export interface CreateSlots {
  /** The work may free its slot before it is done itself. */
  take<T>(work: (end: () => void) => Promise<T>): Promise<T>;
}

export function createSlots(most: number): CreateSlots {
  const waiting: (() => void)[] = [];
  let free = most;
  return {
    async take(work) {
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free--;
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        const next = waiting.shift();
        if (next) next();
        else free++;
      };
      try {
        return await work(end);
      } finally {
        end();
      }
    },
  };
}

export interface RetryDelays {
  /** A sweep that failed is tried again after this long, and after twice as long each time up to the second figure. */
  firstPassMs: number;
  lastPassMs: number;
  /** How soon a sweep asks again for a list that another pass has. */
  busyMs: number;
}

/** What this process is doing, and when it last did something. Every time is on the monotonic clock. */
export interface Activity {
  passes: Map<Resource, RunningPass>;
  /** Sweeps that failed in this process, and when the next attempt may begin. A restart forgets them, and so tries again at once. */
  failures: Map<Resource, { count: number; retryAt: number }>;
  /** Why the last pass could write nothing down; null where it could. */
  diskError: string | null;
  /** Rows that a handler is sending: BullMQ hands out a job that stalled a second time, and the first handler may still run. */
  rows: Set<number>;
  /** Webhook endpoints that a handler is telling, for the same reason. */
  webhooks: Set<string>;
  /** When a tick came through the queue, in this process or in another one that shares the queue. */
  lastTickAt: number | null;
  /** For when the queue had planned the next tick when this process last saw it. */
  nextTick: number | null;
  lastAttemptAt: number | null;
}

export interface RunningPass {
  mode: PassMode;
  since: number;
  lastPageAt: number;
}

export function newActivity(): Activity {
  return {
    passes: new Map(),
    failures: new Map(),
    diskError: null,
    rows: new Set(),
    webhooks: new Set(),
    lastTickAt: null,
    nextTick: null,
    lastAttemptAt: null,
  };
}

/** The service answers again, or there is another token: a sweep that failed need not wait any longer. */
export function retryNow({ app, activity }: WorkContext, resource: Resource): void {
  if (activity.failures.has(resource))
    activity.failures.set(resource, { count: 0, retryAt: app.clock.monotonic() });
}

export interface JobDefinition {
  readonly name: string;
  /** BullMQ keeps what it returns with the job: counts and ids, no names. */
  run(context: JobContext, job: Job): Promise<unknown>;
}
