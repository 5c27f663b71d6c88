import { ensureUser } from '../../src/sandbox/access.ts';
import type { SandboxDb } from '../../src/sandbox/database.ts';
import { prepared } from '../../src/sandbox/listing.ts';
import { stamp } from '../../src/sandbox/wire.ts';
import type { CheckedCreate } from '../../src/sandbox/world.ts';
import { createdAt, folded } from './behaviour.ts';
import { rewrite } from './rewrite.ts';
import type { World } from './world.ts';

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
export interface Creation extends CheckedCreate {
  received_at: number;
  /** How long after its commit the lists show it. */
  visibleAfter?: number;
}

const COLUMNS = 'id, board_id, status_id, creator_id, votes_count, created, title, content, extra';

/** In the data of the sandbox, so that a restart loses nothing. Hidden posts exist and are not listed before their time. */
export function addTables(db: SandboxDb): void {
  db.exec(`
    CREATE TABLE IF NOT EXISTS ledger (
      post_id INTEGER PRIMARY KEY, received_at INTEGER NOT NULL, committed_at INTEGER NOT NULL,
      visible_at INTEGER NOT NULL, board TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL,
      email TEXT NOT NULL, answered TEXT NOT NULL, rewritten TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS postponed (
      id INTEGER PRIMARY KEY, due_at INTEGER NOT NULL, creation TEXT NOT NULL, answered TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS hidden AS SELECT ${COLUMNS}, 0 AS visible_at FROM posts WHERE false;`);
}

/** Writes the post and its line in the ledger in one transaction: the ledger never says more or less than the list. */
export function commit(
  world: World,
  creation: Creation,
  committedAt: number,
  answered: Answered,
): { id: number; url: string } {
  const { db, behaviour, draws } = world;
  return db.transaction(() => {
    const { title, content, applied } = rewrite(creation, behaviour.rewrite, draws);
    const visibleAt = committedAt + (creation.visibleAfter ?? 0);
    const post = world.addPost({
      board: storedBoard(world, creation),
      email: storedCreator(world, creation, committedAt),
      title,
      content,
      votes: 1,
      created: stamp(createdAt(committedAt, behaviour.created)),
    });
    if (visibleAt > committedAt) hide(db, post.id, visibleAt);
    const { board, email, received_at } = creation;
    prepared(
      db,
      `INSERT INTO ledger (post_id, received_at, committed_at, visible_at, board, title, content, email, answered, rewritten)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      ...[post.id, received_at, committedAt, visibleAt, board, creation.title, creation.content, email],
      ...[answered, applied.join(',')],
    );
    return { id: post.id, url: post.url };
  })();
}

function storedBoard(world: World, creation: Creation): string {
  const { behaviour, draws } = world;
  const meant = world.boardOf(creation.board)?.slug ?? creation.board;
  if (behaviour.movePosts === 0 || !draws.chance(behaviour.movePosts)) return meant;
  return draws.pick(world.boards().filter(({ slug }) => slug !== meant)).slug;
}

function storedCreator({ db, behaviour }: World, { email, full_name, owner }: Creation, now: number): string {
  if (behaviour.creator === 'owner') return ensureUser(db, owner.email, owner.name, now).email;
  return ensureUser(db, behaviour.foldAddresses ? folded(email) : email, full_name, now).email;
}

function hide(db: SandboxDb, id: number, visibleAt: number): void {
  prepared(db, `INSERT INTO hidden SELECT ${COLUMNS}, ? FROM posts WHERE id = ?`).run(visibleAt, id);
  prepared(db, 'DELETE FROM posts WHERE id = ?').run(id);
}

export function markAnswered({ db }: World, postId: number, answered: Answered): void {
  prepared(db, 'UPDATE ledger SET answered = ? WHERE post_id = ?').run(answered, postId);
}

/** Takes a create in that will take effect at `dueAt`. */
export function postpone({ db }: World, creation: Creation, dueAt: number, answered: Answered): void {
  const sql = 'INSERT INTO postponed (due_at, creation, answered) VALUES (?, ?, ?)';
  prepared(db, sql).run(dueAt, JSON.stringify(creation), answered);
}

interface PostponedRow {
  id: number;
  due_at: number;
  creation: string;
  answered: Answered;
}

/** Commits and shows what has come due. Called before every read, which is as good as a timer, and follows any clock. */
export function settle(world: World): void {
  const { db } = world;
  const now = world.clock.now();
  const due = prepared(db, 'SELECT * FROM postponed WHERE due_at <= ? ORDER BY due_at, id').all(now);
  for (const { id, due_at, creation, answered } of due as PostponedRow[]) {
    db.transaction(() => {
      prepared(db, 'DELETE FROM postponed WHERE id = ?').run(id);
      commit(world, JSON.parse(creation) as Creation, due_at, answered);
    })();
  }
  if (prepared(db, 'SELECT 1 FROM hidden WHERE visible_at <= ?').get(now)) show(db, now);
}

function show(db: SandboxDb, now: number): void {
  db.transaction(() => {
    prepared(
      db,
      `INSERT INTO posts (${COLUMNS}) SELECT ${COLUMNS} FROM hidden WHERE visible_at <= ? ORDER BY id`,
    ).run(now);
    prepared(db, 'DELETE FROM hidden WHERE visible_at <= ?').run(now);
  })();
}

export function readLedger(db: SandboxDb): LedgerEntry[] {
  const rows = prepared(db, 'SELECT * FROM ledger ORDER BY post_id').all() as Omit<LedgerEntry, 'identity'>[];
  return rows.map((row) => ({
    ...row,
    identity: JSON.stringify([row.board, row.title, row.content, row.email.toLowerCase()]),
  }));
}
