import type { Db } from '../db.ts';

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
export function factsIndex(db: Db): () => void {
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
