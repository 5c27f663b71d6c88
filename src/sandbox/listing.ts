import type Database from 'better-sqlite3';
import type { Resource } from '../contract/endpoints.ts';
import type { CommentWire, PostWire } from '../contract/entities.ts';
import type { Db } from './database.ts';
import * as wire from './wire.ts';

export const ORDERS = ['newest', 'oldest', 'votes'] as const;
export type Order = (typeof ORDERS)[number];

/** Which rows someone may see: of these boards (null: of all), without the posts that do not show yet. */
export interface Scope {
  boards: readonly number[] | null;
  /** Whether there are posts that do not show yet. Looking for them row by row makes a deep page seven times slower. */
  hidden: boolean;
}

/** Where a page starts: so many rows from the top, or right after (before, when `back`) a row with this key. */
export type Start = { offset: number } | { key: readonly number[] | null; back: boolean };

export interface Slice<T = PostWire | CommentWire> {
  rows: T[];
  /** Whether rows follow the last one, and precede the first one. */
  more: boolean;
  before: boolean;
  /** Keys of the first and last row, for cursors. */
  firstKey: number[] | null;
  lastKey: number[] | null;
}

export interface List {
  resource: Resource;
  order: Order;
}

interface Source {
  table: string;
  index: Record<Order, string>;
  count: string;
  board: string;
  post: string;
  rows: (ids: string, orderBy: string) => string;
  read: (row: never) => PostWire | CommentWire;
}

const SOURCES: Record<Resource, Source> = {
  posts: {
    table: 'posts',
    index: { newest: 'posts_by_id', oldest: 'posts_by_id', votes: 'posts_by_votes' },
    count: 'votes_count',
    board: 'board_id IN (SELECT value FROM json_each(@boards))',
    post: 'id',
    rows: (ids, orderBy) =>
      `SELECT ${wire.POST_SELECT} FROM (${ids}) page JOIN posts p ON p.id = page.id ${wire.POST_JOINS} ORDER BY ${orderBy}`,
    read: wire.toPost,
  },
  comments: {
    table: 'comments',
    index: { newest: 'comments_by_id', oldest: 'comments_by_id', votes: 'comments_by_likes' },
    count: 'likes_count',
    board: `(SELECT board_id FROM posts WHERE posts.id = comments.post_id)
      IN (SELECT value FROM json_each(@boards))`,
    post: 'post_id',
    rows: (ids, orderBy) =>
      `SELECT ${wire.COMMENT_SELECT} FROM (${ids}) page JOIN comments c ON c.id = page.id ${wire.COMMENT_JOINS} ORDER BY ${orderBy}`,
    read: wire.toComment,
  },
};

/** One page of a list, as it is at this moment. */
export function slice(db: Db, list: List, scope: Scope, start: Start, limit: number): Slice {
  const source = SOURCES[list.resource];
  const keys = keyColumns(list);
  const back = 'key' in start && start.back;
  const key = 'key' in start ? start.key : null;
  const offset = 'offset' in start ? start.offset : 0;
  const found = prepare(db, pageSql(list, scope, key !== null, back)).all({
    ...scopeParameters(scope),
    ...Object.fromEntries((key ?? []).map((part, n) => [`key${n}`, part])),
    // One more than asked for tells whether anything follows.
    limit: limit + 1,
    offset,
  }) as Row[];
  const further = found.length > limit;
  const rows = found.slice(0, limit);
  if (back) rows.reverse();
  const behind = offset > 0 || key !== null;
  return {
    rows: rows.map((row) => source.read(row as never)),
    more: back ? behind : further,
    before: back ? further : behind,
    firstKey: keyOf(rows[0], keys),
    lastKey: keyOf(rows.at(-1), keys),
  };
}

type Row = Record<string, number>;

/** The columns that order the list; the last one makes the order strict. */
export function keyColumns({ resource, order }: List): string[] {
  return order === 'votes' ? [SOURCES[resource].count, 'id'] : ['id'];
}

function keyOf(row: Row | undefined, keys: readonly string[]): number[] | null {
  return row ? keys.map((column) => row[column] ?? 0) : null;
}

/** The ids of the page come from a narrow index; only then are the texts of those rows read. */
function pageSql(list: List, scope: Scope, fromKey: boolean, back: boolean): string {
  const source = SOURCES[list.resource];
  const keys = keyColumns(list);
  const descending = (list.order !== 'oldest') !== back;
  const conditions = ['true'];
  if (scope.hidden) conditions.push(`${source.post} NOT IN (SELECT post_id FROM hidden)`);
  if (scope.boards) conditions.push(source.board);
  if (fromKey) {
    const marks = keys.map((_, n) => `@key${n}`).join(', ');
    conditions.push(`(${keys.join(', ')}) ${descending ? '<' : '>'} (${marks})`);
  }
  const orderBy = (prefix: string): string =>
    keys.map((column) => `${prefix}${column} ${descending ? 'DESC' : 'ASC'}`).join(', ');
  const ids = `SELECT ${keys.join(', ')} FROM ${source.table} INDEXED BY ${source.index[list.order]}
    WHERE ${conditions.join(' AND ')} ORDER BY ${orderBy('')} LIMIT @limit OFFSET @offset`;
  return source.rows(ids, orderBy('page.'));
}

export function scopeParameters(scope: Scope): Record<string, unknown> {
  return scope.boards ? { boards: JSON.stringify(scope.boards) } : {};
}

type Statement = Database.Statement<unknown[]>;

const statements = new WeakMap<Db, Map<string, Statement>>();

/** The statement for this text, prepared once for each database. */
export function prepare(db: Db, sql: string): Statement {
  let known = statements.get(db);
  if (!known) {
    known = new Map();
    statements.set(db, known);
  }
  let statement = known.get(sql);
  if (!statement) {
    statement = db.prepare<unknown[]>(sql);
    known.set(sql, statement);
  }
  return statement;
}
