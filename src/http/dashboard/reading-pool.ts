import { fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import { ownFile } from '../../base/program.ts';
import type { OpenOptions } from '../../store/db.ts';
import type { Asked, openReading, Reading, Told } from './reading.ts';

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

/**
 * Sums over the whole mirror have a thread to themselves: whoever types a search does not stand in line behind them. A command that is
 * to stay small answers the rest where it is, and leaves the sums to a process, which takes its memory along when it ends.
 */
export function openReads(options: OpenOptions, place: 'threads' | 'command' = 'threads'): DashboardReads {
  const sums = createLane(() => (place === 'threads' ? startThread(options) : startProcess(options)));
  const posts = place === 'threads' ? createLane(() => startThread(options)) : answerHere(options);
  return {
    ask: (name, request, signal) => {
      const lane = SUMS.has(name) ? sums : posts;
      return lane.ask({ name, request }, signal) as ReturnType<Reading[typeof name]>;
    },
    async close() {
      await Promise.all([sums.close(), posts.close()]);
    },
  };
}

interface Lane {
  ask(asked: Asked, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

function answerHere(options: OpenOptions): Lane {
  let opening: Promise<ReturnType<typeof openReading>> | undefined;
  return {
    async ask({ name, request }) {
      opening ??= import('./reading.ts').then((module) => module.openReading(options));
      const read = (await opening)[name] as (request: unknown) => Promise<unknown>;
      return await read(request);
    },
    close: async () => await (await opening)?.close(),
  };
}

/** What answers the questions of a lane, one after the other. */
interface Reader {
  ask(asked: Asked): void;
  on: {
    told(listener: (told: Told) => void): void;
    lost(listener: (reason: unknown) => void): void;
  };
  end(): Promise<void>;
  /** Whether it ends also in the middle of a statement. */
  canEndAtOnce: boolean;
}

function startThread(options: OpenOptions): Reader {
  const thread = new Worker(ownFile('./reading.ts', import.meta.url), { workerData: options });
  // It must not keep the process alive.
  thread.unref();
  return {
    ask: (asked) => thread.postMessage(asked),
    on: {
      told: (listener) => thread.on('message', listener),
      lost: (listener) => thread.once('error', listener).once('exit', () => listener(null)),
    },
    end: async () => void (await thread.terminate()),
    canEndAtOnce: false,
  };
}

/** It gets no setting and no secret of this process, and nothing that it could print to. */
function startProcess(options: OpenOptions): Reader {
  const { TZ } = process.env;
  const cache = getCompileCacheDir();
  const child = fork(ownFile('./reading.ts', import.meta.url), {
    env: { ...(TZ && { TZ }), ...(cache && { NODE_COMPILE_CACHE: dirname(cache) }) },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  child.send(options);
  return {
    ask: (asked) => void child.send(asked),
    on: {
      told: (listener) => child.on('message', (told) => listener(told as Told)),
      lost: (listener) => child.once('error', listener).once('exit', () => listener(null)),
    },
    end: async () => void child.kill('SIGKILL'),
    canEndAtOnce: true,
  };
}

interface Waiting {
  asked: Asked;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  signal: AbortSignal | undefined;
}

const CLOSED = 'the service is about to stop';
const LOST = 'what reads the mirror ended early';

/** A thread or process that is not asked for so long ends, and gives its memory back. */
const IDLE_MS = 60_000;

/** One thread or process, started when it is needed, that answers one question after the other. */
function createLane(start: () => Reader): Lane {
  const line: Waiting[] = [];
  let current: Waiting | undefined;
  let reader: Reader | undefined;
  let isClosed = false;
  const end = async (): Promise<void> => {
    const ended = reader;
    reader = undefined;
    await ended?.end();
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
    reader ??= begin();
    reader.ask(current.asked);
  };
  const done = (settle: (waiting: Waiting) => void): void => {
    const waiting = current;
    current = undefined;
    if (waiting) settle(waiting);
    next();
  };
  const begin = (): Reader => {
    const started = start();
    started.on.told((told) => reader === started && done((waiting) => settle(waiting, told)));
    // The next question gets a new one.
    started.on.lost((reason) => {
      if (reader !== started) return;
      reader = undefined;
      const why = isClosed ? new AppError('interrupted', CLOSED) : new AppError('internal', LOST);
      done(({ reject }) => reject(reason ?? why));
    });
    return started;
  };
  /** Nobody waits for what is under way any more: where that can be ended, the next one need not wait for it either. */
  const abandon = (waiting: Waiting): void => {
    waiting.reject(waiting.signal?.reason);
    if (current !== waiting || !reader?.canEndAtOnce) return;
    void end();
    done(() => undefined);
  };
  const rejectAll = (): void => {
    for (const { reject } of line.splice(0)) reject(new AppError('interrupted', CLOSED));
  };
  return {
    ask: (asked, signal) =>
      new Promise((resolve, reject) => {
        const waiting: Waiting = { asked, resolve, reject, signal };
        signal?.addEventListener('abort', () => abandon(waiting), { once: true });
        line.push(waiting);
        if (isClosed) rejectAll();
        else next();
      }),
    async close() {
      isClosed = true;
      clearTimeout(idle);
      rejectAll();
      await reader?.end();
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
