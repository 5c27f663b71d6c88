import { Worker } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import { ownFile } from '../../base/program.ts';
import type { OpenOptions } from '../../store/db.ts';
import type { Asked, Reading, Told } from './reading.ts';

/** The reads of the pages, answered in threads of their own: the service's loop never waits for the mirror. */
export interface DashboardReads {
  ask<N extends keyof Reading>(
    name: N,
    request: Parameters<Reading[N]>[0],
    signal?: AbortSignal,
  ): ReturnType<Reading[N]>;
  close(): Promise<void>;
}

const SUMS: ReadonlySet<keyof Reading> = new Set(['overview', 'report']);

/** Sums over the whole mirror have a thread to themselves: whoever types a search does not stand in line behind them. */
export function openReads(options: OpenOptions): DashboardReads {
  const lanes = { sums: createLane(options), posts: createLane(options) };
  return {
    ask: (name, request, signal) => {
      const lane = SUMS.has(name) ? lanes.sums : lanes.posts;
      return lane.ask({ name, request }, signal) as ReturnType<Reading[typeof name]>;
    },
    async close() {
      await Promise.all([lanes.sums.close(), lanes.posts.close()]);
    },
  };
}

interface Waiting {
  asked: Asked;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  signal: AbortSignal | undefined;
}

const CLOSED = 'the service is about to stop';
const LOST = 'the thread that reads the mirror ended early';

/** A thread that is not asked for so long ends, and gives its memory back. */
const IDLE_MS = 60_000;

/** One thread, started when it is needed, that answers one question after the other. */
function createLane(options: OpenOptions) {
  const line: Waiting[] = [];
  let current: Waiting | undefined;
  let thread: Worker | undefined;
  let isClosed = false;
  const end = async (): Promise<void> => {
    const ended = thread;
    thread = undefined;
    await ended?.terminate();
  };
  const idle = setTimeout(() => {
    if (!current) void end();
  }, IDLE_MS).unref();

  const next = (): void => {
    if (current) return;
    do current = line.shift();
    while (current?.signal?.aborted);
    if (!current) {
      idle.refresh();
      return;
    }
    thread ??= start();
    thread.postMessage(current.asked);
  };
  const done = (settle: (waiting: Waiting) => void): void => {
    const waiting = current;
    current = undefined;
    if (waiting) settle(waiting);
    next();
  };
  const start = (): Worker => {
    const started = new Worker(ownFile('./reading.ts', import.meta.url), { workerData: options });
    // It must not keep the process alive.
    started.unref();
    started.on('message', (told: Told) => done((waiting) => settle(waiting, told)));
    // The next question gets a new one.
    const lost = (reason: unknown): void => {
      if (thread !== started) return;
      thread = undefined;
      done(({ reject }) => reject(reason));
    };
    started.once('error', lost);
    started.once('exit', () =>
      lost(isClosed ? new AppError('interrupted', CLOSED) : new AppError('internal', LOST)),
    );
    return started;
  };
  const rejectAll = (): void => {
    for (const { reject } of line.splice(0)) reject(new AppError('interrupted', CLOSED));
  };
  return {
    ask: (asked: Asked, signal?: AbortSignal): Promise<unknown> =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        line.push({ asked, resolve, reject, signal });
        if (isClosed) rejectAll();
        else next();
      }),
    async close() {
      isClosed = true;
      clearTimeout(idle);
      rejectAll();
      await thread?.terminate();
    },
  };
}

function settle({ resolve, reject }: Waiting, told: Told): void {
  if ('value' in told) {
    resolve(told.value);
    return;
  }
  const { code, message, hint } = told.failure;
  reject(new AppError(code, message, hint === undefined ? {} : { hint }));
}
