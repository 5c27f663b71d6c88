import type { Job } from 'bullmq';
import type { App } from '../src/app.ts';
import type { Metrics } from '../src/base/metrics.ts';
import type { Resource } from '../src/contract/endpoints.ts';
import type { OutboxContext } from '../src/outbox/push.ts';
import type { QueueBackend } from '../src/queue/backend.ts';
import type { PassMode } from '../src/store/mirror/types.ts';
import type { Dispatcher } from './dispatch.ts';

/** `ticks` is quick and never waits for the upstream: what a schedule starts runs on one of the others. */
export const QUEUES = ['ticks', 'sync', 'push', 'reconcile', 'upkeep'] as const;
export type QueueName = (typeof QUEUES)[number];

/** What a job works with, the queue aside. */
export interface WorkContext {
  app: App;
  metrics: Metrics;
  sending: OutboxContext;
  activity: Activity;
  /** Aborted when the service stops. */
  signal: AbortSignal;
  retry: RetryDelays;
}

export interface JobContext extends WorkContext {
  backend: QueueBackend;
  dispatcher: Dispatcher;
}

export interface RetryDelays {
  /** A whole pass that failed is tried again after this long, and after twice as long each time up to the second figure. */
  firstPassMs: number;
  lastPassMs: number;
  /** How soon a sweep asks again for a list that another pass has. */
  busyMs: number;
}

/** What this process is doing, and when it last did something. */
export interface Activity {
  passes: Map<Resource, RunningPass>;
  /** Rows that a handler has in hand: a job that stalled is run twice, and the first handler may still be at it. */
  rows: Set<number>;
  /** On the monotonic clock, as every time of this interface. */
  lastTickAt: number | null;
  lastAttemptAt: number | null;
}

export interface RunningPass {
  mode: PassMode;
  /** On the monotonic clock, both. */
  since: number;
  lastPageAt: number;
}

export function newActivity(): Activity {
  return { passes: new Map(), rows: new Set(), lastTickAt: null, lastAttemptAt: null };
}

export interface JobDefinition {
  readonly name: string;
  readonly queue: QueueName;
  /** What it returns is kept with the job for people to see: counts and ids, no names. */
  run(context: JobContext, job: Job): Promise<unknown>;
}

/** Trouble that passes: the queue runs the job again after that time. */
export class RunAgain extends Error {
  override readonly name = 'RunAgain';
  readonly afterMs: number;

  constructor(message: string, afterMs: number) {
    super(message);
    this.afterMs = Math.max(0, Math.round(afterMs));
  }
}

/** The worker's own say in when a failed job comes back. */
export function backoffOf(error: Error | undefined): number {
  return error instanceof RunAgain ? error.afterMs : 1000;
}
