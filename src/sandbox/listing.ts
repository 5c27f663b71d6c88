import type Database from 'better-sqlite3';
import { type Resource, SEARCH_LIMIT } from '../contract/endpoints.ts';
import type { CommentWire, PostWire } from '../contract/entities.ts';
import { type PostColumns, toComment, toPost } from '../contract/wire.ts';
import type { SandboxDb } from './database.ts';
import * as wire from './wire.ts';

/** `activity`: what was voted, commented or edited last comes first. `random`: another order for each request. */
export const ORDERS = ['newest', 'oldest', 'votes', 'activity', 'random'] as const;
export type Order = (typeof ORDERS)[number];

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

export interface ListOrder {
  resource: Resource;
  order: Order;
  /** Which of the random orders it is. */
  mix?: number;
}

interface Source {
  table: string;
  /** The index and the columns that an order goes by. The last column makes it strict. */
  orders: Record<Order, { index: string; keys: string[] }>;
  rows: (ids: string, orderBy: string) => string;
  read: (row: never) => PostWire | CommentWire;
}

const SOURCES: Record<Resource, Source> = {
  posts: {
    table: 'posts',
    orders: ordersOf('posts', 'votes', 'votes_count'),
    rows: (ids, orderBy) =>
      `SELECT ${wire.POST_SELECT}, page.* FROM (${ids}) page JOIN posts p ON p.id = page.id ${wire.POST_JOINS} ORDER BY ${orderBy}`,
    read: toPost,
  },
  comments: {
    table: 'comments',
    orders: ordersOf('comments', 'likes', 'likes_count'),
    rows: (ids, orderBy) =>
      `SELECT ${wire.COMMENT_SELECT}, page.* FROM (${ids}) page JOIN comments c ON c.id = page.id ${wire.COMMENT_JOINS} ORDER BY ${orderBy}`,
    read: toComment,
  },
};

function ordersOf(table: Resource, byCount: string, count: string): Source['orders'] {
  const byId = { index: `${table}_by_id`, keys: ['id'] };
  return {
    newest: byId,
    oldest: byId,
    votes: { index: `${table}_by_${byCount}`, keys: [count, 'id'] },
    activity: { index: `${table}_by_activity`, keys: ['activity', 'id'] },
    random: { ...byId, keys: ['place', 'id'] },
  };
}

/** One page of a list, as it is at this moment. */
export function readSlice(db: SandboxDb, list: ListOrder, start: Start, limit: number): Slice {
  const source = SOURCES[list.resource];
  const keys = keyColumns(list);
  const back = 'key' in start && start.back;
  const key = 'key' in start ? start.key : null;
  const offset = 'offset' in start ? start.offset : 0;
  const found = prepared(db, pageSql(list, key !== null, back)).all({
    ...Object.fromEntries((key ?? []).map((part, n) => [`key${n}`, part])),
    // One more than asked for tells whether anything follows.
    limit: limit + 1,
    offset,
    ...(list.order === 'random' ? { mix: list.mix ?? 1 } : {}),
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

export function keyColumns({ resource, order }: ListOrder): string[] {
  return SOURCES[resource].orders[order].keys;
}

/** Multiplied with another number each time, the ids fall into another order modulo a prime. */
const PLACE = '(id * @mix) % 2147483647 AS place';

function keyOf(row: Row | undefined, keys: readonly string[]): number[] | null {
  return row ? keys.map((column) => row[column] ?? 0) : null;
}

/** The ids of the page come from a narrow index; only then are the texts of those rows read. */
function pageSql(list: ListOrder, fromKey: boolean, back: boolean): string {
  const source = SOURCES[list.resource];
  const keys = keyColumns(list);
  const descending = (list.order !== 'oldest') !== back;
  const marks = keys.map((_, n) => `@key${n}`).join(', ');
  const from = fromKey ? `WHERE (${keys.join(', ')}) ${descending ? '<' : '>'} (${marks})` : '';
  const orderBy = (prefix: string): string =>
    keys.map((column) => `${prefix}${column} ${descending ? 'DESC' : 'ASC'}`).join(', ');
  const columns = keys.map((column) => (column === 'place' ? PLACE : column)).join(', ');
  const ids = `SELECT ${columns} FROM ${source.table} INDEXED BY ${source.orders[list.order].index}
    ${from} ORDER BY ${orderBy('')} LIMIT @limit OFFSET @offset`;
  return source.rows(ids, orderBy('page.'));
}

/** More words than anyone types; each is a lookup of its own. */
const MAX_TERMS = 32;

/** The posts with all words of the text, most relevant first; a word in the title weighs five times one in the content. */
export function searchPosts(db: SandboxDb, text: string): PostWire[] {
  const query = toQuery(text);
  if (query === null) return [];
  const sql = `SELECT ${wire.POST_SELECT} FROM (
      SELECT m.id, bm25(posts_text, 5.0, 1.0) AS relevance
      FROM posts_text JOIN posts m ON m.id = posts_text.rowid
      WHERE posts_text MATCH @query
      ORDER BY relevance, m.id DESC LIMIT ${SEARCH_LIMIT}
    ) page JOIN posts p ON p.id = page.id ${wire.POST_JOINS} ORDER BY page.relevance, p.id DESC`;
  const rows = prepared(db, sql).all({ query }) as PostColumns[];
  return rows.map(toPost);
}

/**
 * Only runs of letters and digits go through, each in quotes: whatever the text holds, nothing of it is FTS syntax.
 * Null when nothing to look for is left.
 */
function toQuery(text: string): string | null {
  const terms = text.match(/[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu) ?? [];
  if (terms.length === 0) return null;
  return [...new Set(terms)]
    .slice(0, MAX_TERMS)
    .map((term) => `"${term}"`)
    .join(' AND ');
}

type Statement = Database.Statement<unknown[]>;

const statements = new WeakMap<SandboxDb, Map<string, Statement>>();

/** The statement for this text, prepared once for each database. */
export function prepared(db: SandboxDb, sql: string): Statement {
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
