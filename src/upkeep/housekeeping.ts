import { iso } from '../base/clock.ts';
import { type Db, emptyLog, type OpenOptions } from '../db/open.ts';
import { closeAfter, scalar } from '../db/sql.ts';
import { ENDED } from '../mirror/decide/types.ts';
import { openMirror } from '../mirror/file/open.ts';
import { pruneChanges } from '../mirror/log/change-log.ts';

export const HOUSEKEEPING = [
  'trim the log of passes',
  'trim the change feed',
  'merge the search indexes',
  'renew statistics',
  'shorten the write-ahead log',
] as const;
type HousekeepingStep = (typeof HOUSEKEEPING)[number];

export interface HousekeepingRequest extends OpenOptions {
  step: HousekeepingStep;
  now: number;
  /** How long changes are kept. */
  changesKeepMs: number;
}

/** Nothing that status, reports or the measure of the list's delay look at is older, or further back. */
const KEEP_RUNS = 1000;
const KEEP_RUNS_MS = 30 * 86_400_000;
/** Rows removed in one transaction: another writer waits a few milliseconds. */
const TRIM_STEP = 1000;

/** One piece of work on the file; returns how many rows or pages it was about. */
export function doHousekeeping(request: HousekeepingRequest): number {
  return closeAfter(openMirror(request), (db) => STEPS[request.step](db, request));
}

const STEPS: Record<HousekeepingStep, (db: Db, request: HousekeepingRequest) => number> = {
  'trim the log of passes': (db, { now }) => trimRuns(db, now),
  'trim the change feed': (db, { now, changesKeepMs: keepMs }) => pruneChanges(db, { now, keepMs }),
  'merge the search indexes': mergeIndexes,
  'renew statistics'(db) {
    // All tables: without the flag only those that this connection, new as it is, has asked before.
    db.pragma('optimize = 0x10002');
    return 0;
  },
  'shorten the write-ahead log': (db) => emptyLog(db).checkpointed,
};

function trimRuns(db: Db, now: number): number {
  const newestToGo = scalar(db)<[number], number>(`
    SELECT id FROM sync_runs ORDER BY id DESC LIMIT 1 OFFSET ?`).get(KEEP_RUNS);
  if (newestToGo === undefined) return 0;
  const before = iso(now - KEEP_RUNS_MS);
  // The last complete pass of each kind stays, however old: freshness is read from it.
  const remove = db.prepare<{ id: number; before: string; limit: number }>(`
    DELETE FROM sync_runs WHERE id IN (
      SELECT id FROM sync_runs
       WHERE id <= $id AND started_at < $before AND outcome <> 'running'
         AND id NOT IN (SELECT run_id FROM sync_state WHERE run_id IS NOT NULL)
         AND id NOT IN (SELECT run_id FROM sweep_pages)
         AND id NOT IN (SELECT max(id) FROM sync_runs WHERE ${ENDED} GROUP BY resource, mode)
       ORDER BY id LIMIT $limit)`);
  let removed = 0;
  for (let n = TRIM_STEP; n === TRIM_STEP; removed += n)
    n = remove.run({ id: newestToGo, before, limit: TRIM_STEP }).changes;
  return removed;
}

/** Pages of an index that one transaction merges: some tens of milliseconds. */
const MERGE_STEP = 250;

/** A first sweep leaves many pieces of the index: with a hundred, posts like another took five times as long to find. A million merge in 7 s. */
function mergeIndexes(db: Db): number {
  const changes = scalar(db)<[], number>('SELECT total_changes()');
  let pages = 0;
  for (const index of ['posts_text', 'comments_text']) {
    const merge = db.prepare<[number]>(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`);
    // A negative number of pages has SQLite begin with all pieces, and not only with those that are due.
    for (let step = -MERGE_STEP, before = -2; (changes.get() ?? 0) - before >= 2; step = MERGE_STEP) {
      before = changes.get() ?? 0;
      merge.run(step);
      pages += MERGE_STEP;
    }
  }
  return pages;
}
