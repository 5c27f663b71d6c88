import type { Statement } from 'better-sqlite3';
import { isSameMoment, toInstant } from '../../contract/datetime.ts';
import type { Board, PostReference, Status, User } from '../../contract/decode.ts';
import type { Resource } from '../../contract/endpoints.ts';
import type { Db } from '../db.ts';

/** The tables of what comes inside other rows: each with how to find, compare and write one of its rows. */
export type Value = string | number | null;

export interface Entity {
  id: number;
}

export interface Table<T extends Entity> {
  /** What changes of it are called; null where none is told of. */
  subject: 'user' | 'board' | 'status' | null;
  /** Its name, the first of its values, where that is nobody's: a change tells the old one and the new one. */
  named?: (entity: T) => string;
  /** What each list showed that needed no write since another process last wrote; spares most look-ups. */
  known: Record<Resource, Map<number, T>>;
  /** Stored values in the order of `values`, and then changed_at. */
  find: Statement<[number], Value[]>;
  values: (entity: T) => Value[];
  /** Whether the values of two sightings mean the same; what follows `values` in the first is not looked at. */
  isSame: (stored: readonly Value[], shown: readonly Value[]) => boolean;
  insert: (entity: T, at: string) => void;
  update: (entity: T, at: string) => void;
}

function finder(db: Db, sql: string): Statement<[number], Value[]> {
  return db.prepare<[number], Value[]>(sql).raw();
}

export function userTable(db: Db): Table<User> {
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
    subject: 'user',
    known: { posts: new Map(), comments: new Map() },
    isSame: isEqualUser,
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

export function boardTable(db: Db): Table<Board> {
  const insert = db.prepare(`
    INSERT INTO boards (name, url, extra, slug, id, first_seen_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const update = db.prepare(`
    UPDATE boards SET name = ?, url = ?, extra = ?, slug = ?, changed_at = ? WHERE id = ?`);
  const values = (b: Board): Value[] => [b.name, b.url, b.extra];
  return {
    subject: 'board',
    named: (b) => b.name,
    known: { posts: new Map(), comments: new Map() },
    isSame: isEqual,
    find: finder(db, 'SELECT name, url, extra, changed_at FROM boards WHERE id = ?'),
    values,
    insert: (b, at) => insert.run(...values(b), slugOf(b.url), b.id, at, at),
    update: (b, at) => update.run(...values(b), slugOf(b.url), at, b.id),
  };
}

export function statusTable(db: Db): Table<Status> {
  const insert = db.prepare(`
    INSERT INTO statuses (name, color, extra, id, first_seen_at, changed_at) VALUES (?, ?, ?, ?, ?, ?)`);
  const update = db.prepare(`
    UPDATE statuses SET name = ?, color = ?, extra = ?, changed_at = ? WHERE id = ?`);
  const values = (s: Status): Value[] => [s.name, s.color, s.extra];
  return {
    subject: 'status',
    named: (s) => s.name,
    known: { posts: new Map(), comments: new Map() },
    isSame: isEqual,
    find: finder(db, 'SELECT name, color, extra, changed_at FROM statuses WHERE id = ?'),
    values,
    insert: (s, at) => insert.run(...values(s), s.id, at, at),
    update: (s, at) => update.run(...values(s), at, s.id),
  };
}

export function referenceTable(db: Db): Table<PostReference> {
  const insert = db.prepare(`
    INSERT INTO commented_posts (title, url, extra, id, first_seen_at, changed_at) VALUES (?, ?, ?, ?, ?, ?)`);
  const update = db.prepare(`
    UPDATE commented_posts SET title = ?, url = ?, extra = ?, changed_at = ? WHERE id = ?`);
  const values = (r: PostReference): Value[] => [r.title, r.url, r.extra];
  return {
    subject: null,
    known: { posts: new Map(), comments: new Map() },
    isSame: isEqual,
    find: finder(db, 'SELECT title, url, extra, changed_at FROM commented_posts WHERE id = ?'),
    values,
    insert: (r, at) => insert.run(...values(r), r.id, at, at),
    update: (r, at) => update.run(...values(r), at, r.id),
  };
}

function isEqual(stored: readonly Value[], shown: readonly Value[]): boolean {
  return shown.every((value, i) => value === stored[i]);
}

/** Where `registered` stands among the values of a user. */
const REGISTERED = 3;

function isEqualUser(stored: readonly Value[], shown: readonly Value[]): boolean {
  return shown.every((value, i) => value === stored[i] || (i === REGISTERED && isSameTime(value, stored[i])));
}

function isSameTime(a: Value | undefined, b: Value | undefined): boolean {
  return typeof a === 'string' && typeof b === 'string' && isSameMoment(a, b);
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
