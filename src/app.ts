import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadInput, liveToken, type Settings, secretsOf } from '../config/load.ts';
import { type Client, type ClientOptions, createClient } from './api/client.ts';
import { createGate, type Gate } from './api/gate.ts';
import { LIMIT_DEFAULTS } from './api/options.ts';
import { watchForOutage } from './api/outage.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { AppError, codeOf, messageOf } from './base/errors.ts';
import { keepHeapFlat } from './base/heap.ts';
import { createLogger, type Logger } from './base/log.ts';
import type { Metrics } from './base/metrics.ts';
import { Secret } from './base/secret.ts';
import type { Patient } from './doctor/examine.ts';
import { eraseExpired, type Retained } from './erasure/retention.ts';
import type { OutboxContext } from './outbox/push.ts';
import type { QueryPart, QueryRequest } from './query/run.ts';
import { limitQueries } from './query/slots.ts';
import type { QueueBackend } from './queue/backend.ts';
import { type Backup, backUp, keepBackup, keptBackup } from './store/backup.ts';
import { doChore } from './store/chores.ts';
import { type OpenOptions, openForReading } from './store/db.ts';
import type { ErasureStore } from './store/erasure/seam.ts';
import { openSqliteErasure } from './store/erasure/sqlite.ts';
import { type ExportSource, openExportSource } from './store/export.ts';
import { type Tidying, tidy } from './store/housekeeping.ts';
import { takeLock } from './store/lock.ts';
import type { MirrorStatus, MirrorStore } from './store/mirror/seam.ts';
import { openSqliteStore, readMirrorStatus } from './store/mirror/sqlite.ts';
import { openSyncView, type SyncView } from './store/mirror/view.ts';
import { type ImportReads, openImportReads } from './store/outbox/import-reads.ts';
import type { OutboxStore } from './store/outbox/seam.ts';
import { openSqliteOutbox } from './store/outbox/sqlite.ts';
import { type OutboxView, openOutboxView } from './store/outbox/view.ts';
import { openPulse, type PulseReader } from './store/pulse.ts';
import { openReplicaReads, type ReplicaReads } from './store/replica.ts';
import { openReportReader, type ReportReader } from './store/reports.ts';
import { openSavedQueries, type SavedQueries } from './store/saved-queries.ts';
import { openSearchReads, type SearchReads } from './store/search.ts';
import { openServiceState, type ServiceState } from './store/service-state.ts';

/** Everything that is open while a command or the service works. */
export interface App {
  settings: Settings;
  clock: Clock;
  log: Logger;
  client: Client;
  /** Closed while the upstream wants no calls: for every process of this mirror, and after a restart. */
  gate: Gate;
  store: MirrorStore;
  outbox: OutboxStore;
  /** What the processes of this mirror tell each other. */
  state: ServiceState;
  close(): Promise<void>;
}

/** The name under which a mirror of the built-in sandbox knows its upstream; its port is another one each time. */
const SANDBOX = 'the built-in sandbox';

/** Opens in order, closes in reverse; what was opened before a failure is closed again. */
export async function openApp(
  settings: Settings,
  input: LoadInput,
  purpose: string,
  { isService = false, metrics }: { isService?: boolean; metrics?: Metrics } = {},
): Promise<App> {
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
  };
  try {
    keepHeapFlat();
    mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
    const upstream = await findUpstream(settings, input, isService);
    opened.push(upstream.close);
    const seen = new Set(secretsOf(settings));
    const token = (): Secret => {
      const current = upstream.token();
      seen.add(current);
      return current;
    };
    const log = createLogger({
      level: isService ? settings.logLevel : quietLevel(settings),
      format: settings.logFormat,
      secrets: () => [...seen],
    });
    const mirror = { ...mirrorOf(settings), holder: holder(purpose) };
    const store = openSqliteStore(mirror);
    opened.push(() => store.close());
    const outbox = openSqliteOutbox(mirror);
    opened.push(() => outbox.close());
    const state = openServiceState(mirror);
    opened.push(async () => state.close());
    const gate = sharedGate(state, log);
    const onRequest: ClientOptions['onRequest'] = (info) => metrics?.request(info);
    const client = openClient(settings, { url: upstream.url, token, log, gate, onRequest });
    opened.push(() => client.close());
    return { settings, clock: systemClock, log, client, gate, store, outbox, state, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A note that cannot be read or written must not turn an answer of the upstream into an unclear one. */
function sharedGate(state: ServiceState, log: Logger): Gate {
  const kept = <T>(work: () => T, instead: T): T => {
    try {
      return work();
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'when the upstream may be called is not shared');
      return instead;
    }
  };
  const memory = {
    read: () => kept(() => state.closedUntil(), 0),
    write: (until: number) => kept(() => state.closeUntil(until), undefined),
  };
  return createGate(0, { memory, outage: watchForOutage() });
}

/** The queue of the service; commands work without it. */
export async function openQueue({ settings, state, log }: App): Promise<QueueBackend> {
  const { openQueueBackend } = await import('./queue/backend.ts');
  return await openQueueBackend({
    url: settings.queueUrl,
    folder: join(settings.dataDir, 'queue'),
    mirrorId: state.mirrorId,
    log,
    takeLock: (path) => takeLock(path, `${holder('start')}, since ${new Date().toISOString()}`),
  });
}

/** One piece of housekeeping on the mirror's file. */
export async function tidyMirror({ settings, clock }: App, step: Tidying): Promise<number> {
  return await tidy({ ...mirrorOf(settings), step, now: clock.now() });
}

/** The outbox alone, for commands that put rows in or decide about them: that takes no upstream and no token. */
export function openOutbox(settings: Settings, purpose: string): OutboxStore {
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  return openSqliteOutbox({ ...mirrorOf(settings), holder: holder(purpose) });
}

/** What sending needs, from an open app. */
export function sendingContext({ settings, outbox, client, clock }: App, signal: AbortSignal): OutboxContext {
  const { createMs } = LIMIT_DEFAULTS;
  const settleMs = settings.pushSettle;
  return { store: outbox, client, clock, signal, createMs, settleMs, random: Math.random };
}

/** The outbox for commands that only look; null where nothing was ever written. */
export function viewOutbox(settings: Settings): OutboxView | null {
  return openOutboxView(mirrorOf(settings));
}

/** How the mirror follows its upstream, for the dashboard. */
export function viewSync(settings: Settings): SyncView {
  return openSyncView(mirrorOf(settings));
}

/** The full-text search of the mirror's posts. */
export function openSearch(settings: Settings): SearchReads {
  return openSearchReads(mirrorOf(settings));
}

/** The mirror as the upstream's own API shows it. */
export function openReplica(settings: Settings): ReplicaReads {
  return openReplicaReads(mirrorOf(settings));
}

/** What an import asks the mirror and the outbox; null where there is neither. */
export function readsForImport(settings: Settings): ImportReads | null {
  return openImportReads(mirrorOf(settings));
}

export type AskMirror = (
  ask: Omit<QueryRequest, 'path'>,
  signal?: AbortSignal,
) => AsyncGenerator<QueryPart, void, undefined>;

/** SQL from people on the mirror: each statement in a process of its own, at most so many at the same time. */
export function openQueries(settings: Settings, atOnce: number): AskMirror {
  const run = limitQueries(atOnce);
  const { path } = mirrorOf(settings);
  openForReading(mirrorOf(settings)).close();
  return (ask, signal) => run({ ...ask, path }, signal);
}

/** The statements that people keep in the mirror. */
export function keptQueries(settings: Settings): SavedQueries {
  return openSavedQueries(mirrorOf(settings));
}

/** The few numbers that the pages of the dashboard watch. */
export function watchPulse(settings: Settings): PulseReader {
  return openPulse(mirrorOf(settings));
}

/** Which file is read, for readers in threads of their own. */
export function fileOf(settings: Settings): OpenOptions {
  return mirrorOf(settings);
}

/** What reports ask the mirror. */
export function readForReports(settings: Settings): ReportReader {
  return openReportReader(mirrorOf(settings));
}

/** How the mirror stands, for commands that only look. */
export function lookAtMirror(settings: Settings): MirrorStatus {
  return readMirrorStatus(mirrorOf(settings));
}

/** The mirror as it is now, to be exported; to be closed soon, as it keeps the write-ahead log from starting over. */
export function exportSource(settings: Settings): ExportSource {
  return openExportSource(mirrorOf(settings));
}

/** Erasing people and old rows from the mirror, and rewriting its file afterwards. */
export interface Erasure {
  store: ErasureStore;
  /** False when somebody kept reading or writing: what was erased may still lie in unused parts of the file. */
  compact(signal: AbortSignal): Promise<boolean>;
}

export function openErasure(settings: Settings, purpose: string): Erasure {
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  const mirror = mirrorOf(settings);
  return {
    store: openSqliteErasure({ ...mirror, holder: holder(purpose) }),
    async compact(signal) {
      try {
        return (await doChore({ chore: 'compact', ...mirror }, signal)).isClean;
      } catch (error) {
        if (codeOf(error) === 'busy') return false;
        throw error;
      }
    },
  };
}

/** Erases the deleted rows whose time is up, for the housekeeping of the service. */
export async function eraseExpiredRows({ settings, clock }: App, signal: AbortSignal): Promise<Retained> {
  const { store, compact } = openErasure(settings, 'retention');
  try {
    return await eraseExpired(store, { keepMs: settings.retentionDeleted, clock, signal, compact });
  } finally {
    await store.close();
  }
}

/** A checked copy of the mirror. */
export async function backUpMirror(
  settings: Settings,
  to: string,
  options: { force: boolean; signal?: AbortSignal },
): Promise<Backup> {
  return await backUp(mirrorOf(settings), to, options);
}

/** Renews the one checked copy that the service keeps in the data folder. */
export async function keepMirrorBackup(settings: Settings, signal?: AbortSignal): Promise<Backup> {
  return await keepBackup(mirrorOf(settings), join(settings.dataDir, 'backup'), signal);
}

/** After an erasure: a copy from before it must not stay. False where there was none. */
export async function renewMirrorBackup(settings: Settings, signal?: AbortSignal): Promise<boolean> {
  const old = keptBackup(join(settings.dataDir, 'backup'));
  if (!existsSync(old)) return false;
  rmSync(old);
  await keepMirrorBackup(settings, signal);
  return true;
}

/** Everything a doctor looks at; nothing is opened before it is looked at, and nothing is made. */
export function patientOf(settings: Settings, input: LoadInput): Patient {
  const { dataDir, baseUrl, queueUrl, httpHost: host, httpPort: port, httpToken } = settings;
  const firstPage = async (signal: AbortSignal) => {
    const retry = { attempts: 1, patienceMs: 0 };
    const client = openClient(settings, {
      url: baseUrl?.href ?? '',
      token: realToken(settings, input),
      retry,
    });
    try {
      return await client.page('posts', '', signal);
    } finally {
      await client.close();
    }
  };
  return {
    dataDir,
    mirror: mirrorOf(settings),
    upstream: baseUrl && { host: baseUrl.host, firstPage },
    queue: queueUrl
      ? { kind: 'server', tryIt: () => tryQueue(settings) }
      : { kind: 'embedded', lock: join(dataDir, 'queue.lock') },
    service: { host, port, token: httpToken },
  };
}

async function tryQueue(settings: Settings): Promise<void> {
  const { openQueueBackend } = await import('./queue/backend.ts');
  const level = quietLevel(settings);
  const log = createLogger({ level, format: settings.logFormat, secrets: () => secretsOf(settings) });
  const folder = join(settings.dataDir, 'queue');
  const takeNone = () => ({ ok: false as const, holder: 'nobody' });
  const url = settings.queueUrl;
  const backend = await openQueueBackend({ url, folder, mirrorId: 'doctor', log, takeLock: takeNone });
  try {
    await backend.ping(5000);
  } finally {
    await backend.close();
  }
}

function holder(purpose: string): string {
  return `process ${process.pid} (${purpose})`;
}

function mirrorOf({ mirrorPath, dataDir, baseUrl }: Settings): Required<OpenOptions> {
  const upstream = baseUrl ? baseUrl.href.replace(/\/+$/, '') : SANDBOX;
  return { path: mirrorPath, upstream, keyFile: join(dataDir, 'suppression.key') };
}

interface Upstream {
  url: string;
  token: () => Secret;
  close: () => Promise<void>;
}

/** The service of the settings; without one, the sandbox in this process, on a file beside the mirror. */
async function findUpstream(settings: Settings, input: LoadInput, live: boolean): Promise<Upstream> {
  if (settings.baseUrl)
    return { url: settings.baseUrl.href, token: realToken(settings, input), close: async () => {} };
  const { startSandbox } = await import('./sandbox/server.ts');
  const token = new Secret(randomUUID());
  const owner = { token: token.reveal(), email: 'owner@example.com', name: 'Sandbox Owner' };
  const sandbox = await startSandbox({
    data: join(settings.dataDir, 'sandbox.db'),
    posts: 500,
    referenceTime: Date.now(),
    tokens: [owner],
    live,
  });
  return { url: sandbox.url, token: () => token, close: () => sandbox.close() };
}

function realToken(settings: Settings, input: LoadInput): () => Secret {
  if (settings.token) return liveToken(input, settings.token);
  throw new AppError('usage', `there is no token for ${settings.baseUrl?.host ?? 'the upstream'}`, {
    hint: 'Set FEEDBACK_API_TOKEN, or FEEDBACK_API_TOKEN_FILE to the path of a file that holds it.',
  });
}

function openClient(
  settings: Settings,
  { url, ...rest }: Pick<ClientOptions, 'token' | 'log' | 'gate' | 'onRequest' | 'retry'> & { url: string },
): Client {
  const { auth, authParameter, pageParameter, cursorParameter } = settings;
  return createClient({
    baseUrl: url,
    auth:
      auth === 'query' && authParameter ? { kind: 'query', parameter: authParameter } : { kind: 'header' },
    pageParameter,
    cursorParameter,
    ...rest,
  });
}

/** A command that prints its own result is quiet unless something is wrong or the person asked for more. */
function quietLevel({ logLevel: level, sources }: Settings): string {
  return sources.logLevel === 'default' ? 'warn' : level;
}
