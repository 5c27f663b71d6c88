import { type Clock, systemClock } from '../base/clock.ts';
import type { BoardWire, CommentWire, PostWire, StatusWire, UserWire } from '../contract/entities.ts';
import { type Db, openDatabase } from './database.ts';
import { type LedgerEntry, readLedger, settle } from './ledger.ts';
import { ORDERS, prepare, type Scope, slice } from './listing.ts';
import { emailKey, ensureUser, readUsers } from './people.ts';
import { createRandom, type Random } from './random.ts';
import { seedWorld } from './seed.ts';
import { REFERENCE_TIME, stamp } from './time.ts';
import * as wire from './wire.ts';
import { topic, writeContent, writeReply, writeTitle } from './writing.ts';

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
  extra?: Extra;
}
export type PostEdit = Omit<NewWorldPost, 'extra'> & { extra?: Extra | null };

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
  extra?: Extra;
}
export type CommentEdit = Omit<Partial<NewWorldComment>, 'extra'> & { extra?: Extra | null };

export interface UserEdit {
  name?: string;
  email?: string;
  alias?: string;
  registered?: string | number;
  is_admin?: boolean;
  is_team?: boolean;
  extra?: Extra | null;
}

export interface WorldOptions {
  data?: string | undefined;
  seed?: number | undefined;
  posts?: number | undefined;
  referenceTime?: number | undefined;
  clock?: Clock | undefined;
  /** The boards a token may see; null is all of them. */
  access?: ((token: string) => readonly number[] | null) | undefined;
}

/** The service's data and everything that can happen to it, each as one synchronous call. */
export class World {
  readonly db: Db;
  readonly clock: Clock;
  readonly #random: Random;
  readonly #access: (token: string) => readonly number[] | null;

  constructor({ data, seed = 1, posts = 200, referenceTime, clock, access }: WorldOptions = {}) {
    this.clock = clock ?? systemClock;
    this.#access = access ?? (() => null);
    // Another stream than the seed's own, so that what is added later does not repeat what was there.
    this.#random = createRandom(seed ^ 0x5eed);
    this.db = openDatabase(data, (empty) =>
      seedWorld(empty, { seed, posts, referenceTime: referenceTime ?? REFERENCE_TIME }),
    );
  }

  /** What may be seen right now, after everything that has come due took effect. */
  scope(boards: readonly number[] | null): Scope {
    settle(this.db, this.clock);
    return { boards, now: this.clock.now() };
  }

  posts(token?: string): PostWire[] {
    return this.#all('posts', token) as PostWire[];
  }

  comments(token?: string): CommentWire[] {
    return this.#all('comments', token) as CommentWire[];
  }

  users(): UserWire[] {
    return readUsers(this.db);
  }

  boards(): (BoardWire & { slug: string })[] {
    const rows = prepare(this.db, 'SELECT id, slug, name FROM boards ORDER BY id').all();
    return (rows as { id: number; slug: string; name: string }[]).map((row) => ({
      ...wire.toBoard(row),
      slug: row.slug,
    }));
  }

  statuses(): StatusWire[] {
    return prepare(this.db, 'SELECT id, name, color FROM statuses ORDER BY id').all() as StatusWire[];
  }

  /** Every create that took effect through the API, in the order of the posts. */
  ledger(): LedgerEntry[] {
    settle(this.db, this.clock);
    return readLedger(this.db);
  }

  addPost(post: NewWorldPost = {}): PostWire {
    const about = topic(this.#random);
    const id = this.#insert('posts', {
      title: writeTitle(this.#random, about),
      content: writeContent(this.#random, about),
      votes_count: 0,
      status_id: 1,
      board_id: 1,
      creator_id: this.#someone(),
      created: this.#moment(undefined),
      ...this.#postColumns(post),
    });
    return this.post(id);
  }

  editPost(id: number, edit: PostEdit): void {
    this.#update('posts', id, this.#postColumns(edit));
  }

  vote(id: number, delta = 1): void {
    this.#update('posts', id, { votes_count: this.post(id).votes_count + delta });
  }

  setStatus(id: number, statusId: number): void {
    if (!this.statuses().some((status) => status.id === statusId)) throw new Error(`no status ${statusId}`);
    this.#update('posts', id, { status_id: statusId });
  }

  /** Deletes the post and its comments; false when it was not there. */
  deletePost(id: number): boolean {
    return this.db.transaction(() => {
      prepare(this.db, 'DELETE FROM comments WHERE post_id = ?').run(id);
      prepare(this.db, 'DELETE FROM hidden WHERE post_id = ?').run(id);
      return prepare(this.db, 'DELETE FROM posts WHERE id = ?').run(id).changes === 1;
    })();
  }

  addComment(comment: NewWorldComment): CommentWire {
    this.post(comment.post);
    const id = this.#insert('comments', {
      kind: 'reply',
      content: writeReply(this.#random, false),
      likes_count: 0,
      highlighted: 0,
      internal: 0,
      creator_id: this.#someone(),
      created: this.#moment(undefined),
      ...this.#commentColumns(comment),
    });
    return this.comment(id);
  }

  editComment(id: number, edit: CommentEdit): void {
    this.#update('comments', id, this.#commentColumns(edit));
  }

  deleteComment(id: number): boolean {
    return prepare(this.db, 'DELETE FROM comments WHERE id = ?').run(id).changes === 1;
  }

  editUser(id: number, { email, registered, is_admin, is_team, extra, ...rest }: UserEdit): void {
    this.#update('users', id, {
      ...rest,
      ...(email === undefined ? {} : { email, email_key: emailKey(email) }),
      ...(registered === undefined ? {} : { registered: this.#moment(registered) }),
      ...(is_admin === undefined ? {} : { is_admin: Number(is_admin) }),
      ...(is_team === undefined ? {} : { is_team: Number(is_team) }),
      ...(extra === undefined ? {} : { extra: json(extra) }),
    });
  }

  /** The post, shown or still hidden. */
  post(id: number): PostWire {
    const sql = `SELECT ${wire.POST_SELECT} FROM posts p ${wire.POST_JOINS} WHERE p.id = ?`;
    const row = prepare(this.db, sql).get(id);
    if (!row) throw new Error(`no post ${id}`);
    return wire.toPost(row as wire.PostRow);
  }

  comment(id: number): CommentWire {
    const sql = `SELECT ${wire.COMMENT_SELECT} FROM comments c ${wire.COMMENT_JOINS} WHERE c.id = ?`;
    const row = prepare(this.db, sql).get(id);
    if (!row) throw new Error(`no comment ${id}`);
    return wire.toComment(row as wire.CommentRow);
  }

  close(): void {
    this.db.close();
  }

  #all(resource: 'posts' | 'comments', token: string | undefined): (PostWire | CommentWire)[] {
    const scope = this.scope(token === undefined ? null : this.#access(token));
    return slice(this.db, { resource, order: ORDERS[1] }, scope, { offset: 0 }, 2 ** 31 - 2).rows;
  }

  #postColumns({ board, email, votes, created, extra, title, content }: PostEdit): Columns {
    return defined({
      title,
      content,
      votes_count: votes,
      board_id: board === undefined ? undefined : this.#boardId(board),
      creator_id: email === undefined ? undefined : this.#userId(email),
      created: created === undefined ? undefined : this.#moment(created),
      extra: extra === undefined ? undefined : json(extra),
    });
  }

  #commentColumns(edit: CommentEdit): Columns {
    const { post, content, email, kind, status, likes, highlighted, internal, created, extra } = edit;
    return defined({
      post_id: post,
      content,
      kind,
      likes_count: likes,
      creator_id: email === undefined ? undefined : this.#userId(email),
      status: status === undefined ? undefined : json(status),
      highlighted: highlighted === undefined ? undefined : Number(highlighted),
      internal: internal === undefined ? undefined : Number(internal),
      created: created === undefined ? undefined : this.#moment(created),
      extra: extra === undefined ? undefined : json(extra),
    });
  }

  #insert(table: string, columns: Columns): number {
    const names = Object.keys(columns);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`;
    return Number(prepare(this.db, sql).run(columns).lastInsertRowid);
  }

  #update(table: string, id: number, columns: Columns): void {
    const names = Object.keys(columns);
    if (names.length === 0) return;
    const sql = `UPDATE ${table} SET ${names.map((name) => `${name} = @${name}`).join(', ')} WHERE id = @id`;
    const { changes } = prepare(this.db, sql).run({ ...columns, id });
    if (changes === 0) throw new Error(`no row ${id} in ${table}`);
  }

  #boardId(slug: string): number {
    const board = this.boards().find((known) => known.slug === slug);
    if (!board) throw new Error(`no board ${slug}`);
    return board.id;
  }

  #userId(email: string): number {
    return ensureUser(this.db, email, email.split('@')[0] ?? email, this.clock.now()).id;
  }

  #someone(): number {
    const { last } = prepare(this.db, 'SELECT max(id) AS last FROM users').get() as { last: number };
    return 1 + this.#random.int(last);
  }

  #moment(created: string | number | undefined): string {
    return typeof created === 'string' ? created : stamp(created ?? this.clock.now(), this.#random.int(1000));
  }
}

type Columns = Record<string, string | number | null>;

/** Only what was given: a column left out keeps its value. */
function defined(columns: Record<string, string | number | null | undefined>): Columns {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as Columns;
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
