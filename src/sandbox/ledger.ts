import type { Clock } from '../base/clock.ts';
import { ensureUser } from './access.ts';
import { type Behaviour, createdAt, folded } from './behaviour.ts';
import type { Db } from './database.ts';
import { prepare } from './listing.ts';
import type { Random } from './random.ts';
import { rewrite } from './rewrite.ts';
import { stamp } from './wire.ts';

/**
 * How the client learned of a create: `yes` a whole and true answer, `error` an answer that denies it,
 * `partial` an answer that began or does not name the post, `no` nothing at all.
 */
export type Answered = 'yes' | 'no' | 'error' | 'partial';

/** One create that took effect, in the words of the client. Times are milliseconds on the world's clock. */
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
  /** The kinds of rewriting that changed the words before they were kept, with commas between them. */
  rewritten: string;
  /** Equal for two creates that asked for the same: the same board, words and person. */
  identity: string;
}

/** A create asked for through the API, already checked, in the words of the client. */
export interface Creation {
  board: string;
  title: string;
  content: string;
  email: string;
  full_name: string;
  owner: { email: string; name: string };
  received_at: number;
  /** How long after its commit the lists show it. */
  visibleAfter?: number;
}

/** What a create is kept in: the world, as far as it matters here. */
interface Store {
  db: Db;
  clock: Clock;
  behaviour: Behaviour;
  draws: Random;
  boards(): { id: number; slug: string }[];
}

/** The board that a create means: by the short part of its URL, or by its id where the service takes that. */
export function boardOf(store: Store, given: string): { id: number } | undefined {
  const { boardIds } = store.behaviour;
  return store.boards().find(({ id, slug }) => slug === given || (boardIds && String(id) === given));
}

/** Writes the post and its line in the ledger in one transaction: the ledger never says more or less than the list. */
export function commit(store: Store, creation: Creation, committedAt: number, answered: Answered): number {
  const { db, behaviour, draws } = store;
  return db.transaction(() => {
    const { title, content, applied } = rewrite(creation, behaviour.rewrite, draws);
    const visibleAt = committedAt + (creation.visibleAfter ?? 0);
    const post = prepare(
      db,
      `INSERT INTO posts (board_id, status_id, creator_id, votes_count, created, title, content)
       VALUES (?, 1, ?, 1, ?, ?, ?)`,
    ).run(
      storedBoard(store, creation),
      storedCreator(store, creation, committedAt),
      stamp(createdAt(committedAt, behaviour.created)),
      title,
      content,
    );
    const id = Number(post.lastInsertRowid);
    if (visibleAt > committedAt) {
      prepare(db, 'INSERT INTO hidden (post_id, visible_at) VALUES (?, ?)').run(id, visibleAt);
    }
    prepare(
      db,
      `INSERT INTO ledger (post_id, received_at, committed_at, visible_at, board, title, content, email, answered, rewritten)
       VALUES (@id, @received_at, @committedAt, @visibleAt, @board, @title, @content, @email, @answered, @rewritten)`,
    ).run({ ...asked(creation), id, committedAt, visibleAt, answered, rewritten: applied.join(',') });
    return id;
  })();
}

function asked({ board, title, content, email, received_at }: Creation): Record<string, string | number> {
  return { board, title, content, email, received_at };
}

function storedBoard(store: Store, creation: Creation): number {
  const { behaviour, draws } = store;
  const meant = boardOf(store, creation.board)?.id ?? 1;
  if (behaviour.movePosts === 0 || !draws.chance(behaviour.movePosts)) return meant;
  return draws.pick(store.boards().filter(({ id }) => id !== meant)).id;
}

function storedCreator({ db, behaviour }: Store, { email, full_name, owner }: Creation, now: number): number {
  if (behaviour.creator === 'owner') return ensureUser(db, owner.email, owner.name, now).id;
  return ensureUser(db, behaviour.foldAddresses ? folded(email) : email, full_name, now).id;
}

export function markAnswered({ db }: Store, postId: number, answered: Answered): void {
  prepare(db, 'UPDATE ledger SET answered = ? WHERE post_id = ?').run(answered, postId);
}

/** Takes a create in that will take effect at `dueAt`. It is kept in the data, so a restart does not lose it. */
export function postpone({ db }: Store, creation: Creation, dueAt: number, answered: Answered): void {
  const sql = 'INSERT INTO postponed (due_at, creation, answered) VALUES (?, ?, ?)';
  prepare(db, sql).run(dueAt, JSON.stringify(creation), answered);
}

interface PostponedRow {
  id: number;
  due_at: number;
  creation: string;
  answered: Answered;
}

/**
 * Commits and shows what has come due, and says whether anything is still hidden. Called before anything is read, which
 * is as good as a timer for whoever looks, and follows any clock.
 */
export function settle(store: Store): boolean {
  const { db } = store;
  const now = store.clock.now();
  const due = prepare(db, 'SELECT * FROM postponed WHERE due_at <= ? ORDER BY due_at, id').all(now);
  for (const { id, due_at, creation, answered } of due as PostponedRow[]) {
    db.transaction(() => {
      prepare(db, 'DELETE FROM postponed WHERE id = ?').run(id);
      commit(store, JSON.parse(creation) as Creation, due_at, answered);
    })();
  }
  const hidden = prepare(db, 'SELECT min(visible_at) AS next, max(visible_at) AS last FROM hidden').get();
  const { next, last } = hidden as { next: number | null; last: number | null };
  if (next === null || last === null) return false;
  if (next <= now) prepare(db, 'DELETE FROM hidden WHERE visible_at <= ?').run(now);
  return last > now;
}

export function readLedger({ db }: Store): LedgerEntry[] {
  const rows = prepare(db, 'SELECT * FROM ledger ORDER BY post_id').all() as Omit<LedgerEntry, 'identity'>[];
  return rows.map((row) => ({
    ...row,
    identity: JSON.stringify([row.board, row.title, row.content, row.email.toLowerCase()]),
  }));
}
