import type { Statement } from 'better-sqlite3';
import { isSameMoment, toInstant } from '../../contract/datetime.ts';
import type { Board, PostReference, Status, User } from '../../contract/decode.ts';
import type { Resource } from '../../contract/endpoints.ts';
import type { Db } from '../../db/open.ts';
import { slugOf } from '../../text/boards.ts';

/** The tables of users, boards, statuses and short forms of posts, which come inside other rows. */
export type ColumnValue = string | number | null;

export interface Entity {
  id: number;
}

export interface Table<T extends Entity> {
  /** The subject of its changes in the change feed; null where it has none. */
  subject: 'user' | 'board' | 'status' | null;
  /** The old and new names that a change keeps; empty where the name stayed the same. Names of people are never kept. */
  renamed?: (stored: readonly ColumnValue[], entity: T) => object;
  /** Entities as each list showed them last and as they are stored, since another process last wrote. They spare most look-ups. */
  known: Record<Resource, Map<number, T>>;
  /** Stored values in the order of `values`, and then changed_at. */
  find: Statement<[number], ColumnValue[]>;
  values: (entity: T) => ColumnValue[];
  /** Whether the values of two sightings mean the same; what follows `values` in the first is not looked at. */
  isSame: (stored: readonly ColumnValue[], shown: readonly ColumnValue[]) => boolean;
  insert: (entity: T, at: string) => void;
  update: (entity: T, at: string) => void;
}

/** The columns of one of these tables. */
interface EntityKind<T extends Entity> extends Pick<Table<T>, 'subject' | 'renamed'> {
  table: string;
  /** What the entity shows in each column; the order of `values`. */
  columns: Readonly<Record<string, (entity: T) => ColumnValue>>;
  /** What is written besides, or instead. */
  written?: Readonly<Record<string, (entity: T) => ColumnValue>>;
  /** The column with a time, stored as ours and, where that says more, as the upstream's own text. */
  time?: string;
}

function entityTable<T extends Entity>(db: Db, kind: EntityKind<T>): Table<T> {
  const { table, subject, columns, written, time } = kind;
  const writers = { ...columns, ...written };
  const names = Object.keys(writers);
  const insert = db.prepare(`
    INSERT INTO ${table} (${names.join(', ')}, id, first_seen_at, changed_at) VALUES (${names.map(() => '?, ').join('')}?, ?, ?)`);
  const update = db.prepare(`
    UPDATE ${table} SET ${names.map((name) => `${name} = ?, `).join('')}changed_at = ? WHERE id = ?`);
  const compared = Object.keys(columns).map((name) =>
    name === time ? `coalesce(${name}_raw, ${name})` : name,
  );
  const bound = (entity: T): ColumnValue[] => Object.values(writers).map((of) => of(entity));
  const timeAt = Object.keys(columns).indexOf(time ?? '');
  return {
    subject,
    ...(kind.renamed && { renamed: kind.renamed }),
    known: { posts: new Map(), comments: new Map() },
    find: db
      .prepare<[number], ColumnValue[]>(
        `SELECT ${compared.join(', ')}, changed_at FROM ${table} WHERE id = ?`,
      )
      .raw(),
    values: (entity) => Object.values(columns).map((of) => of(entity)),
    isSame: (stored, shown) =>
      shown.every((value, i) => value === stored[i] || (i === timeAt && isSameTime(value, stored[i]))),
    insert: (entity, at) => insert.run(...bound(entity), entity.id, at, at),
    update: (entity, at) => update.run(...bound(entity), at, entity.id),
  };
}

function isSameTime(a: ColumnValue | undefined, b: ColumnValue | undefined): boolean {
  return typeof a === 'string' && typeof b === 'string' && isSameMoment(a, b);
}

function registeredAt({ registered }: User): string | null {
  return registered === null ? null : toInstant(registered);
}

export function userTable(db: Db): Table<User> {
  return entityTable<User>(db, {
    table: 'users',
    subject: 'user',
    columns: {
      email: (user) => user.email,
      name: (user) => user.name,
      alias: (user) => user.alias,
      registered: (user) => user.registered,
      is_admin: (user) => Number(user.is_admin),
      is_team: (user) => Number(user.is_team),
      extra: (user) => user.extra,
    },
    written: {
      registered: registeredAt,
      registered_raw: (user) => rawUnlessSame(user.registered, registeredAt(user)),
    },
    time: 'registered',
  });
}

export function boardTable(db: Db): Table<Board> {
  return entityTable<Board>(db, {
    table: 'boards',
    subject: 'board',
    renamed: ([name, url], board) => {
      const slug = slugOf(String(url));
      return { ...namesOf(name, board.name), ...(slug === slugOf(board.url) ? {} : { slug }) };
    },
    columns: { name: (board) => board.name, url: (board) => board.url, extra: (board) => board.extra },
    written: { slug: (board) => slugOf(board.url) },
  });
}

export function statusTable(db: Db): Table<Status> {
  return entityTable<Status>(db, {
    table: 'statuses',
    subject: 'status',
    renamed: ([name], status) => namesOf(name, status.name),
    columns: {
      name: (status) => status.name,
      color: (status) => status.color,
      extra: (status) => status.extra,
    },
  });
}

function namesOf(before: ColumnValue | undefined, after: string): { before?: ColumnValue; after?: string } {
  return before === undefined || before === after ? {} : { before, after };
}

export function referenceTable(db: Db): Table<PostReference> {
  return entityTable<PostReference>(db, {
    table: 'commented_posts',
    subject: null,
    columns: { title: (post) => post.title, url: (post) => post.url, extra: (post) => post.extra },
  });
}

/** The upstream's own text of a time, where it is not already ours to the letter. */
export function rawUnlessSame(raw: string | null, instant: string | null): string | null {
  return raw === instant ? null : raw;
}
