import type { Statement } from 'better-sqlite3';
import { toInstant } from '../contract/datetime.ts';
import type { Board, PostReference, Status, User } from '../contract/decode.ts';
import type { Db } from './db.ts';

/**
 * Users, boards, statuses and short forms of posts come inside other rows, from two lists that are walked side by side.
 * The newest observation wins: a page received before the stored values were seen never overwrites them.
 */
const LATE_PAGE_MS = 600_000;
/** Pages that are remembered for that: more than are ever under way at once. */
const RECENT_PAGES = 32;
/** Entities remembered as they stand in the database: the same people write most of the rows. */
const KNOWN_ENTITIES = 20_000;

type Value = string | number | null;

interface Entity {
  id: number;
}

interface Table<T extends Entity> {
  /** Seen to be stored just so since anyone else last wrote; spares most look-ups. */
  known: Map<number, T>;
  /** Stored values in the order of `values`, and then changed_at. */
  find: Statement<[number], Value[]>;
  values: (entity: T) => Value[];
  insert: (entity: T, at: string) => void;
  update: (entity: T, at: string) => void;
}

export interface Observed {
  users: Map<number, User>;
  boards: Map<number, Board>;
  statuses: Map<number, Status>;
  references: Map<number, PostReference>;
}

/** Returns a function that stores what a page carried and says how many rows that changed. */
export function entityObserver(db: Db): (observed: Observed, at: string) => number {
  const [users, boards, statuses, references] = [
    userTable(db),
    boardTable(db),
    statusTable(db),
    referenceTable(db),
  ];
  // A row tells when its values changed, not when they were last seen to be the same: that is known from these pages only.
  const recent: { at: string; observed: Observed }[] = [];
  const isUntouched = otherWriters(db);
  return (observed, at) => {
    if (!isUntouched()) for (const table of [users, boards, statuses, references]) table.known.clear();
    const newer = recent.filter((page) => isLate(page.at, at)).map((page) => page.observed);
    recent.push({ at, observed });
    if (recent.length > RECENT_PAGES) recent.shift();
    return (
      observe(users, observed.users, at, (id) => newer.some((page) => page.users.has(id))) +
      observe(boards, observed.boards, at, (id) => newer.some((page) => page.boards.has(id))) +
      observe(statuses, observed.statuses, at, (id) => newer.some((page) => page.statuses.has(id))) +
      observe(references, observed.references, at, (id) => newer.some((page) => page.references.has(id)))
    );
  };
}

function observe<T extends Entity>(
  table: Table<T>,
  entities: Map<number, T>,
  at: string,
  isSeenSince: (id: number) => boolean,
): number {
  let changes = 0;
  for (const entity of entities.values()) {
    if (isKnown(table, entity)) continue;
    const stored = table.find.get(entity.id);
    if (stored && isSame(stored, table.values(entity))) {
      remember(table, entity);
      continue;
    }
    if (stored && (isLate(stored.at(-1) as string, at) || isSeenSince(entity.id))) continue;
    table.known.delete(entity.id);
    if (stored) table.update(entity, at);
    else table.insert(entity, at);
    changes++;
  }
  return changes;
}

/** Whether no other connection has written since the last call. */
function otherWriters(db: Db): () => boolean {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck();
  let last = version.get();
  return () => {
    const current = version.get();
    const isSameVersion = current === last;
    last = current;
    return isSameVersion;
  };
}

function isKnown<T extends Entity>({ known }: Table<T>, entity: T): boolean {
  const last = known.get(entity.id);
  if (!last) return false;
  for (const key in entity) if (entity[key] !== last[key]) return false;
  return true;
}

/** Only what was read: what this transaction writes may still be rolled back. */
function remember<T extends Entity>({ known }: Table<T>, entity: T): void {
  if (known.size >= KNOWN_ENTITIES) known.clear();
  known.set(entity.id, entity);
}

function isSame(stored: Value[], values: Value[]): boolean {
  for (let i = 0; i < values.length; i++) if (stored[i] !== values[i]) return false;
  return true;
}

/** Pages live for minutes at most: a larger distance means that the clock was set back, and then what we see now counts. */
function isLate(changedAt: string, at: string): boolean {
  return at < changedAt && Date.parse(changedAt) - Date.parse(at) < LATE_PAGE_MS;
}

function finder(db: Db, sql: string): Statement<[number], Value[]> {
  return db.prepare<[number], Value[]>(sql).raw();
}

function userTable(db: Db): Table<User> {
  const values = (u: User): Value[] => [
    u.email,
    u.name,
    u.alias,
    u.registered,
    Number(u.is_admin),
    Number(u.is_team),
    u.extra,
  ];
  const bound = (u: User): Value[] => {
    const registered = u.registered === null ? null : toInstant(u.registered);
    return [
      u.email,
      u.name,
      u.alias,
      registered,
      rawUnlessSame(u.registered, registered),
      Number(u.is_admin),
      Number(u.is_team),
      u.extra,
    ];
  };
  const insert = db.prepare(`
    INSERT INTO users (email, name, alias, registered, registered_raw, is_admin, is_team, extra, id, first_seen_at, changed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const update = db.prepare(`
    UPDATE users SET email = ?, name = ?, alias = ?, registered = ?, registered_raw = ?, is_admin = ?, is_team = ?, extra = ?,
                     changed_at = ? WHERE id = ?`);
  return {
    known: new Map(),
    find: finder(
      db,
      `SELECT email, name, alias, coalesce(registered_raw, registered), is_admin, is_team, extra, changed_at
                        FROM users WHERE id = ?`,
    ),
    values,
    insert: (u, at) => insert.run(...bound(u), u.id, at, at),
    update: (u, at) => update.run(...bound(u), at, u.id),
  };
}

function boardTable(db: Db): Table<Board> {
  const insert = db.prepare(
    'INSERT INTO boards (name, url, extra, slug, id, first_seen_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const update = db.prepare(
    'UPDATE boards SET name = ?, url = ?, extra = ?, slug = ?, changed_at = ? WHERE id = ?',
  );
  const values = (b: Board): Value[] => [b.name, b.url, b.extra];
  return {
    known: new Map(),
    find: finder(db, 'SELECT name, url, extra, changed_at FROM boards WHERE id = ?'),
    values,
    insert: (b, at) => insert.run(...values(b), slugOf(b.url), b.id, at, at),
    update: (b, at) => update.run(...values(b), slugOf(b.url), at, b.id),
  };
}

function statusTable(db: Db): Table<Status> {
  const insert = db.prepare(
    'INSERT INTO statuses (name, color, extra, id, first_seen_at, changed_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const update = db.prepare(
    'UPDATE statuses SET name = ?, color = ?, extra = ?, changed_at = ? WHERE id = ?',
  );
  const values = (s: Status): Value[] => [s.name, s.color, s.extra];
  return {
    known: new Map(),
    find: finder(db, 'SELECT name, color, extra, changed_at FROM statuses WHERE id = ?'),
    values,
    insert: (s, at) => insert.run(...values(s), s.id, at, at),
    update: (s, at) => update.run(...values(s), at, s.id),
  };
}

function referenceTable(db: Db): Table<PostReference> {
  const insert = db.prepare(
    'INSERT INTO commented_posts (title, url, extra, id, first_seen_at, changed_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const update = db.prepare(
    'UPDATE commented_posts SET title = ?, url = ?, extra = ?, changed_at = ? WHERE id = ?',
  );
  const values = (r: PostReference): Value[] => [r.title, r.url, r.extra];
  return {
    known: new Map(),
    find: finder(db, 'SELECT title, url, extra, changed_at FROM commented_posts WHERE id = ?'),
    values,
    insert: (r, at) => insert.run(...values(r), r.id, at, at),
    update: (r, at) => update.run(...values(r), at, r.id),
  };
}

/** The upstream's own text of a time, where it is not already ours to the letter. */
export function rawUnlessSame(raw: string | null, instant: string | null): string | null {
  return raw === instant ? null : raw;
}

/** The short part of a board's URL, as creates want it: the last segment of its path. */
export function slugOf(url: string): string {
  const path = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  return path.slice(path.lastIndexOf('/') + 1);
}
