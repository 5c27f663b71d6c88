import Database from 'better-sqlite3';
import type { Reader, Row } from './conformance/mirror.ts';

/** Reads a mirror as anyone with SQL would: through its tables and views, on a handle of its own. */
export function sqliteReader(path: string): Reader {
  return {
    table: (name) => query(path, `SELECT * FROM ${name} ORDER BY id`),
    postHistory: (id) => query(path, `SELECT * FROM post_history WHERE post_id = ? ORDER BY observed_at`, id),
    commentHistory: (id) =>
      query(path, 'SELECT * FROM comment_history WHERE comment_id = ? ORDER BY observed_at', id),
    search: (words) => query(path, SEARCH, words).map((row) => row.id as number),
    checkTextIndex: () => checkTextIndex(path),
    votesAt: (id, at) => (query(path, VOTES_AT, id, at)[0]?.votes_count ?? null) as number | null,
    statusChanges: (id) => query(path, STATUS_CHANGES, id) as { at: string; status_id: number }[],
    timeInStatus: (id, until) =>
      Object.fromEntries(query(path, TIME_IN_STATUS, until, id, until).map((r) => [r.status_id, r.ms])),
  };
}

const SEARCH = `
  SELECT p.id FROM posts_text t JOIN posts p ON p.id = t.rowid
   WHERE t.posts_text MATCH ? AND p.deleted_at IS NULL ORDER BY p.id`;

const VOTES_AT = `
  SELECT votes_count FROM post_history WHERE post_id = ? AND observed_at <= ? ORDER BY observed_at DESC LIMIT 1`;

const STATUS_CHANGES = `
  SELECT observed_at AS at, status_id
    FROM (SELECT observed_at, status_id, lag(status_id) OVER (ORDER BY observed_at) AS before
            FROM post_history WHERE post_id = ?)
   WHERE before IS NOT status_id ORDER BY observed_at`;

const TIME_IN_STATUS = `
  SELECT status_id, CAST(round(sum(julianday(until) - julianday(observed_at)) * 86400000) AS INTEGER) AS ms
    FROM (SELECT status_id, deleted, observed_at, lead(observed_at, 1, ?) OVER (ORDER BY observed_at) AS until
            FROM post_history WHERE post_id = ? AND observed_at < ?)
   WHERE deleted = 0 GROUP BY status_id`;

function query(path: string, sql: string, ...values: (string | number)[]): Row[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare<(string | number)[], Row>(sql).all(...values);
  } finally {
    db.close();
  }
}

/** With 1, the index is compared with the texts in posts, and not only with itself. */
function checkTextIndex(path: string): void {
  const db = new Database(path);
  try {
    db.exec("INSERT INTO posts_text (posts_text, rank) VALUES ('integrity-check', 1)");
  } finally {
    db.close();
  }
}
