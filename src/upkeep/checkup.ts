import { statSync } from 'node:fs';
import { versionOf } from '../db/migrate.ts';
import { type Db, type OpenOptions, openForReading } from '../db/open.ts';
import { countRows, scalar, sqliteVersion } from '../db/sql.ts';
import type { OlderCopy, ResourceStatus, UnreadableList } from '../mirror/decide/types.ts';
import { olderCopyOf } from '../mirror/file/older-copy.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { wronglyPacked } from '../mirror/index/columns.ts';
import { unindexedPosts } from '../mirror/index/text-index.ts';
import { readStatus } from '../mirror/store/status.ts';
import { unreadableList } from '../mirror/suppression/list.ts';
import { type RefusedBoard, refusedBoards } from '../outbox/store/refused.ts';
import { troubledWebhooks, type WebhookState } from '../webhooks/store.ts';

/** What can be told about the file itself without changing it. */
export interface Checkup {
  sqlite: string;
  schema: number;
  bytes: number;
  walBytes: number;
  /** What SQLite found broken, in its own words; empty when nothing is. Null where the file is too large to be read whole by the way. */
  faults: string[] | null;
  /** How long it looked. */
  ms: number;
  /** Posts that the full-text index does not have yet. */
  unindexed: number;
  /** Tables of which reports would add up something else than they have; null where they were not added up. */
  wronglyPacked: string[] | null;
  olderCopy: OlderCopy | null;
  unreadableList: UnreadableList | null;
  /** Boards to which nothing is sent. */
  refused: RefusedBoard[];
  /** Rows of the outbox that only a person can decide about, and second posts that no person has looked at. */
  undecided: number;
  duplicates: number;
  /** Rows of which the check after a sweep found that they may have left another post, and which no person has looked at. */
  doubtful: number;
  /** Rows that were sent before the last complete sweep began, which did not list their posts, and no pass before it. */
  unlisted: number;
  /** What an operator should know about each list. */
  lists: Pick<ResourceStatus, 'resource' | 'notes' | 'isIncomplete'>[];
  /** Webhook endpoints that are disabled or failing. */
  webhooks: WebhookState[];
}

/** About 50,000 posts. Reading all of a larger file takes more than two seconds. */
const READ_WHOLE = 100_000_000;

/** Reads every page of a file that is not large. Of a large one it does so only if it is asked to: that takes 20 s a gigabyte. */
export function checkUp(options: OpenOptions, isDeep = false): Checkup {
  // The doctor changes nothing, so it refuses a mirror of an older schema.
  openForReading(options).close();
  const db = openMirrorReadOnly(options);
  try {
    const begin = performance.now();
    const { resources } = readStatus(db, options);
    const isWhole = isDeep || sizeOf(options.path) <= READ_WHOLE;
    const faults = isWhole ? [...brokenPages(db), ...brokenReferences(db)] : null;
    return {
      sqlite: sqliteVersion(db),
      schema: versionOf(db),
      bytes: sizeOf(options.path),
      walBytes: sizeOf(`${options.path}-wal`),
      faults,
      ms: performance.now() - begin,
      unindexed: unindexedPosts(db),
      wronglyPacked: isWhole ? wronglyPacked(db) : null,
      olderCopy: olderCopyOf(db, options),
      unreadableList: unreadableList(db, options),
      refused: refusedBoards(db).wanted(),
      undecided: countRows(db, "outbox WHERE state = 'uncertain'"),
      duplicates: countRows(db, 'outbox WHERE duplicate_of IS NOT NULL'),
      doubtful: countRows(db, DOUBTFUL),
      unlisted: countRows(db, UNLISTED),
      lists: resources.map(({ resource, notes, isIncomplete }) => ({ resource, notes, isIncomplete })),
      webhooks: troubledWebhooks(db),
    };
  } finally {
    db.close();
  }
}

const MOST_FAULTS = 5;

// Those that `outbox list` names below its table.
const DOUBTFUL = `
  outbox o WHERE state IN ('confirmed', 'rejected', 'cancelled') AND duplicate_of IS NULL AND coalesce(matched, '') <> 'person'
   AND EXISTS (SELECT 1 FROM json_each(o.candidates) WHERE value IS NOT o.post_id)`;

const UNLISTED = `
  outbox o WHERE state = 'confirmed' AND erased_at IS NULL AND NOT EXISTS (SELECT 1 FROM posts WHERE id = o.post_id)
   AND changed_at < (SELECT max(started_at) FROM sync_runs WHERE resource = 'posts' AND mode = 'sweep' AND outcome = 'complete')`;

function brokenPages(db: Db): string[] {
  const rows = scalar(db)<[], string>(`PRAGMA quick_check(${MOST_FAULTS})`).all();
  return rows.filter((row) => row !== 'ok');
}

function brokenReferences(db: Db): string[] {
  const faults: string[] = [];
  for (const { table, rowid, parent } of db
    .prepare<[], { table: string; rowid: number | null; parent: string }>('PRAGMA foreign_key_check')
    .iterate()) {
    faults.push(`row ${rowid ?? '?'} of ${table} points to a row of ${parent} that is not there`);
    if (faults.length === MOST_FAULTS) break;
  }
  return faults;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
