import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Client, type ClientOptions, createClient } from '../../src/api/client.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import type { PassSummary } from '../../src/mirror/decide/types.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { type SyncOutcome, type SyncRequest, syncOnce } from '../../src/mirror/sweep/engine.ts';
import { type RequestNote, type Sandbox, type SandboxOptions, startSandbox } from '../laboratory/server.ts';
import { temporaryFolder } from '../support/folder.ts';
import { placeNewMirror, queryFile, watchForWeeks } from '../support/mirror.ts';

export const UPSTREAM = 'http://upstream.test';

/** A sandbox, a client on it and a mirror file: what every sync test needs. */
export interface Workbench {
  sandbox: Sandbox;
  client: Client;
  path: string;
  /** The store in use; `restart` puts another one in its place, as a new process would. */
  store: MirrorStore;
  restart(): Promise<void>;
  /** What happens upstream before each request; nothing unless a test says so. */
  meanwhile: (request: RequestNote) => void;
  /** What the client sends from now on, as after a new token in the settings. */
  useToken(token: string): void;
  /** Rows of the mirror file, through a handle of its own. */
  query<T>(sql: string): T[];
  sync(request: SyncRequest, extra?: SyncExtras): Promise<PassSummary>;
  /** The same, where a pass may be declined. */
  attempt(request: SyncRequest, extra?: SyncExtras): Promise<SyncOutcome>;
  close(): Promise<void>;
}

export interface SyncExtras {
  client?: Client;
  store?: MirrorStore;
  signal?: AbortSignal;
  onPage?: () => void;
}

export async function openWorkbench(
  options: SandboxOptions = {},
  clock: Clock = systemClock,
  limits: ClientOptions['limits'] = { pageMs: 60_000, idleMs: 30_000 },
): Promise<Workbench> {
  const folder = temporaryFolder('sync');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  const beforeRequest = async (request: RequestNote): Promise<void> => {
    await options.beforeRequest?.(request);
    bench.meanwhile(request);
  };
  const sandbox = await startSandbox({ posts: 30, pageSize: 5, ...options, beforeRequest });
  let token = new Secret('sandbox');
  const client = createClient({
    baseUrl: sandbox.url,
    auth: { kind: 'header' },
    token: () => token,
    clock,
    retry: { attempts: 3, firstDelayMs: 1, maxDelayMs: 2 },
    limits,
  });
  const open = (): MirrorStore => openMirrorStore({ path, upstream: UPSTREAM, holder: 'test' });
  const bench: Workbench = {
    sandbox,
    client,
    path,
    store: open(),
    meanwhile: () => {},
    async restart() {
      await bench.store.close();
      bench.store = open();
    },
    useToken(text) {
      token = new Secret(text);
    },
    query: <T>(sql: string) => queryFile<T>(path, sql),
    async sync(request, extras) {
      const outcome = await bench.attempt(request, extras);
      if (!outcome.done) throw new Error(outcome.reason);
      return outcome.summary;
    },
    attempt(request, { signal = new AbortController().signal, ...extras } = {}) {
      const context = { client, store: bench.store, clock, ahead: 1, onPage: () => {}, ...extras };
      return syncOnce({ ...context, signal }, request);
    },
    async close() {
      await bench.store.close();
      await client.close();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return bench;
}

/** A workbench that is put away when the test ends. */
export async function workbenchFor(
  t: TestContext,
  ...options: Parameters<typeof openWorkbench>
): Promise<Workbench> {
  const bench = await openWorkbench(...options);
  t.after(() => bench.close());
  return bench;
}

/** A workbench whose posts were swept often enough that the order of the list is trusted. */
export async function settledBench(...args: Parameters<typeof workbenchFor>): Promise<Workbench> {
  const bench = await workbenchFor(...args);
  for (let sweeps = 0; sweeps < 2; sweeps++) await bench.sync({ resource: 'posts', mode: 'sweep' });
  watchForWeeks(bench.path);
  return bench;
}

/** Requests that the upstream got meanwhile. */
export async function requestsOf(bench: Workbench, work: () => Promise<unknown>): Promise<number> {
  const before = bench.sandbox.requestCount;
  await work();
  return bench.sandbox.requestCount - before;
}

/** Stops a pass after so many pages, as Ctrl-C would. */
export function stopAfter(pages: number): Required<Pick<SyncExtras, 'signal' | 'onPage'>> {
  const controller = new AbortController();
  let left = pages;
  const onPage = (): void => {
    if (--left === 0) controller.abort(new AppError('interrupted', 'stopped by the test'));
  };
  return { signal: controller.signal, onPage };
}

export const KILLED = new Error('killed');

/** A store whose process is killed as soon as so many pages are written: nothing happens after that. */
export function killedAfter(store: MirrorStore, pages: number): MirrorStore {
  let written = 0;
  return new Proxy(store, {
    get(target, name: keyof MirrorStore) {
      const operation = target[name] as (...args: unknown[]) => unknown;
      if (name === 'lock') return operation;
      return (...args: unknown[]) => {
        if (written >= pages) throw KILLED;
        const result = operation(...args);
        if (name === 'applyPage' && ++written === pages) throw KILLED;
        return result;
      };
    },
  });
}
