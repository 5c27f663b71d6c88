import type { Statement } from 'better-sqlite3';
import { iso } from '../../base/clock.ts';
import { isSameMoment, toInstant } from '../../contract/datetime.ts';
import type { Comment, Post } from '../../contract/decode.ts';
import type { Db } from '../../db/open.ts';
import { hasReusedNumber } from '../../db/reused.ts';
import type { RowIndex } from '../index/text-index.ts';
import type { ChangeLog, ChangeType } from '../log/change-log.ts';
import { type ColumnValue, rawUnlessSame } from './entity-tables.ts';
import { isLate, type Moments } from './moments.ts';

/** What has an id of its own is kept by it. */
type ColumnOf<T, K extends keyof T & string> = T[K] extends { id: number } ? `${K}_id` : K;
/** A column for each field but those that every row has. */
type ColumnsOf<T> = {
  [K in Exclude<keyof T & string, 'id' | 'created' | 'extra'>]: ColumnOf<T, K>;
}[Exclude<keyof T & string, 'id' | 'created' | 'extra'>];

/**
 * `text`: indexed for the search, and a version holds it only where the next version changed it. `reported`: what else the history tells
 * about. `unreported`: what it does not.
 */
type Place = 'text' | 'reported' | 'unreported';

/** The columns of a list's table, said once: they drive what is selected, compared, written and kept as a version. */
interface RowKind<T> {
  table: 'posts' | 'comments';
  subject: 'post' | 'comment';
  /** Texts first, then what the history reports, then the rest. */
  columns: Readonly<Record<ColumnsOf<T>, Place>>;
  /** In the same order. */
  values(row: T): ColumnValue[];
  /** Changes that have a type of their own. */
  types: Readonly<Record<string, ChangeType>>;
  /** Whether the row is a new one under the number of an old one. */
  hasReusedNumber(old: Stored, row: T): boolean;
}

/** A row as SQLite gives it, the values of its columns last: as a list it is read and compared fastest. */
type Stored = [
  ...[id: number, deletedAt: string | null, versionAt: string, firstSeenAt: string],
  ...[extra: string | null, created: string],
  ...values: ColumnValue[],
];
const FACTS = 'id, deleted_at, version_at, first_seen_at, extra, coalesce(created_raw, created)';
const VALUES_AT = 6;

const POST_COLUMNS: RowKind<Post>['columns'] = {
  title: 'text',
  content: 'text',
  votes_count: 'reported',
  comments_count: 'reported',
  status_id: 'reported',
  board_id: 'reported',
  creator_id: 'reported',
  url: 'unreported',
};
const CREATOR_AT = VALUES_AT + Object.keys(POST_COLUMNS).indexOf('creator_id');

export const POSTS: RowKind<Post> = {
  table: 'posts',
  subject: 'post',
  columns: POST_COLUMNS,
  values({ title, content, votes_count, comments_count, status, board, url, creator }) {
    return [title, content, votes_count, comments_count, status.id, board.id, creator.id, url];
  },
  types: {
    status_id: 'post.status_changed',
    board_id: 'post.moved',
    votes_count: 'post.votes_changed',
  },
  hasReusedNumber: (old, row) =>
    hasReusedNumber({ firstSeenAt: old[3], created: old[5], creatorId: Number(old[CREATOR_AT]) }, row),
};

export const COMMENTS: RowKind<Comment> = {
  table: 'comments',
  subject: 'comment',
  columns: {
    content: 'text',
    likes_count: 'reported',
    highlighted: 'reported',
    internal: 'reported',
    status: 'reported',
    post_id: 'reported',
    creator_id: 'reported',
    kind: 'reported',
  },
  values({ content, likes_count, highlighted, internal, status, post, creator, kind }) {
    const flags = [Number(highlighted), Number(internal)];
    return [content, likes_count, ...flags, status, post.id, creator.id, kind];
  },
  types: {},
  hasReusedNumber: () => false,
};

/** How one kind of row gets into the mirror and out of it. */
export type RowWriter<T extends Post | Comment> = ReturnType<typeof rowWriter<T>>;

/** Writes a row only where it differs from what is stored, keeps the version it replaces, and tells of the change. */
export function rowWriter<T extends Post | Comment>(
  db: Db,
  kind: RowKind<T>,
  index: RowIndex,
  packed: { added(post: number): void },
  changes: ChangeLog,
) {
  const { table, subject } = kind;
  const { columns, texts, history } = columnsOf(kind);
  const stored = storedRows(db, table, columns);
  const { insert, update, keepVersion, remove } = rowStatements(db, kind);
  const keep = versionKeeper(kind, keepVersion);
  const typesOf = changeTypes(kind);
  const wordsOf = (shown: readonly ColumnValue[]): string[] => shown.slice(0, texts.length).map(String);
  const add = (row: T, shown: readonly ColumnValue[], at: string) => {
    stored.wrote(row.id);
    insert.run(row.id, ...shown, ...timesOf(row), row.extra, at, at, at);
    index.added(row.id, () => wordsOf(shown));
    packed.added('post' in row ? row.post.id : row.id);
    changes.row(table, `${subject}.created`, at, { id: row.id });
    return 'inserted' as const;
  };
  return {
    /** The ids of the page that comes next, the lowest first. */
    expect: stored.expect,
    /** Whether the row is stored, and live. */
    has: (id: number): boolean => stored.find(id)?.[1] === null,
    write(row: T, when: Moments): 'inserted' | 'updated' | 'restored' | 'unchanged' | 'late' {
      const { id, extra } = row;
      const { at } = when;
      const [old, shown] = [stored.find(id), kind.values(row)];
      if (!old) return add(row, shown, at);
      const [, deletedAt, versionAt, firstSeenAt, oldExtra, created] = old;
      /** Equal in everything that its history tells about. */
      const isAsBefore = deletedAt === null && isSame(old, shown, 0, history.length);
      const isRest = isSame(old, shown, history.length, columns.length) && oldExtra === extra;
      if (isAsBefore && isRest && isSameMoment(created, row.created)) return 'unchanged';
      if (isLate(versionAt, when)) return 'late';
      stored.wrote(id);
      const replaced = isAsBefore ? {} : { version: keep(old, shown) };
      const changedAt = observedAfter(versionAt, at);
      const seenAt = kind.hasReusedNumber(old, row) ? at : firstSeenAt;
      const version = isAsBefore ? versionAt : changedAt;
      update.run(...shown, ...timesOf(row), extra, seenAt, changedAt, version, id);
      if (!isSame(old, shown, 0, texts.length))
        index.changed(id, wordsOf(old.slice(VALUES_AT)), wordsOf(shown));
      for (const type of typesOf(old, shown, row)) changes.row(table, type, at, { id, ...replaced });
      return deletedAt === null ? 'updated' : 'restored';
    },
    /** Marks a live row as deleted; false if it was not live. */
    remove(id: number, at: string): boolean {
      const old = stored.find(id);
      if (!old || old[1] !== null) return false;
      stored.wrote(id);
      changes.row(table, `${subject}.deleted`, at, { id, version: keep(old, old.slice(VALUES_AT)) });
      const goneAt = observedAfter(old[2], at);
      return remove.run(goneAt, goneAt, goneAt, id).changes === 1;
    },
  };
}

/** The names of the columns: all, those of texts, those that a version keeps, and the places of those whose change has no type of its own. */
function columnsOf<T extends Post | Comment>(kind: RowKind<T>) {
  const places = Object.entries<Place>(kind.columns);
  const columns = places.map(([name]) => name);
  const texts = columns.filter((_, i) => places[i]?.[1] === 'text');
  const history = columns.filter((_, i) => places[i]?.[1] !== 'unreported');
  const untyped = [...columns.keys()].filter((i) => i >= texts.length && !((columns[i] ?? '') in kind.types));
  return { columns, texts, history, untyped };
}

function rowStatements<T extends Post | Comment>(db: Db, kind: RowKind<T>) {
  const { table, subject } = kind;
  const { columns, history } = columnsOf(kind);
  const written = [
    ...columns,
    'created',
    'created_raw',
    'extra',
    'first_seen_at',
    'changed_at',
    'version_at',
  ];
  const kept = [`${subject}_id`, 'observed_at', ...history, 'deleted'];
  return {
    insert: db.prepare(`
    INSERT INTO ${table} (id, ${written.join(', ')}) VALUES (?, ${written.map(() => '?').join(', ')})`),
    update: db.prepare(`
    UPDATE ${table} SET ${written.map((name) => `${name} = ?`).join(', ')}, deleted_at = NULL, erased_at = NULL WHERE id = ?`),
    // An erasure moves changed_at alone. So a version that was erased while it was the latest has an erased_at, which increments of the
    // history go by. A change that the history does not tell moves changed_at too. Then an increment has a line more than it needs.
    keepVersion: db.prepare(`
    INSERT INTO ${subject}_versions (${kept.join(', ')}, erased_at)
    SELECT ${kept.map(() => '?').join(', ')}, nullif(changed_at, version_at) FROM ${table} WHERE id = ?`),
    remove: db.prepare(`
    UPDATE ${table} SET deleted_at = ?, changed_at = ?, version_at = ? WHERE id = ? AND deleted_at IS NULL`),
  };
}

/** Keeps the version of a row that another one replaces, and returns its number. */
function versionKeeper<T extends Post | Comment>(kind: RowKind<T>, statement: Statement) {
  const { texts, history } = columnsOf(kind);
  return ([id, deletedAt, versionAt, , , , ...values]: Stored, shown: readonly ColumnValue[]): number => {
    const version = values.slice(0, history.length);
    for (const i of texts.keys()) if (version[i] === shown[i]) version[i] = null;
    return Number(statement.run(id, versionAt, ...version, deletedAt === null ? 0 : 1, id).lastInsertRowid);
  };
}

/** What happened to a row that is not as it was stored. */
function changeTypes<T extends Post | Comment>(kind: RowKind<T>) {
  const { subject } = kind;
  const { columns, texts, untyped } = columnsOf(kind);
  return (old: Stored, shown: readonly ColumnValue[], row: T): ChangeType[] => {
    const types: ChangeType[] = old[1] === null ? [] : [`${subject}.restored`];
    if (!isSame(old, shown, 0, texts.length)) types.push(`${subject}.edited`);
    for (const [name, type] of Object.entries(kind.types)) {
      const i = columns.indexOf(name);
      if (!isSame(old, shown, i, i + 1)) types.push(type);
    }
    const isOther =
      untyped.some((i) => !isSame(old, shown, i, i + 1)) ||
      old[4] !== row.extra ||
      !isSameMoment(old[5], row.created);
    return isOther ? [...types, `${subject}.updated`] : types;
  };
}

function isSame(old: Stored, shown: readonly ColumnValue[], from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (old[VALUES_AT + i] !== shown[i]) return false;
  return true;
}

function timesOf({ created }: Post | Comment): ColumnValue[] {
  const instant = toInstant(created);
  return [instant, rawUnlessSame(created, instant)];
}

/** When a change of a row was observed. It is later than the version before it, also where the clock was set back. */
function observedAfter(version: string, at: string): string {
  return at >= version ? at : iso(Date.parse(version) + 1);
}

/** The range of a page's ids is read at once if it holds at most so many ids for each row of the page. */
const MOST_GAPS = 3;

/** Stored rows to compare a page with. Ids mostly stand side by side: reading them as one range takes a third of the time of asking for each. */
function storedRows(db: Db, table: string, columns: readonly string[]) {
  const select = `SELECT ${[FACTS, ...columns].join(', ')} FROM ${table}`;
  const one = db.prepare<[number], Stored>(`${select} WHERE id = ?`).raw();
  const range = db.prepare<[number, number], Stored>(`${select} WHERE id BETWEEN ? AND ?`).raw();
  const read = new Map<number, Stored | undefined>();
  return {
    expect(ids: readonly number[]): void {
      read.clear();
      const [first, last] = [ids[0], ids.at(-1)];
      if (first === undefined || last === undefined || last - first >= MOST_GAPS * ids.length) return;
      for (const id of ids) read.set(id, undefined);
      for (const row of range.all(first, last)) read.set(row[0], row);
    },
    find: (id: number): Stored | undefined => (read.has(id) ? read.get(id) : one.get(id)),
    /** Forgets what was read of a row. */
    wrote: (id: number): void => void read.delete(id),
  };
}
