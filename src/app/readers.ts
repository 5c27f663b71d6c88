import { type SettingLine, type Settings, secretsOf, settingLines } from '../../config/load.ts';
import { createLogger, type Logger } from '../base/log.ts';
import { type ChangeFeed, openChangeFeed } from '../changes/feed.ts';
import type { OpenOptions } from '../db/open.ts';
import { type ExportSource, openExportSource } from '../export/store/export.ts';
import type { MirrorStatus } from '../mirror/decide/types.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { openSyncView, type SyncView } from '../mirror/store/status.ts';
import { readMirrorStatus } from '../mirror/store/store.ts';
import { type ImportReads, openImportReads } from '../outbox/store/imports.ts';
import { type OutboxView, openOutboxView } from '../outbox/store/view.ts';
import { limitQueries, type QueryPart, type QueryRequest } from '../query/run.ts';
import { openSaved, type SavedItems } from '../query/saved.ts';
import { refuseTooMany } from '../query/together.ts';
import { openReplicaReads, type ReplicaReads } from '../replica/replica.ts';
import { openReportReader, type ReportReader } from '../reports/store.ts';
import { openRecentPosts, type RecentPosts } from '../search/browse/browse.ts';
import { openSamePosts, type SamePosts } from '../search/same-posts.ts';
import { openSearchReads, type SearchReads } from '../search/search.ts';
import { type LiveStatsReader, openLiveStats } from '../state/live-stats.ts';
import { mirrorOf } from './place.ts';

/** The outbox for commands that only look; null where nothing was ever written. */
export function viewOutbox(settings: Settings): OutboxView | null {
  return openOutboxView(mirrorOf(settings));
}

/** How the mirror follows its upstream, for the dashboard. */
export function viewSync(settings: Settings): SyncView {
  return openSyncView(mirrorOf(settings));
}

/** The change feed, for those who follow the mirror. */
export function openFeed(settings: Settings): ChangeFeed {
  return openChangeFeed(mirrorOf(settings), settings.source);
}

/** The newest posts, for feed readers. */
export function openRecent(settings: Settings): RecentPosts {
  return openRecentPosts(mirrorOf(settings));
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
  openMirrorReadOnly(mirrorOf(settings)).close();
  return (ask, signal) => run({ ...ask, path }, signal);
}

/** SQL on the mirrors of several sources at once. */
export function openQueriesTogether(all: readonly Settings[]): AskMirror {
  refuseTooMany(all);
  const path = all.map((settings) => {
    openMirrorReadOnly(mirrorOf(settings)).close();
    return { name: settings.source ?? '', path: mirrorOf(settings).path };
  });
  const run = limitQueries(1);
  return (ask, signal) => run({ ...ask, path }, signal);
}

/** The statements and views that people keep in the mirror. */
export function savedItems(settings: Settings): SavedItems {
  return openSaved(mirrorOf(settings));
}

/** The posts that people hold to be the same. */
export function samePosts(settings: Settings): SamePosts {
  return openSamePosts(mirrorOf(settings));
}

/** The few numbers that the pages of the dashboard watch. */
export function watchStats(settings: Settings): LiveStatsReader {
  return openLiveStats(mirrorOf(settings));
}

/** What reports ask the mirror. */
export function readForReports(settings: Settings, onProgress?: (share: number) => void): ReportReader {
  return openReportReader(mirrorOf(settings), onProgress);
}

/** The status of the mirror, for commands that only read it. */
export function lookAtMirror(settings: Settings): MirrorStatus {
  return readMirrorStatus(mirrorOf(settings));
}

/** A snapshot of the mirror for exports. Close it soon: until then SQLite cannot reset the write-ahead log. */
export function exportSource(settings: Settings): ExportSource {
  return openExportSource(mirrorOf(settings));
}

/** The effective settings as people read them, secrets masked. */
export function describeSettings(settings: Settings): SettingLine[] {
  return settingLines(settings);
}

/** Which file is read, for readers in threads of their own. */
export function fileOf(settings: Settings): OpenOptions {
  return mirrorOf(settings);
}

/** Where calls of agents are logged: stderr, because stdout carries the protocol. */
export function mcpLog(settings: Settings): Logger {
  const { logLevel: level, logFormat: format } = settings;
  return createLogger({ level, format, secrets: () => secretsOf(settings) });
}
