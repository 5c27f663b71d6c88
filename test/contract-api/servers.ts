import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createClient } from '../../src/api/client.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { systemClock } from '../../src/base/clock.ts';
import { Secret } from '../../src/base/secret.ts';
import { RESOURCES } from '../../src/contract/endpoints.ts';
import { type ReplicaDeps, replica } from '../../src/http/replica/index.ts';
import type { HttpPart } from '../../src/http/server/site.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { syncOnce } from '../../src/mirror/sweep/engine.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { openReplicaReads } from '../../src/replica/replica.ts';
import { open as openHttp } from '../http/service.ts';
import { open as openSandbox } from '../laboratory/client.ts';
import type { SandboxOptions, World } from '../laboratory/server.ts';
import { drive } from '../outbox/drive.ts';
import { folderFor } from '../support/folder.ts';

/** A server of the API, and the world that it shows. */
export interface Api {
  url: string;
  /** Where the posts are really made. */
  upstream: string;
  world: World;
}

/** Who answers the API: every test of this folder holds for each of them. */
export const SERVERS: { name: string; open(t: TestContext, options?: SandboxOptions): Promise<Api> }[] = [
  {
    name: 'the sandbox',
    async open(t, options) {
      const { url, world } = await openSandbox(t, options);
      return { url, upstream: url, world };
    },
  },
  { name: 'the mirror', open: (t, options) => openReplica(t, options) },
];

export interface Replica extends Api {
  outbox: OutboxStore;
  mirror: string;
  /** Brings the mirror up to date; done by itself before a request that reads, unless the test wants otherwise. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface ReplicaWishes extends Partial<Pick<ReplicaDeps, 'waitMs' | 'listedMs' | 'tokenParameter'>> {
  /** Whether a confirmed create has the newest posts read; a failing queue otherwise. */
  canReadNewest?: boolean;
  /** False: rows stay in the outbox. */
  isSending?: boolean;
  /** False: the mirror is only what `sync` was called for. */
  isFresh?: boolean;
  token?: string;
}

/** The mirror of a sandbox, made by the real engine, served by the real server; what is created goes out at once. */
export async function openReplica(
  t: TestContext,
  options: SandboxOptions = {},
  wishes: ReplicaWishes = {},
): Promise<Replica> {
  const { waitMs = 120_000, listedMs = 120_000, isSending = true, isFresh = true, token } = wishes;
  const { tokenParameter = null, canReadNewest = true } = wishes;
  const sandbox = await openSandbox(t, options);
  const folder = folderFor(t, 'replica');
  const mirror = join(folder, 'mirror.db');
  const place = { path: mirror, upstream: sandbox.url, holder: 'test' };
  const client = createClient({
    baseUrl: sandbox.url,
    auth: { kind: 'header' },
    token: () => new Secret('sandbox'),
  });
  const store = openMirrorStore(place);
  const stored = openOutboxStore(place);
  const { signal } = new AbortController();
  const clock = systemClock;
  const gate = createRateLimit(clock);
  const times = { createMs: 120_000, settleMs: 10, perMinute: Number.POSITIVE_INFINITY };
  const sending = { store: stored, client, gate, clock, signal, ...times, random: Math.random };
  let sent: Promise<unknown> = Promise.resolve();
  const outbox: OutboxStore = {
    ...stored,
    accept(rows, now) {
      const taken = stored.accept(rows, now);
      if (isSending) sent = sent.then(() => drive(sending, { batch: null, perMinute: 1e9 }));
      return taken;
    },
  };
  // The last row of a list counts as deleted after four sweeps.
  const sync = async (): Promise<void> => {
    for (const resource of Array.from({ length: 4 }, () => RESOURCES).flat())
      await syncOnce(
        { client, store, clock, signal, ahead: 1, onPage: () => {} },
        { resource, mode: 'sweep', wait: true },
      );
  };
  const changes = sandbox.world.db.prepare<[], number>('SELECT total_changes()').pluck();
  let synced = -1;
  const syncIfChanged = async (): Promise<void> => {
    const now = changes.get() ?? 0;
    if (now !== synced) await sync();
    synced = now;
  };
  await syncIfChanged();
  const reads = openReplicaReads(place);
  const readNewest = async (): Promise<void> => {
    if (!canReadNewest) throw new Error('the queue is away');
    await syncOnce(
      { client, store, clock, signal, ahead: 1, onPage: () => {} },
      { resource: 'posts', mode: 'head', wait: true },
    );
  };
  const timing = { waitMs, listedMs, pageSize: options.pageSize ?? 100 };
  const deps = { reads, outbox, clock, upstream: sandbox.url, tokenParameter, readNewest, ...timing };
  const part: HttpPart = async (app) => {
    if (isFresh)
      app.addHook('onRequest', async ({ method }) => (method === 'GET' ? syncIfChanged() : undefined));
    await replica(deps)(app);
  };
  // Whoever has the wrong token is answered late, which takes a test half a minute.
  const inTime = { ...clock, sleep: async () => undefined };
  const http = await openHttp(t, { parts: [part], clock: inTime, ...(token === undefined ? {} : { token }) });
  t.after(async () => {
    await http.close();
    await sent;
    await reads.close();
    await stored.close();
    await store.close();
    await client.close();
  });
  return {
    url: http.url,
    upstream: sandbox.url,
    world: sandbox.world,
    outbox: stored,
    mirror,
    sync,
    close: http.close,
  };
}
