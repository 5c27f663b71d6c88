import type { KnownBoard } from '../../base/boards.ts';
import type { Resource } from '../../contract/endpoints.ts';
import type { CommentWire, PostWire } from '../../contract/entities.ts';
import { type CommentColumns, type PostColumns, toComment, toPost } from '../../contract/wire.ts';
import type { Db, OpenOptions } from '../db.ts';
import { openMirrorReadOnly } from '../open.ts';
import { boardReader } from '../outbox/import-reads.ts';
import { ranker } from '../search/search.ts';
import * as wire from './wire.ts';

/** The mirror as the upstream's own API shows it, from a handle that cannot change it. */
export interface ReplicaReads {
  /** One page of a list, newest first, as it is at this moment. */
  page(resource: Resource, place: Place, size: number): Promise<Slice>;
  /** The most relevant posts. */
  search(text: string): Promise<PostWire[]>;
  /** Whether the mirror has this post. */
  hasPost(id: number): Promise<boolean>;
  /** Whether a post of this board was ever seen; one without posts is not known. */
  /** Boards that a client can name. */
  boards(): KnownBoard[];
  close(): Promise<void>;
}

/**
 * Where a page is: the rows that come after the one with this id in the list, or those right before it. Ids never change and a walk
 * never goes back, so whatever comes and goes meanwhile, it sees every row that stayed, and none twice.
 */
export interface Place {
  /** Null is the start of the list. */
  id: number | null;
  side: 'after' | 'before';
}

export interface Slice {
  rows: (PostWire | CommentWire)[];
  hasEarlier: boolean;
  hasMore: boolean;
}

export function openReplicaReads(options: OpenOptions): ReplicaReads {
  const db = openMirrorReadOnly(options);
  const lists = {
    posts: lister<PostColumns>(db, POSTS),
    comments: lister<CommentColumns>(db, COMMENTS),
  };
  const search = postSearch(db);
  const post = db.prepare<[number], number>('SELECT 1 FROM posts WHERE id = ?').pluck();
  return {
    page: async (resource, place, size) => lists[resource](place, size),
    search: async (text) => search(text),
    hasPost: async (id) => post.get(id) === 1,
    boards: boardReader(db),
    async close() {
      db.close();
    },
  };
}

interface List<R> {
  from: string;
  /** The table's name in `from`. */
  alias: string;
  table: Resource;
  read: (row: R) => PostWire | CommentWire;
}

const POSTS: List<PostColumns> = {
  from: wire.POSTS_FROM,
  alias: 'p',
  table: 'posts',
  read: toPost,
};
const COMMENTS: List<CommentColumns> = {
  from: wire.COMMENTS_FROM,
  alias: 'c',
  table: 'comments',
  read: toComment,
};

type Question = { id: number; size: number };

function lister<R extends { id: number }>(db: Db, { from, alias, table, read }: List<R>) {
  const one = (condition: string, order: string) =>
    db.prepare<Question, R>(`
      ${from} WHERE ${alias}.deleted_at IS NULL AND ${alias}.id ${condition} $id
      ORDER BY ${alias}.id ${order} LIMIT $size`);
  const pages = { after: one('<', 'DESC'), before: one('>', 'ASC') };
  const exists = (condition: string) =>
    db
      .prepare<[number], number>(
        `SELECT EXISTS (SELECT 1 FROM ${table} WHERE deleted_at IS NULL AND id ${condition} ?)`,
      )
      .pluck();
  const isOlder = exists('<');
  const isNewer = exists('>');
  // One snapshot for the rows and for what is said about their neighbours.
  return db.transaction(({ id, side }: Place, size: number): Slice => {
    const found = pages[side].all({ id: id ?? Number.MAX_SAFE_INTEGER, size });
    if (side === 'before') found.reverse();
    const [first, last] = [found[0], found.at(-1)];
    return {
      rows: found.map(read),
      hasEarlier: first !== undefined && isNewer.get(first.id) === 1,
      hasMore: last !== undefined && isOlder.get(last.id) === 1,
    };
  });
}

function postSearch(db: Db): (text: string) => PostWire[] {
  const rank = ranker(db);
  const find = db.prepare<[string], PostColumns>(
    `${wire.POSTS_FROM} WHERE p.id IN (SELECT value FROM json_each(?))`,
  );
  return db.transaction((text: string): PostWire[] => {
    const ids = (rank(text)?.best ?? []).map(({ id }) => id);
    const rows = new Map(find.all(JSON.stringify(ids)).map((row) => [row.id, row]));
    return ids.flatMap((id) => {
      const row = rows.get(id);
      return row ? [toPost(row)] : [];
    });
  });
}
