import type { Job, MinimalJob, Queue, Worker } from 'bullmq';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Secret } from '../base/secret.ts';

export type BackendKind = 'embedded' | 'redis' | 'postgres';

/** The queues of one mirror, wherever they are kept. The queue is disposable: whatever it loses is enqueued again from the outbox. */
export interface QueueBackend {
  readonly kind: BackendKind;
  /** BullMQ's own queue, named after the mirror; the same object for the same name. Has an error listener. */
  queue(name: string): Queue;
  /** BullMQ's own worker. The processor gets (job, token, signal). Has an error listener. Starts at once. */
  worker(name: string, run: Processor, options?: WorkerSettings): Worker;
  /** A round trip to the server; rejects (AppError 'unreachable') when it is away for longer than the given time. */
  ping(withinMs: number): Promise<void>;
  /** Maintenance that the backend needs from time to time. */
  upkeep(): Promise<void>;
  /** Workers and queues that are still open, then the connection. Takes about two seconds at most. */
  close(): Promise<void>;
}

export type Processor = (
  job: Job,
  token: string | undefined,
  signal: AbortSignal | undefined,
) => Promise<unknown>;

export interface WorkerSettings {
  concurrency?: number;
  /** Seconds after which a worker that waits looks for jobs unasked. */
  drainDelay?: number;
  limiter?: { max: number; duration: number };
  lockDuration?: number;
  stalledInterval?: number;
  maxStalledCount?: number;
  backoffStrategy?: (
    attemptsMade: number,
    type: string | undefined,
    error: Error | undefined,
    job: MinimalJob | undefined,
  ) => number;
}

export interface QueueOptions {
  /** Null for the embedded one. */
  url: Secret | null;
  /** The embedded one is the file queue.db in it. */
  dataDir: string;
  /** Keeps mirrors apart that share a server: letters, digits, `_` and `-`. */
  mirrorId: string;
  log: Logger;
}

/** What a kind of server has to offer to become a backend. */
export interface Connection {
  readonly kind: BackendKind;
  /** For people: host and port, or the file. Never a password. */
  readonly place: string;
  makeQueue(name: string): Queue;
  makeWorker(name: string, run: Processor, options: WorkerSettings): Worker;
  ping(): Promise<void>;
  upkeep(): Promise<void>;
  /** Ends every connection now; what still waits for the server fails. */
  drop(): Promise<void>;
}

/** How long a server may take to come up at the start: two services started together need not be started in order. */
export const START_TIMEOUT_MS = 8000;

export function awayAtStart(place: string, last: Error | undefined): AppError {
  const why = last ? ` (${(last as NodeJS.ErrnoException).code ?? last.message})` : '';
  return new AppError('unreachable', `the queue at ${place} could not be reached${why}`, {
    cause: last,
    hint: 'Start that server or correct QUEUE_URL; with an empty QUEUE_URL the queue lives in the data folder.',
  });
}

/** BullMQ waits 15 s after a failed round trip before it tries again; a server that was restarted is back within one. */
const RETRY_MS = 1000;

/** BullMQ's options of a worker, from ours. */
export function workerOptions({ backoffStrategy, ...settings }: WorkerSettings) {
  return {
    ...settings,
    runRetryDelay: RETRY_MS,
    ...(backoffStrategy ? { settings: { backoffStrategy } } : {}),
  };
}

/** A server that is away is tried several times a second, by every worker: one line a minute says as much. */
const QUIET_MS = 60_000;

/** Distinct messages that are remembered: more than any server has to say. */
const REMEMBERED = 100;

/** Says what is wrong with the queue, and not the same thing every few milliseconds. */
export function watchTrouble(log: Logger, now: () => number = () => performance.now()) {
  const said = new Map<string, { at: number; again: number }>();
  let isAway = false;
  const report = (error: Error): void => {
    const text = textOf(error);
    const before = said.get(text);
    if (before && now() - before.at < QUIET_MS) {
      before.again++;
      return;
    }
    if (said.size >= REMEMBERED) said.clear();
    said.set(text, { at: now(), again: 0 });
    log.warn({ event: 'queue.trouble', ...(before && { again: before.again + 1 }) }, `queue: ${text}`);
  };
  return {
    report,
    /** The server cannot be reached. */
    away(error: Error): void {
      isAway = true;
      report(error);
    },
    /** The server answers: said only if it was away. */
    over(): void {
      if (!isAway) return;
      isAway = false;
      said.clear();
      log.info({ event: 'queue.recovered' }, 'queue: it answers again');
    },
  };
}

export type QueueTrouble = ReturnType<typeof watchTrouble>;

/** Node reports several failed addresses of one host as an AggregateError without a message. */
function textOf(error: Error): string {
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError) return error.errors.map(String).join('; ');
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
