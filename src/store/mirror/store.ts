import type { Resource } from '../../contract/endpoints.ts';
import type { Db, OpenOptions, StoreOptions } from '../db.ts';
import { columnPacker } from '../index/columns.ts';
import { isBusy, takeLock } from '../lock.ts';
import { openMirror, openMirrorReadOnly } from '../open.ts';
import { closing, scalar } from '../sql.ts';
import { passes } from './passes.ts';
import { readStatus } from './status.ts';
import type { Busy, Key, KeyFamily, Lock, MirrorStatus } from './types.ts';

export type MirrorStore = ReturnType<typeof openMirrorStore>;

/** The mirror in one SQLite file: coarse operations, each a transaction of its own. */
export function openMirrorStore(options: StoreOptions) {
  const db = openMirror(options);
  const makeFacts = factsIndex(db);
  const columns = columnPacker(db);
  const { text, ...work } = passes(db, options);
  const learned = scalar(db)<[string], string | null>('SELECT learned FROM sync_state WHERE resource = ?');
  return {
    ...work,
    /** Keeps every other process off this resource until released; the operating system releases it if we die. */
    lock: (resource: Resource): Lock | Busy =>
      takeLock(`${options.path}.${resource}.lock`, `${options.holder}, since ${new Date().toISOString()}`),
    /**
     * Brings the next rows into the full-text index, and makes what lists and reports read fast when that is done; false then. Columns
     * are packed once their list was swept: the first sweep brings the oldest rows last, and they would be packed again and again.
     */
    index(swept: Resource | null = 'posts'): boolean {
      if (swept === 'comments') return columns.step(['comments']);
      if (text.step() || (swept === 'posts' && columns.step())) return true;
      makeFacts();
      return false;
    },
    /** Forgets what reports add up: `index` makes it anew from the tables. */
    forgetColumns: columns.clear,
    /** What earlier passes learned about a list, as src/sync left it. */
    learnedOf: (resource: Resource): string | null => learned.get(resource) ?? null,
    /** Newest live row by the given key, for the high-water mark of a head pass. */
    newestKey: (resource: Resource, by: KeyFamily) => newestKey(db, resource, by),
    status: () => readStatus(db, options),
    close(): void {
      optimize(db);
      db.close();
    },
  };
}

/** Statistics for the planner, of tables that changed enough to matter. Someone who is writing is not waited for: they do the same when they close. */
function optimize(db: Db): void {
  db.pragma('busy_timeout = 0');
  try {
    db.pragma('optimize');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/** How the mirror stands, without being able to change it. */
export function readMirrorStatus(options: OpenOptions): MirrorStatus {
  return closing(openMirrorReadOnly(options), (db) => readStatus(db, options));
}

function newestKey(db: Db, resource: Resource, by: KeyFamily): Key | null {
  const order = by === 'id' ? 'id' : 'created DESC, id';
  const sql = `SELECT created, id FROM ${resource} WHERE deleted_at IS NULL ORDER BY ${order} DESC LIMIT 1`;
  return db.prepare<[], Key>(sql).get() ?? null;
}

/**
 * Everything about a post but its texts, for reports and lists. Board and status stand first, so that counting by them needs no
 * sorting, and the time next, so that new posts are added at the end of their part. Not only for live posts: an index that leaves
 * out the deleted ones is not taken for a covering one.
 *
 * It is no part of the migrations because of what it costs a first sweep: 8 us a row where rows come in with it, 1.5 us where it is
 * made in bulk when they are there.
 */
const FACTS = `CREATE INDEX IF NOT EXISTS posts_facts
  ON posts (board_id, status_id, created, votes_count, comments_count, creator_id, version_at, deleted_at)`;

/** To be called when the first rows are in; does nothing when the index stands. */
function factsIndex(db: Db): () => void {
  const exists = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'posts_facts'");
  return () => {
    if (exists.get() === undefined) sortingSparingly(db, () => db.exec(FACTS));
  };
}

/** SQLite sorts in as much memory as the cache may take: 40 MB more for a million posts, and no faster for it. */
const SORT_KB = 4000;

function sortingSparingly(db: Db, work: () => void): void {
  const usual = db.pragma('cache_size', { simple: true }) as number;
  db.pragma(`cache_size = -${SORT_KB}`);
  try {
    work();
  } finally {
    db.pragma(`cache_size = ${usual}`);
  }
}
