import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { loadSettings } from '../../config/load.ts';
import { mirrorOf } from '../../src/app/place.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import type { Resource } from '../../src/contract/endpoints.ts';
import { type Composed, openParts, type PartOptions } from '../../src/http/compose.ts';
import { type MirrorStore, openMirrorStore } from '../../src/mirror/store/store.ts';
import { syncOnce } from '../../src/mirror/sweep/engine.ts';
import type { Periods } from '../../src/service/service.ts';
import { ask, type Reply } from '../http/client.ts';
import { open, type Running } from '../http/service.ts';
import { type FixtureOptions, openFixture, type ServiceFixture } from '../service/fixture.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';

/** The HTTP side as the service composes it. */
export interface Site {
  http: Running;
  get<T>(path: string): Promise<T>;
  /** Whatever the answer is. */
  ask(path: string): Promise<Reply>;
  /** Sends JSON as a page of the service would, whatever the answer is. */
  send(path: string, body?: unknown): Promise<Reply>;
  post<T>(path: string, body?: unknown): Promise<T>;
}

async function openSite(t: TestContext, composed: Composed, options: PartOptions = {}): Promise<Site> {
  const { parts, close } = await openParts(composed, options);
  const http = await open(t, { progress: composed.service.progress, parts });
  // After the server, for hooks run in the order in which they were registered.
  t.after(close);
  const headers = { 'content-type': 'application/json', origin: http.url };
  const send = (path: string, body: unknown = {}): Promise<Reply> =>
    ask(http, path, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    http,
    ask: (path) => ask(http, path),
    get: async <T>(path: string) => parsed<T>(await ask(http, path)),
    send,
    post: async <T>(path: string, body?: unknown) => parsed<T>(await send(path, body)),
  };
}

function parsed<T>({ status, body }: Reply): T {
  assert.ok(status < 300, `${status}: ${body}`);
  return JSON.parse(body) as T;
}

const IDLE: Composed['service'] = {
  progress: async () => assert.fail('no service runs here'),
  queues: Promise.resolve([]),
  requestSync: async () => assert.fail('no service runs here'),
  requestExport: async () => assert.fail('no service runs here'),
  dispatch: () => undefined,
};

/** A sandbox and its mirror. */
export interface SandboxSite extends Site {
  station: ServiceFixture;
  sweep(resource?: Resource): Promise<void>;
}

export interface SandboxSiteOptions extends Partial<FixtureOptions>, PartOptions {
  clock?: Clock;
  /** Starts the service as well, on the queue of the options. */
  withService?: boolean;
  periods?: Partial<Periods>;
}

export async function openOnSandbox(t: TestContext, options: SandboxSiteOptions = {}): Promise<SandboxSite> {
  const station = await openFixture(t, { queueUrl: null, ...options });
  const { app } = station;
  const service = options.withService
    ? await station.start({ SYNC_HEAD_EVERY: 'off' }, options.periods)
    : IDLE;
  const { clock = app.clock, limitBytes } = options;
  const composed = { app: { ...app, clock }, service };
  const site = await openSite(t, composed, limitBytes === undefined ? {} : { limitBytes });
  return {
    ...site,
    station,
    async sweep(resource = 'posts') {
      const { client, store } = app;
      const context = { client, store, clock: app.clock, ahead: 1, onPage: () => {} };
      const signal = AbortSignal.timeout(30_000);
      assert.ok((await syncOnce({ ...context, signal }, { resource, mode: 'sweep' })).done);
    },
  };
}

/** A mirror that the test writes itself. */
export interface MirrorSite extends Site {
  /** To go on writing while the pages are open. */
  store: MirrorStore;
}

export async function openOnMirror(
  t: TestContext,
  write: (store: MirrorStore) => Promise<void>,
): Promise<MirrorSite> {
  const folder = folderFor(t, 'dashboard');
  const env = {
    FEEDBACK_BASE_URL: 'https://upstream.test/api',
    FEEDBACK_API_TOKEN: 'unused',
    DATA_DIR: folder,
  };
  const settings = loadSettings({ flags: {}, env, cwd: folder, isTerminal: false });
  placeNewMirror(mirrorOf(settings).path);
  const store = openMirrorStore({ ...mirrorOf(settings), holder: 'the test' });
  t.after(async () => {
    await store.close();
  });
  await write(store);
  while (await store.index());
  const log = createLogger({ level: 'silent', format: 'json', secrets: () => [] });
  return {
    ...(await openSite(t, {
      app: { settings, clock: systemClock, log, webhooks: null, rules: null },
      service: IDLE,
    })),
    store,
  };
}
