import { type Clock, systemClock } from '../base/clock.ts';
import type { Resource } from '../contract/endpoints.ts';
import type { BoardWire, CommentWire, PostWire, StatusWire, UserWire } from '../contract/entities.ts';
import { type CommentColumns, type PostColumns, toComment, toPost } from '../contract/wire.ts';
import { ensureUser, readUsers } from './access.ts';
import type { SandboxDb } from './database.ts';
import * as edits from './edits.ts';
import { type Order, prepared, readSlice } from './listing.ts';
import { createRandom, type Random } from './random.ts';
import { openSeeded, REFERENCE_TIME } from './seed.ts';
import * as wire from './wire.ts';
import { drawTopic, writeContent, writeReply, writeTitle } from './writing.ts';

export interface WorldOptions {
  data?: string | undefined;
  seed?: number | undefined;
  posts?: number | undefined;
  referenceTime?: number | undefined;
  days?: number | undefined;
  clock?: Clock | undefined;
  order?: Order | undefined;
}

/** A create asked for through the API, already checked, in the words of the client. */
export interface CheckedCreate {
  board: string;
  title: string;
  content: string;
  email: string;
  full_name: string;
  owner: { email: string; name: string };
}

/** The service's data and everything that can happen to it, each as one synchronous call. */
export class World {
  readonly db: SandboxDb;
  readonly clock: Clock;
  readonly order: Order;
  /** Decides what an order leaves to chance. */
  readonly draws: Random;
  readonly #random: Random;
  protected readonly lookup: edits.Lookup = {
    boardId: (slug) => this.#boardId(slug),
    userId: (email) => ensureUser(this.db, email, email.split('@')[0] ?? email, this.clock.now()).id,
    moment: (given) => (typeof given === 'string' ? given : wire.stamp(given, this.#random.int(1000))),
  };

  constructor(options: WorldOptions = {}) {
    const { data, seed = 1, posts = 200, referenceTime, days, clock } = options;
    this.order = options.order ?? 'newest';
    this.draws = createRandom(seed ^ 0xbe4a);
    this.clock = clock ?? systemClock;
    // Another stream than the seed's own, so that what is added later does not repeat what was there.
    this.#random = createRandom(seed ^ 0x5eed);
    this.db = openSeeded(data, { seed, posts, referenceTime: referenceTime ?? REFERENCE_TIME, days });
  }

  /** Called before each read. */
  settle(): void {}

  /** All posts, oldest id first. */
  posts(): PostWire[] {
    return this.#all('posts') as PostWire[];
  }

  comments(): CommentWire[] {
    return this.#all('comments') as CommentWire[];
  }

  users(): UserWire[] {
    return readUsers(this.db);
  }

  boards(): (BoardWire & { slug: string })[] {
    const sql = "SELECT id, name, '/b/' || slug || '/' AS url, slug FROM boards ORDER BY id";
    return prepared(this.db, sql).all() as (BoardWire & { slug: string })[];
  }

  statuses(): StatusWire[] {
    return prepared(this.db, 'SELECT id, name, color FROM statuses ORDER BY id').all() as StatusWire[];
  }

  post(id: number): PostWire {
    const sql = `SELECT ${wire.POST_SELECT} FROM posts p ${wire.POST_JOINS} WHERE p.id = ?`;
    const row = prepared(this.db, sql).get(id);
    if (!row) throw new Error(`no post ${id}`);
    return toPost(row as PostColumns);
  }

  comment(id: number): CommentWire {
    const sql = `SELECT ${wire.COMMENT_SELECT} FROM comments c ${wire.COMMENT_JOINS} WHERE c.id = ?`;
    const row = prepared(this.db, sql).get(id);
    if (!row) throw new Error(`no comment ${id}`);
    return toComment(row as CommentColumns);
  }

  /** Whatever is not given is made up. */
  addPost(post: edits.NewWorldPost = {}): PostWire {
    const about = drawTopic(this.#random);
    const id = edits.insertRow(this.db, 'posts', {
      title: writeTitle(this.#random, about),
      content: writeContent(this.#random, about),
      votes_count: 0,
      status_id: 1,
      board_id: 1,
      creator_id: this.#someone(),
      ...edits.postColumns(this.lookup, { created: this.clock.now(), ...post }),
    });
    return this.post(id);
  }

  /** A post that was asked for through the API. */
  create({ board, title, content, email, full_name }: CheckedCreate): PostWire {
    const now = this.clock.now();
    ensureUser(this.db, email, full_name, now);
    return this.addPost({ board, title, content, email, votes: 1, created: wire.stamp(now) });
  }

  /** The board that a create means. */
  boardOf(given: string): { id: number; slug: string } | undefined {
    return this.boards().find(({ slug }) => slug === given);
  }

  editPost(id: number, edit: edits.PostEdit): void {
    edits.updateRow(this.db, 'posts', id, edits.postColumns(this.lookup, edit));
  }

  vote(id: number, delta = 1): void {
    edits.updateRow(this.db, 'posts', id, { votes_count: this.post(id).votes_count + delta });
  }

  setStatus(id: number, statusId: number): void {
    if (!this.statuses().some((status) => status.id === statusId)) throw new Error(`no status ${statusId}`);
    edits.updateRow(this.db, 'posts', id, { status_id: statusId });
  }

  /** Deletes the post and its comments; false when it was not there. */
  deletePost(id: number): boolean {
    return this.db.transaction(() => {
      prepared(this.db, 'DELETE FROM comments WHERE post_id = ?').run(id);
      return prepared(this.db, 'DELETE FROM posts WHERE id = ?').run(id).changes === 1;
    })();
  }

  addComment(comment: edits.NewWorldComment): CommentWire {
    this.post(comment.post);
    const id = edits.insertRow(this.db, 'comments', {
      kind: 'reply',
      content: writeReply(this.#random, false),
      likes_count: 0,
      highlighted: 0,
      internal: 0,
      creator_id: this.#someone(),
      ...edits.commentColumns(this.lookup, { created: this.clock.now(), ...comment }),
    });
    return this.comment(id);
  }

  deleteComment(id: number): boolean {
    return prepared(this.db, 'DELETE FROM comments WHERE id = ?').run(id).changes === 1;
  }

  close(): void {
    this.db.close();
  }

  #all(resource: Resource): (PostWire | CommentWire)[] {
    this.settle();
    const { rows } = readSlice(this.db, { resource, order: 'oldest' }, { offset: 0 }, 2 ** 31 - 2);
    return rows;
  }

  #boardId(slug: string): number {
    const board = this.boardOf(slug);
    if (!board) throw new Error(`no board ${slug}`);
    return board.id;
  }

  #someone(): number {
    const { last } = prepared(this.db, 'SELECT max(id) AS last FROM users').get() as { last: number };
    return 1 + this.#random.int(last);
  }
}
