import { viewDrifts } from '../app/drift.ts';
import { describeSettings, mirrorOf } from '../app/place.ts';
import { openQueries } from '../app/queries.ts';
import { openSegments, openToldPeople } from '../app/segments.ts';
import { type App, openOutbox } from '../app.ts';
import { AppError } from '../base/errors.ts';
import { openChangeFeed } from '../changes/feed.ts';
import { openExportSource } from '../export/store/export.ts';
import { openSyncView } from '../mirror/store/status.ts';
import { openImportReads } from '../outbox/store/imports.ts';
import type { OutboxStore } from '../outbox/store/store.ts';
import { openOutboxView } from '../outbox/store/view.ts';
import { openSaved } from '../query/saved.ts';
import { openReplicaReads } from '../replica/replica.ts';
import { openRecentPosts } from '../search/browse/browse.ts';
import { openSamePosts } from '../search/same-posts.ts';
import type { Service } from '../service/service.ts';
import { openLiveStats } from '../state/live-stats.ts';
import { addChanges, addFeeds } from './changes.ts';
import { addAssets } from './dashboard/assets.ts';
import { addBatches } from './dashboard/batches.ts';
import { addEvents } from './dashboard/events.ts';
import { addExports } from './dashboard/exports.ts';
import { addImports, type ImportDeps } from './dashboard/imports.ts';
import { addOutbox } from './dashboard/outbox.ts';
import { addPosts } from './dashboard/posts.ts';
import { addQueues } from './dashboard/queues.ts';
import { openReads } from './dashboard/reading-pool.ts';
import { addOverviewData, addReports } from './dashboard/reports.ts';
import { addRules } from './dashboard/rules.ts';
import { addSaved } from './dashboard/saved.ts';
import { addSegments } from './dashboard/segments.ts';
import { addSql } from './dashboard/sql.ts';
import { addSync } from './dashboard/sync.ts';
import { addWebhooks } from './dashboard/webhooks.ts';
import { replica } from './replica/index.ts';
import type { HttpPart } from './server/site.ts';

interface Parts {
  parts: HttpPart[];
  close(): Promise<void>;
}

export interface Composed {
  app: Pick<App, 'settings' | 'clock' | 'log' | 'webhooks' | 'rules'>;
  service: Pick<Service, 'progress' | 'queues' | 'requestSync' | 'requestExport' | 'dispatch'>;
}

export interface PartOptions extends Pick<ImportDeps, 'limitBytes'> {
  /** Below which address the pages are. */
  mount?: string;
}

/** Statements of people that run at the same time; each is a process that may fill a core for five seconds. */
const QUERIES_AT_ONCE = 2;

/** Everything that is served beside health and metrics, with handles of its own on the mirror: the one place that knows all. */
export async function openParts(composed: Composed, options: PartOptions = {}): Promise<Parts> {
  const { settings, clock } = composed.app;
  const mirror = mirrorOf(settings);
  const opened: (() => Promise<void> | void)[] = [];
  const keep = <T extends { close(): Promise<void> | void }>(handle: T | null): T => {
    if (!handle) throw new AppError('internal', 'the mirror is gone although the service has opened it');
    opened.push(() => handle.close());
    return handle;
  };
  const close = async (): Promise<void> => {
    for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
  };
  try {
    // A handle of its own: SQLite does not report a connection's own writes to it.
    const outbox = keep(openOutbox(settings, 'start'));
    const api = replica({
      reads: keep(openReplicaReads(mirror)),
      outbox,
      clock,
      upstream: settings.baseUrl?.href ?? null,
      tokenParameter: settings.authParameter,
      dispatch: () => composed.service.dispatch(),
      readNewest: () => composed.service.requestSync('posts', 'head'),
    });
    const feed = keep(openChangeFeed(mirror, settings.source));
    const { log, webhooks, rules } = composed.app;
    const posts = keep(openRecentPosts(mirror));
    const upstream = settings.baseUrl?.href ?? null;
    const changes: HttpPart = (scope) => {
      addChanges(scope, { feed, log });
      addWebhooks(scope, { webhooks });
      addRules(scope, { rules });
      addFeeds(scope, { posts, upstream, mirrorId: feed.head().mirror });
    };
    return { parts: [api, changes, dashboard(composed, outbox, keep, options)], close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Keep = <T extends { close(): Promise<void> | void }>(handle: T | null) => T;

/** The dashboard: one document for all pages, the files it loads, the data they show, and the stream of live stats. */
function dashboard(
  { app: { settings, clock, log }, service }: Composed,
  outbox: OutboxStore,
  keep: Keep,
  { mount = '', ...options }: PartOptions,
): HttpPart {
  const { baseUrl, timeZone, deliveredStatuses: usualDelivered, dataDir: folder } = settings;
  const { exportCron, exportFormat, exportDir } = settings;
  const upstream = baseUrl?.href ?? null;
  const mirror = mirrorOf(settings);
  const [view, importReads] = [keep(openOutboxView(mirror)), keep(openImportReads(mirror))];
  const [stats, saved, same, sync] = [
    keep(openLiveStats(mirror)),
    keep(openSaved(mirror)),
    keep(openSamePosts(mirror)),
    keep(openSyncView(mirror)),
  ];
  const reads = keep(openReads(mirror));
  const [segments, toldPeople] = [keep(openSegments(settings, 'start')), keep(openToldPeople(settings))];
  const ask = openQueries(settings, QUERIES_AT_ONCE);
  const perMinute = settings.pushPerMinute;
  const sending = { view, outbox, reads: importReads, clock, upstream, perMinute };
  return async (scope, site) => {
    const source = settings.source ?? baseUrl?.host ?? 'Built-in sandbox';
    const hasLogin = settings.httpToken !== null;
    // Of several sources the one that is asked first takes the memory.
    if (mount === '')
      scope.addHook('onListen', () => reads.warm({ now: clock.now(), timeZone, usualDelivered }));
    site.setNotFoundPage(addAssets(scope, { hasLogin, source, mount, onPage: reads.wake }));
    addEvents(scope, { stats, progress: service.progress, log });
    addSql(scope, { ask, clock, folder });
    addSaved(scope, { saved, clock });
    addOutbox(scope, sending);
    addBatches(scope, sending);
    const marking = { markSetting: settings.pushMark };
    await addImports(scope, { ...sending, ...marking, mirror, folder, log, ...options });
    addSync(scope, { view: sync, service });
    addQueues(scope, service);
    const sums = { reads, clock, timeZone, usualDelivered, version: stats.version };
    addOverviewData(scope, sums);
    addReports(scope, sums);
    const schedule = { cron: exportCron, format: exportFormat, root: exportDir, timeZone };
    addExports(scope, { openSource: () => openExportSource(mirror), service, schedule, folder, clock });
    scope.get('/data/drifts', async () => ({ drifts: viewDrifts(settings) }));
    scope.get('/data/settings', async () => ({ settings: describeSettings(settings) }));
    addSegments(scope, { segments, toldPeople, reads, clock });
    addPosts(scope, { reads, same, clock, timeZone, upstream });
  };
}
