import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';

/**
 * Indexes that are made in bulk when the rows of the first sweep are in, which takes a third of the time that adding row by row would. A
 * new mirror has all but the first by its migrations; it drops them before that sweep.
 */
const INDEXES = {
  /**
   * Everything about a post but its texts, for lists. Board and status stand first, so that counting by them needs no sorting, and the
   * time next, so that new posts are added at the end of their part. Not only for live posts: an index that leaves out the deleted ones
   * is not taken for a covering one.
   */
  posts_facts:
    'posts (board_id, status_id, created, votes_count, comments_count, creator_id, version_at, deleted_at)',
  posts_by_created: 'posts (created, deleted_at)',
  posts_by_votes: 'posts (votes_count)',
  posts_by_url: 'posts (url) WHERE instr(url, id) = 0',
  users_by_email: 'users (email COLLATE NOCASE)',
};

export function lateIndexes(db: Db) {
  const names = Object.keys(INDEXES);
  const present = scalar(db)<[string], string>(
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND name IN (SELECT value FROM json_each(?))",
  );
  return {
    /** To be called before the first rows come in. */
    putOff(): void {
      for (const name of names) db.exec(`DROP INDEX IF EXISTS ${name}`);
    },
    /** Makes the next one that is missing; false when none is. */
    step(): boolean {
      const there = new Set(present.all(JSON.stringify(names)));
      const missing = Object.entries(INDEXES).find(([name]) => !there.has(name));
      if (!missing) return false;
      const [name, columns] = missing;
      sortingSparingly(db, () => db.exec(`CREATE INDEX IF NOT EXISTS ${name} ON ${columns}`));
      return true;
    },
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
