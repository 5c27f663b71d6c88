import type { SandboxDb } from './database.ts';
import { prepared } from './listing.ts';

type Extra = Record<string, unknown>;

export interface NewWorldPost {
  /** The short part of a board's URL. */
  board?: string;
  title?: string;
  content?: string;
  /** Of the creator, who is made when unknown. */
  email?: string;
  votes?: number;
  created?: string | number;
  /** Undocumented fields laid over the documented ones. */
  extra?: Extra | null;
}
export type PostEdit = NewWorldPost;

export interface NewWorldComment {
  post: number;
  content?: string;
  email?: string;
  kind?: string;
  status?: unknown;
  likes?: number;
  highlighted?: boolean;
  internal?: boolean;
  created?: string | number;
  extra?: Extra | null;
}
export type CommentEdit = Partial<NewWorldComment>;

/** How words of an edit become ids and times of the tables. */
export interface Lookup {
  boardId(slug: string): number;
  userId(email: string): number;
  moment(given: string | number): string;
}

export type ChangedColumns = Record<string, string | number | null>;

export function postColumns({ boardId, userId, moment }: Lookup, edit: PostEdit): ChangedColumns {
  return {
    ...given('title', edit.title),
    ...given('content', edit.content),
    ...given('votes_count', edit.votes),
    ...given('board_id', edit.board, boardId),
    ...given('creator_id', edit.email, userId),
    ...given('created', edit.created, moment),
    ...given('extra', edit.extra, json),
  };
}

export function commentColumns({ userId, moment }: Lookup, edit: CommentEdit): ChangedColumns {
  return {
    ...given('post_id', edit.post),
    ...given('content', edit.content),
    ...given('kind', edit.kind),
    ...given('likes_count', edit.likes),
    ...given('creator_id', edit.email, userId),
    ...given('status', edit.status, json),
    ...given('highlighted', edit.highlighted, Number),
    ...given('internal', edit.internal, Number),
    ...given('created', edit.created, moment),
    ...given('extra', edit.extra, json),
  };
}

/** The column, or nothing when the value was not given: a column left out keeps what it has. */
export function given<T extends string | number>(column: string, value: T | undefined): ChangedColumns;
export function given<T>(
  column: string,
  value: T | undefined,
  to: (value: T) => ChangedColumns[string],
): ChangedColumns;
export function given(
  column: string,
  value: unknown,
  to: (value: never) => ChangedColumns[string] = (v) => v,
): ChangedColumns {
  return value === undefined ? {} : { [column]: to(value as never) };
}

export function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

export function insertRow(db: SandboxDb, table: string, columns: ChangedColumns): number {
  const names = Object.keys(columns);
  const marks = names.map((name) => `@${name}`);
  const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks.join(', ')})`;
  return Number(prepared(db, sql).run(columns).lastInsertRowid);
}

export function updateRow(db: SandboxDb, table: string, id: number, columns: ChangedColumns): void {
  const changes = ['id = @id', ...Object.keys(columns).map((name) => `${name} = @${name}`)];
  const sql = `UPDATE ${table} SET ${changes.join(', ')} WHERE id = @id`;
  if (prepared(db, sql).run({ ...columns, id }).changes === 0) throw new Error(`no row ${id} in ${table}`);
}
