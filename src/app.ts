import type { LoadInput, Settings } from '../config/load.ts';
import type { Client } from './api/client.ts';
import { LIMIT_DEFAULTS, type RequestInfo } from './api/options.ts';
import type { RateLimit } from './api/rate-limit.ts';
import { refuseOutsideLease } from './app/lease.ts';
import { holder, mirrorOf, quietLevel, SERVICE } from './app/place.ts';
import type { Rules } from './app/rules.ts';
import type { Sweep, Sweeps } from './app/sweeps.ts';
import { findUpstream, maskedLog, openClient, sharedGate, type Upstream } from './app/upstream.ts';
import type { Webhooks } from './app/webhooks.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { makeFolder, refuseForAnybody } from './base/files.ts';
import type { Logger } from './base/log.ts';
import type { Metrics } from './base/metrics.ts';
import type { Post } from './contract/decode.ts';
import type { Pass } from './mirror/decide/types.ts';
import type { MirrorStore } from './mirror/store/store.ts';
import { openMirrorStore } from './mirror/store/store.ts';
import type { OutboxContext } from './outbox/send/context.ts';
import type { OutboxStore } from './outbox/store/store.ts';
import { openOutboxStore } from './outbox/store/store.ts';
import type { Publishing } from './publish/publisher.ts';
import type { QueueBackend } from './queue/backend.ts';
import { openServiceState, type ServiceState } from './state/state.ts';

/** Everything that is open while a command or the service works. */
export interface App {
  settings: Settings;
  clock: Clock;
  /** Sweeps in another process; null where this one does them. */
  sweep: Sweep | null;
  log: Logger;
  client: Client;
  tokenNews: Upstream['tokenNews'];
  /** Closed while the upstream wants no calls: for every process of this mirror, and after a restart. */
  gate: RateLimit;
  store: MirrorStore;
  outbox: OutboxStore;
  /** What the processes of this mirror tell each other. */
  state: ServiceState;
  /** Null in commands: the service delivers. */
  webhooks: Webhooks | null;
  /** Null in commands. */
  rules: Rules | null;
  /** The copy in PostgreSQL; null where there is none, and in commands. */
  publisher: Publishing | null;
  /** Whether a create may leave: in a fleet only while the lease is confirmed. */
  mayLeave: () => boolean;
  close(): Promise<void>;
}

interface OpenAppOptions {
  isService?: boolean;
  metrics?: Metrics;
  /** Those of all sources of the process, where there are several. */
  sweeps?: Sweeps;
  /** Given by the service. A command of a fleet sends nothing itself: the service beside it does. */
  mayLeave?: () => boolean;
}

/** Of a store that writes the pages of head passes alone: each source of the process has one, and SQLite gives a cache back with its file. */
const HEAD_CACHE_KB = 2000;

/** Opens in order, closes in reverse; what was opened before a failure is closed again. */
export async function openApp(
  settings: Settings,
  input: LoadInput,
  purpose: string,
  { isService = false, metrics, sweeps, mayLeave = () => settings.fleetUrl === null }: OpenAppOptions = {},
): Promise<App> {
  if (!isService) refuseOutsideLease(settings);
  const opened: ({ close(): unknown } | null)[] = [];
  const keep = <T extends { close(): unknown } | null>(part: T): T => {
    opened.push(part);
    return part;
  };
  const close = async (): Promise<void> => {
    while (opened.length > 0) await opened.pop()?.close();
  };
  try {
    makeFolder(settings.dataDir);
    refuseForAnybody(settings.dataDir);
    const upstream = keep(await findUpstream(settings, input, isService));
    const level = isService ? settings.logLevel : quietLevel(settings);
    const { token, log } = maskedLog(settings, upstream.token, level);
    const mirror = { ...mirrorOf(settings), holder: holder(purpose) };
    const store = keep(openMirrorStore({ ...mirror, cacheKb: sweeps && HEAD_CACHE_KB }));
    const outbox = keep(openOutboxStore(mirror));
    const state = keep(openServiceState(mirror));
    const webhooks = keep(isService ? await webhooksOf(settings, state) : null);
    const rules = keep(isService ? await rulesOf(settings, input) : null);
    const publisher = keep(isService ? await publisherOf(settings) : null);
    const gate = sharedGate(state, log);
    const onRequest = (info: RequestInfo): void => metrics?.request(info);
    const sweep = sweeps?.of(input, onRequest) ?? null;
    const { url, tokenNews } = upstream;
    const client = keep(
      openClient(settings, { url, token, log, rateLimit: gate, env: input.env, onRequest, mayLeave }),
    );
    const stores = { store, outbox, state };
    const parts = { log, client, tokenNews, gate, ...stores, webhooks, rules, publisher, mayLeave };
    return { settings, clock: systemClock, sweep, ...parts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function webhooksOf(settings: Settings, { mirrorId }: ServiceState): Promise<Webhooks> {
  const { openWebhooks } = await import('./app/webhooks.ts');
  return openWebhooks(settings, mirrorId);
}

/** Also without a rule: the first one may come while the service runs. */
async function rulesOf(settings: Settings, input: LoadInput): Promise<Rules> {
  const { openRules } = await import('./app/rules.ts');
  return openRules(settings, input);
}

/** Null without PUBLISH_URL: then nothing of it is loaded. */
async function publisherOf(settings: Settings): Promise<Publishing | null> {
  if (settings.publishUrl === null) return null;
  const { openPublisher } = await import('./app/publish.ts');
  return openPublisher(settings, settings.publishUrl);
}

/** The queue of the service; commands work without it. */
export async function openQueue({ settings, state, log }: App): Promise<QueueBackend> {
  const { openQueueBackend } = await import('./queue/backend.ts');
  return await openQueueBackend({
    url: settings.queueUrl,
    dataDir: settings.dataDir,
    mirrorId: state.mirrorId,
    log,
  });
}

/** The outbox alone, for commands that put rows in or decide about them: that takes no upstream and no token. */
export function openOutbox(settings: Settings, purpose: string): OutboxStore {
  if (purpose !== SERVICE) refuseOutsideLease(settings);
  makeFolder(settings.dataDir);
  return openOutboxStore({ ...mirrorOf(settings), holder: holder(purpose) });
}

/** What sending needs, from an open app. */
export function sendingContext(app: App, signal: AbortSignal): OutboxContext {
  const { settings, outbox, client, gate, clock, store, mayLeave } = app;
  const { createMs } = LIMIT_DEFAULTS;
  const times = { createMs, settleMs: settings.pushSettle, perMinute: settings.pushPerMinute };
  const observe = (posts: Post[]): void => writeListed(store, posts, clock.now());
  return {
    store: outbox,
    client,
    gate,
    clock,
    mayLeave,
    signal,
    ...times,
    mark: settings.pushMark,
    random: Math.random,
    observe,
  };
}

/** A few posts that were met outside a pass. While a pass is under way it brings them itself. */
export function writeListed(store: MirrorStore, rows: Post[], observedAt: number): void {
  const lock = rows.length === 0 ? null : store.lock('posts');
  if (!lock?.ok) return;
  const counts = { pages: 0, rows: 0, inserted: 0, updated: 0, unchanged: 0, quarantined: 0 };
  const pass: Pass = {
    runId: 0,
    resource: 'posts',
    mode: 'head',
    resumed: 0,
    startedAt: '',
    state: null,
    counts,
  };
  const page = { resource: 'posts', rows } as const;
  try {
    store.applyPage({
      pass,
      page,
      rejects: [],
      observedAt,
      now: observedAt,
      shown: null,
      state: null,
    });
  } finally {
    lock.release();
  }
}
