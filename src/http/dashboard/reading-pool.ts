import { fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { AppError, errorOfFailure } from '../../base/errors.ts';
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
  /** Starts what answers: a page that was asked for comes with questions. */
  wake(): void;
  /** Asks a large mirror what the first page asks: the first person then finds columns that are read and code that is compiled. */
  warm(request: Parameters<Reading['overview']>[0]): void;
  /** How much of the slow report is done that is worked on, 0 to 1; null where it is not. */
  progress(): number | null;
  /** Ends the process of the slow report, also for whoever else waits for it. */
  cancelSlow(): void;
  close(): Promise<void>;
}

const SUMS: ReadonlySet<keyof Reading> = new Set(['overview', 'report']);

/** A report that takes seconds and hundreds of megabytes, where the others take milliseconds. */
function isSlow(name: keyof Reading, request: unknown): boolean {
  return name === 'report' && (request as { name: string }).name === 'duplicates';
}

/** A thread without a question for so long ends and gives its memory back, unless it reads the mirror that was asked last. */
const IDLE_MS = 60_000;
/** From this size on, which about 250,000 posts have, a first answer takes longer than people like to wait. To have it ready takes 30 MB or more. */
const LARGE_BYTES = 500e6;
/** Of the sources of a process the one that people look at. */
let lastAsked: OpenOptions | undefined;

/**
 * Sums over the whole mirror have a thread of their own, so that a search does not wait for them. The report that they would wait for has a
 * process of its own, which ends with its answer.
 */
export function openReads(options: OpenOptions): DashboardReads {
  const isKept = (): boolean => lastAsked === options;
  const thread = (): ReadWorker => new ReadWorker(threadOn(options), { idleMs: IDLE_MS, isKept });
  const [sums, posts] = [thread(), thread()];
  const slow = new ReadWorker(processOn(options), { idleMs: 0, isKept: () => false });
  const ask: DashboardReads['ask'] = (name, request, signal) => {
    lastAsked = options;
    const lane = isSlow(name, request) ? slow : SUMS.has(name) ? sums : posts;
    return lane.ask({ name, request }, signal) as ReturnType<Reading[typeof name]>;
  };
  return {
    ask,
    wake() {
      sums.wake();
      posts.wake();
    },
    warm(request) {
      if ((statSync(options.path, { throwIfNoEntry: false })?.size ?? 0) < LARGE_BYTES) return;
      // An error is shown to the next person who asks.
      ask('overview', request).catch(() => undefined);
    },
    progress: () => slow.progress,
    cancelSlow: () => slow.cancel(),
    async close() {
      await Promise.all([slow, sums, posts].map((lane) => lane.close()));
    },
  };
}

/** Reads the mirror and answers one question after the other. */
interface Answerer {
  ask(question: ThreadQuestion): void;
  end(): unknown;
}

interface Hearer {
  onMessage(message: ThreadAnswer): void;
  /** It has ended, with what went wrong where that is known. */
  onEnd(reason: unknown): void;
}

export type StartWorker = (hearer: Hearer) => Answerer;

/** Neither keeps this process alive. */
function threadOn(options: OpenOptions): StartWorker {
  return ({ onMessage, onEnd }) => {
    const thread = new Worker(ownFile('./reading.ts', import.meta.url), {
      workerData: options,
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    thread.unref();
    thread.on('message', onMessage);
    thread.once('error', onEnd).once('exit', () => onEnd(null));
    return { ask: (question) => thread.postMessage(question), end: () => thread.terminate() };
  };
}

function processOn(options: OpenOptions): StartWorker {
  return ({ onMessage, onEnd }) => {
    const file = fileURLToPath(ownFile('./reading-child.ts', import.meta.url));
    const child = fork(file, {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    child.on('message', (message) => onMessage(message as ThreadAnswer));
    child.once('error', onEnd).once('exit', () => onEnd(null));
    child.send(options);
    return { ask: (question) => child.send(question), end: () => child.kill('SIGKILL') };
  };
}

interface Waiting {
  question: ThreadQuestion;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  signal: AbortSignal | undefined;
}

const CLOSED = 'the service is about to stop';
const CANCELLED = 'somebody cancelled this report';
const LOST = 'what reads the mirror ended early';

/** One thread or process that answers one question after the other. It starts with the first question. */
export class ReadWorker {
  readonly #begin: StartWorker;
  readonly #line: Waiting[] = [];
  readonly #idle: NodeJS.Timeout;
  #current: Waiting | undefined;
  #answerer: Answerer | undefined;
  #isClosed = false;
  /** How much of the question is done, 0 to 1; null where nothing is asked. */
  progress: number | null = null;

  constructor(begin: StartWorker, { idleMs, isKept }: { idleMs: number; isKept(): boolean }) {
    this.#begin = begin;
    this.#idle = setTimeout(() => {
      if (this.#current) return;
      if (isKept()) this.#idle.refresh();
      else this.#endAnswerer();
    }, idleMs).unref();
  }

  ask(question: ThreadQuestion, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.#line.push({ question, resolve, reject, signal });
      if (this.#isClosed) this.#rejectAll(CLOSED);
      else this.#next();
    });
  }

  wake(): void {
    if (this.#isClosed || this.#current) return;
    this.#answerer ??= this.#start();
    this.#idle.refresh();
  }

  /** What is asked afterwards begins anew. */
  cancel(): void {
    this.#endAnswerer();
    this.#rejectAll(CANCELLED);
    this.#done(({ reject }) => reject(new AppError('interrupted', CANCELLED)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#rejectAll(CLOSED);
    await this.#answerer?.end();
  }

  #endAnswerer(): void {
    void this.#answerer?.end();
    this.#answerer = undefined;
  }

  #next(): void {
    if (this.#current) return;
    do this.#current = this.#line.shift();
    while (this.#current?.signal?.aborted);
    if (!this.#current) {
      this.#idle.refresh();
      return;
    }
    this.progress = 0;
    this.#answerer ??= this.#start();
    this.#answerer.ask(this.#current.question);
  }

  #done(settle: (waiting: Waiting) => void): void {
    const waiting = this.#current;
    this.#current = undefined;
    this.progress = null;
    if (waiting) settle(waiting);
    this.#next();
  }

  #start(): Answerer {
    const started = this.#begin({
      onMessage: (message) => {
        if (this.#answerer !== started) return;
        if ('progress' in message) this.progress = message.progress;
        else this.#done((waiting) => settle(waiting, message));
      },
      onEnd: (reason) => {
        if (this.#answerer !== started) return;
        this.#answerer = undefined;
        const why = this.#isClosed ? new AppError('interrupted', CLOSED) : new AppError('internal', LOST);
        this.#done(({ reject }) => reject(reason ?? why));
      },
    });
    return started;
  }

  #rejectAll(why: string): void {
    for (const { reject } of this.#line.splice(0)) reject(new AppError('interrupted', why));
  }
}

function settle({ resolve, reject }: Waiting, answer: Exclude<ThreadAnswer, { progress: number }>): void {
  if ('value' in answer) {
    resolve(answer.value);
    return;
  }
  reject(errorOfFailure(answer.failure));
}
