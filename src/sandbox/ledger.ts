import type { Db } from './database.ts';
import { prepare } from './listing.ts';
import { ensureUser } from './people.ts';
import { stamp } from './time.ts';

/**
 * How the client learned of a create: `yes` a whole and true answer, `error` an answer that denies it,
 * `partial` an answer that began or does not name the post, `no` nothing at all.
 */
export type Answered = 'yes' | 'no' | 'error' | 'partial';

/** One create that took effect. Times are milliseconds on the world's clock. */
export interface LedgerEntry {
  post_id: number;
  received_at: number;
  committed_at: number;
  visible_at: number;
  board: string;
  title: string;
  content: string;
  email: string;
  answered: Answered;
}

/** A create asked for through the API, already checked. */
export interface Creation {
  board: string;
  title: string;
  content: string;
  email: string;
  full_name: string;
  received_at: number;
  /** How long after its commit the lists show it. */
  visibleAfter?: number;
}

/** Writes the post and its line in the ledger in one transaction: the ledger never says more or less than the list. */
export function commit(db: Db, creation: Creation, committedAt: number, answered: Answered): number {
  return db.transaction(() => {
    const creator = ensureUser(db, creation.email, creation.full_name, committedAt);
    const visibleAt = committedAt + (creation.visibleAfter ?? 0);
    const post = prepare(
      db,
      `INSERT INTO posts (board_id, status_id, creator_id, votes_count, created, title, content)
       VALUES ((SELECT id FROM boards WHERE slug = ?), 1, ?, 1, ?, ?, ?)`,
    ).run(creation.board, creator.id, stamp(committedAt), creation.title, creation.content);
    const id = Number(post.lastInsertRowid);
    if (visibleAt > committedAt) {
      prepare(db, 'INSERT INTO hidden (post_id, visible_at) VALUES (?, ?)').run(id, visibleAt);
    }
    const { received_at, board, title, content } = creation;
    prepare(
      db,
      `INSERT INTO ledger (post_id, received_at, committed_at, visible_at, board, title, content, email, answered)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(id, received_at, committedAt, visibleAt, board, title, content, creator.email, answered);
    return id;
  })();
}

export function markAnswered(db: Db, postId: number, answered: Answered): void {
  prepare(db, 'UPDATE ledger SET answered = ? WHERE post_id = ?').run(answered, postId);
}

/** Takes a create in that will take effect at `dueAt`. It is kept in the data, so a restart does not lose it. */
export function postpone(db: Db, creation: Creation, dueAt: number, answered: Answered): void {
  prepare(
    db,
    `INSERT INTO pending (due_at, received_at, visible_after, board, title, content, email, full_name, answered)
     VALUES (@due_at, @received_at, @visible_after, @board, @title, @content, @email, @full_name, @answered)`,
  ).run({ ...creation, due_at: dueAt, visible_after: creation.visibleAfter ?? 0, answered });
}

type PendingRow = Creation & { id: number; due_at: number; visible_after: number; answered: Answered };

/**
 * Commits and shows what has come due, and says whether anything is still hidden. Called before anything is read, which
 * is as good as a timer for whoever looks, and follows any clock.
 */
export function settle(db: Db, now: number): boolean {
  const due = prepare(db, 'SELECT * FROM pending WHERE due_at <= ? ORDER BY due_at, id').all(now);
  for (const row of due as PendingRow[]) {
    db.transaction(() => {
      prepare(db, 'DELETE FROM pending WHERE id = ?').run(row.id);
      commit(db, { ...row, visibleAfter: row.visible_after }, row.due_at, row.answered);
    })();
  }
  const hidden = prepare(db, 'SELECT min(visible_at) AS next, max(visible_at) AS last FROM hidden').get();
  const { next, last } = hidden as { next: number | null; last: number | null };
  if (next === null || last === null) return false;
  if (next <= now) prepare(db, 'DELETE FROM hidden WHERE visible_at <= ?').run(now);
  return last > now;
}

export function readLedger(db: Db): LedgerEntry[] {
  return prepare(db, 'SELECT * FROM ledger ORDER BY post_id').all() as LedgerEntry[];
}
