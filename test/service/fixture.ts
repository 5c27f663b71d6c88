import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { loadSettings } from '../../config/load.ts';
import { type App, openApp, openQueue } from '../../src/app.ts';
import { createMetrics, type Metrics } from '../../src/base/metrics.ts';
import type { OutboxRow } from '../../src/outbox/decide/types.ts';
import { contentHash } from '../../src/outbox/decide/whose.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { type Periods, type Service, startService } from '../../src/service/service.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../laboratory/server.ts';
import { temporaryFolder } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';

/** A sandbox, a mirror in a folder of its own, and as many services on it as a test starts. */
export interface ServiceFixture {
  sandbox: Sandbox;
  folder: string;
  /** An app like a service's own, to look and to put rows in. */
  app: App;
  /** As another process would open it. */
  openApp(env?: Record<string, string>): Promise<App>;
  openQueue(): Promise<QueueBackend>;
  start(env?: Record<string, string>, periods?: Partial<Periods>): Promise<RunningService>;
  /** Puts rows into the outbox, as a command would. */
  add(...titles: string[]): Promise<number[]>;
  addTo(batch: string, ...titles: string[]): Promise<number[]>;
  row(id: number): Promise<OutboxRow>;
  /** What the upstream's own ledger says was made, by title. */
  posted(): string[];
  close(): Promise<void>;
}

export interface RunningService extends Service {
  app: App;
  backend: QueueBackend;
  metrics: Metrics;
}

export interface FixtureOptions {
  /** Null for the embedded queue. */
  queueUrl: string | null;
  sandbox?: SandboxOptions;
  env?: Record<string, string>;
}

/** What takes seconds in life takes tenths of them here. */
const QUICK: Partial<Periods> = {
  tick: 500,
  watch: 20,
  ensure: 500,
  forget: 1000,
  lock: 100,
  probe: 200,
  firstPassRetry: 300,
  lastPassRetry: 600,
  busy: 100,
  publish: 50,
};

export async function openFixture(t: TestContext, options: FixtureOptions): Promise<ServiceFixture> {
  const sandbox = await startSandbox({ posts: 12, pageSize: 5, ...options.sandbox });
  const folder = temporaryFolder('service');
  placeNewMirror(join(folder, 'mirror.db'));
  const opened: (() => Promise<void>)[] = [
    () => sandbox.close(),
    () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  ];
  const close = async (): Promise<void> => {
    for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
  };
  t.after(close);
  const base: Record<string, string> = {
    FEEDBACK_BASE_URL: sandbox.url,
    FEEDBACK_API_TOKEN: 'sandbox',
    DATA_DIR: folder,
    LOG_LEVEL: process.env.FM_TEST_LOG ?? 'silent',
    PUSH_PER_MINUTE: '60000',
    ...(options.queueUrl === null ? {} : { QUEUE_URL: options.queueUrl }),
    ...options.env,
  };
  const open = async (env: Record<string, string> = {}): Promise<App> => {
    const input = { flags: {}, env: { ...base, ...env }, cwd: folder, isTerminal: false };
    const app = await openApp(loadSettings(input), input, 'test', { isService: true });
    opened.push(() => app.close());
    return app;
  };
  const app = await open();
  const board = sandbox.world.boards()[0]?.slug ?? '';
  const addTo = async (batch: string, titles: readonly string[]): Promise<number[]> => {
    const rows = titles.map((title) => {
      const post = { board, title, content: `${title}, please.`, email: null, full_name: null };
      const key = { batch, source_key: randomUUID(), line: null };
      return { ...post, ...key, content_hash: contentHash(post) };
    });
    return (await app.outbox.accept(rows, Date.now())).map(({ id }) => id);
  };
  return {
    sandbox,
    folder,
    app,
    openApp: open,
    async openQueue() {
      const backend = await openQueue(app);
      opened.push(() => backend.close());
      return backend;
    },
    async start(env = {}, periods = {}) {
      const own = await open(env);
      const backend = await openQueue(own);
      const metrics = createMetrics();
      const service = startService(own, {
        openBackend: async () => backend,
        metrics,
        periods: { ...QUICK, ...periods },
      });
      opened.push(() => service.close());
      await service.opened;
      return { ...service, app: own, backend, metrics };
    },
    add: (...titles) => addTo('test', titles),
    addTo: (batch, ...titles) => addTo(batch, titles),
    async row(id) {
      const row = await app.outbox.find(id);
      assert.ok(row);
      return row;
    },
    posted: () => sandbox.world.ledger().map(({ title }) => title),
    close,
  };
}

/** Whether both lists have been read as a whole. */
export function hasSwept({ app }: { app: App }): boolean {
  return app.state.lastPasses().every(({ mode, finishedAt }) => mode === 'head' || finishedAt !== null);
}
