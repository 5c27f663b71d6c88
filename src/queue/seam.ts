import type { Job, MinimalJob, Queue, Worker } from 'bullmq';
import type { Logger } from '../base/log.ts';
import type { Secret } from '../base/secret.ts';

export type BackendKind = 'embedded' | 'redis' | 'postgres';

/** The queues of one mirror, wherever they are kept. The queue is a bell: whatever it loses is rung again from the outbox. */
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

/** Says what is wrong with the queue, and not the same thing every few milliseconds. */
export interface Trouble {
  report(error: Error): void;
  /** The server cannot be reached. */
  away(error: Error): void;
  /** The server answers: said only if it was away. */
  over(): void;
}
