import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type LoadInput, readDotenv } from '../../config/load.ts';
import type { RequestInfo } from '../api/options.ts';
import { AppError, errorOfFailure, type PlainFailure } from '../base/errors.ts';
import { ownFile } from '../base/program.ts';
import type { Pass } from '../mirror/decide/types.ts';
import type { SyncOutcome, SyncRequest } from '../mirror/sweep/engine.ts';

/** Sweeps a list outside of this process. */
export type Sweep = (
  request: SyncRequest,
  around: { signal: AbortSignal; onPage: (pass: Pass) => void },
) => Promise<SyncOutcome>;

/** What goes to the process of the sweeps, and what comes back. */
export type SweepOrder =
  | { id: number; source: number; input: LoadInput; request: SyncRequest; cacheKb: number }
  | { id: number; stop: true };
export type SweepNews = { id: number } & (
  | { page: Pass }
  | { call: RequestInfo }
  | { outcome: SyncOutcome }
  | { failure: PlainFailure }
);

interface UnderWay {
  onPage: (pass: Pass) => void;
  onRequest: (info: RequestInfo) => void;
  resolve: (outcome: SyncOutcome) => void;
  reject: (error: unknown) => void;
}

/** What SQLite keeps in memory for all sweeps together. */
const CACHE_KB = 32_000;
const LEAST_CACHE_KB = 2000;
/** A process without a sweep for so long ends, and gives its memory back. */
const IDLE_MS = 60_000;
/** As for `sync` in `src/launch.js`. Seventeen first sweeps at once took 413 MB without the last one and with twice the cache, and take 243 MB. */
const V8_FLAGS = ['--semi-space-growth-factor=1', '--heap-growing-percent=30', '--max-semi-space-size=4'];

/**
 * The sweeps of all sources, in one process beside the service. The process begins with the first sweep. A thread of the service would share
 * locks of V8 and of malloc with it: measured on a busy machine, the service stood still for up to 180 ms while the thread had such a lock.
 */
export class Sweeps {
  readonly #underWay = new Map<number, UnderWay>();
  readonly #idle = setTimeout(() => {
    if (this.#underWay.size === 0) void this.#end();
  }, IDLE_MS).unref();
  #child: ChildProcess | undefined;
  #last = 0;
  #cacheKb = CACHE_KB / 2;

  shareAmong(sources: number): void {
    this.#cacheKb = Math.max(LEAST_CACHE_KB, Math.floor(CACHE_KB / Math.max(2, sources)));
  }

  /** The sweeps of one source. The process reads its settings again, from what this one has read them from. */
  of(input: LoadInput, onRequest: (info: RequestInfo) => void): Sweep {
    const given = { ...input, env: { ...input.env }, dotenv: readDotenv(input) };
    const source = ++this.#last;
    return (request, { signal, onPage }) =>
      this.#run({ source, input: given, request }, { signal, onPage, onRequest });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#end();
  }

  async #run(
    order: { source: number; input: LoadInput; request: SyncRequest },
    { signal, ...hooks }: Pick<UnderWay, 'onPage' | 'onRequest'> & { signal: AbortSignal },
  ): Promise<SyncOutcome> {
    signal.throwIfAborted();
    const id = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<SyncOutcome>();
    const stop = (): void => this.#tell({ id, stop: true });
    this.#underWay.set(id, { ...hooks, resolve, reject });
    signal.addEventListener('abort', stop, { once: true });
    try {
      this.#tell({ id, ...order, cacheKb: this.#cacheKb });
      return await promise;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#underWay.delete(id);
      this.#idle.refresh();
    }
  }

  #tell(order: SweepOrder): void {
    this.#child ??= this.#begin();
    this.#child.send(order);
  }

  #begin(): ChildProcess {
    const started = fork(fileURLToPath(ownFile('./sweeps-child.ts', import.meta.url)), {
      execArgv: V8_FLAGS,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    // It must not keep the service alive.
    started.unref();
    started.channel?.unref();
    started.on('message', (message) => {
      const news = message as SweepNews;
      const sweep = this.#underWay.get(news.id);
      if (sweep) take(sweep, news);
    });
    const lost = (cause?: unknown): void => {
      if (this.#child !== started) return;
      this.#child = undefined;
      this.#rejectAll(new AppError('internal', 'the process of the sweeps ended early', { cause }));
    };
    started.on('error', lost).once('exit', () => lost());
    return started;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.kill('SIGKILL')) await once(child, 'exit');
    this.#rejectAll(new AppError('interrupted', 'the service is stopping'));
  }

  #rejectAll(error: AppError): void {
    for (const { reject } of this.#underWay.values()) reject(error);
  }
}

function take({ onPage, onRequest, resolve, reject }: UnderWay, news: SweepNews): void {
  if ('page' in news) onPage(news.page);
  else if ('call' in news) onRequest(news.call);
  else if ('outcome' in news) resolve(news.outcome);
  else reject(errorOfFailure(news.failure));
}
