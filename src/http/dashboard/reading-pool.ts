import { Worker } from 'node:worker_threads';
import { AppError, errorFrom } from '../../base/errors.ts';
import { ownFile } from '../../base/program.ts';
import type { OpenOptions } from '../../db/open.ts';
import type { Reading, ThreadAnswer, ThreadQuestion } from './reading.ts';

/** Reads of the mirror that worker threads answer, so that the main thread does not wait for SQLite. */
export interface DashboardReads {
  ask<N extends keyof Reading>(
    name: N,
    request: Parameters<Reading[N]>[0],
    signal?: AbortSignal,
  ): ReturnType<Reading[N]>;
  close(): Promise<void>;
}

const SUMS: ReadonlySet<keyof Reading> = new Set(['overview', 'report']);

/** A report that takes seconds, where the others take milliseconds. */
function isSlow(name: keyof Reading, request: unknown): boolean {
  return name === 'report' && (request as { name: string }).name === 'duplicates';
}

/** Sums over the whole mirror have a thread of their own, so that a search does not wait for them. So has the report that they would wait for. */
export function openReads(options: OpenOptions): DashboardReads {
  const [slow, sums, posts] = [new Lane(options), new Lane(options), new Lane(options)];
  return {
    ask: (name, request, signal) => {
      const lane = isSlow(name, request) ? slow : SUMS.has(name) ? sums : posts;
      return lane.ask({ name, request }, signal) as ReturnType<Reading[typeof name]>;
    },
    async close() {
      await Promise.all([slow, sums, posts].map((lane) => lane.close()));
    },
  };
}

interface Waiting {
  question: ThreadQuestion;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  signal: AbortSignal | undefined;
}

const CLOSED = 'the service is about to stop';
const LOST = 'what reads the mirror ended early';

/** A thread without a question for so long ends, and gives its memory back. */
const IDLE_MS = 60_000;

/** One thread that answers one question after the other. It starts with the first question. */
class Lane {
  readonly #options: OpenOptions;
  readonly #line: Waiting[] = [];
  readonly #idle: NodeJS.Timeout;
  #current: Waiting | undefined;
  #thread: Worker | undefined;
  #isClosed = false;

  constructor(options: OpenOptions) {
    this.#options = options;
    this.#idle = setTimeout(() => {
      if (this.#current) return;
      void this.#thread?.terminate();
      this.#thread = undefined;
    }, IDLE_MS).unref();
  }

  ask(question: ThreadQuestion, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.#line.push({ question, resolve, reject, signal });
      if (this.#isClosed) this.#rejectAll();
      else this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#rejectAll();
    await this.#thread?.terminate();
  }

  #next(): void {
    if (this.#current) return;
    do this.#current = this.#line.shift();
    while (this.#current?.signal?.aborted);
    if (!this.#current) {
      this.#idle.refresh();
      return;
    }
    this.#thread ??= this.#begin();
    this.#thread.postMessage(this.#current.question);
  }

  #done(settle: (waiting: Waiting) => void): void {
    const waiting = this.#current;
    this.#current = undefined;
    if (waiting) settle(waiting);
    this.#next();
  }

  #begin(): Worker {
    const started = new Worker(ownFile('./reading.ts', import.meta.url), { workerData: this.#options });
    // It must not keep the process alive.
    started.unref();
    started.on('message', (answer: ThreadAnswer) => {
      if (this.#thread === started) this.#done((waiting) => settle(waiting, answer));
    });
    const lost = (reason: unknown): void => {
      if (this.#thread !== started) return;
      this.#thread = undefined;
      const why = this.#isClosed ? new AppError('interrupted', CLOSED) : new AppError('internal', LOST);
      this.#done(({ reject }) => reject(reason ?? why));
    };
    started.once('error', lost).once('exit', () => lost(null));
    return started;
  }

  #rejectAll(): void {
    for (const { reject } of this.#line.splice(0)) reject(new AppError('interrupted', CLOSED));
  }
}

function settle({ resolve, reject }: Waiting, answer: ThreadAnswer): void {
  if ('value' in answer) {
    resolve(answer.value);
    return;
  }
  reject(errorFrom(answer.failure));
}
