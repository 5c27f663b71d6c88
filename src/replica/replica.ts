import type { Resource } from '../contract/endpoints.ts';
import type { CommentWire, PostWire } from '../contract/entities.ts';
import { type CommentColumns, type PostColumns, toComment, toPost } from '../contract/wire.ts';
import type { Db, OpenOptions } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { boardReader } from '../outbox/store/imports.ts';
import { ranker } from '../search/search.ts';

/** Where a page is: the rows after the one with this id, or right before it. Ids never change: a walk sees every row that stayed, and none twice. */
export interface ListPlace {
  /** Null is the start of the list. */
  id: number | null;
  side: 'after' | 'before';
}

export interface ReplicaPage {
  rows: (PostWire | CommentWire)[];
  hasEarlier: boolean;
  hasMore: boolean;
}

export type ReplicaReads = ReturnType<typeof openReplicaReads>;

/** The mirror as the upstream's own API shows it, from a handle that cannot change it. */
export function openReplicaReads(options: OpenOptions) {
  const db = openMirrorReadOnly(options);
  const lists = {
    posts: lister<PostColumns>(db, POSTS),
    comments: lister<CommentColumns>(db, COMMENTS),
  };
  const search = postSearch(db, options.upstream);
  const post = scalar(db)<[number], number>('SELECT 1 FROM posts WHERE id = ?');
  return {
    /** One page of a list, newest first, as it is at this moment. */
    page: async (resource: Resource, place: ListPlace, size: number): Promise<ReplicaPage> =>
      lists[resource](place, size),
    /** The most relevant posts. */
    search: async (text: string): Promise<PostWire[]> => search(text),
    /** Whether the mirror has this post. */
    hasPost: async (id: number): Promise<boolean> => post.get(id) === 1,
    /** Boards that a client can name. */
    boards: boardReader(db),
    async close(): Promise<void> {
      db.close();
    },
  };
}

/** The columns of src/contract/wire.ts from the mirror, in the upstream's own spelling of times. */
const USER_COLUMNS = `u.id AS user_id, u.email AS user_email, u.name AS user_name, u.alias AS user_alias,
  coalesce(u.registered_raw, u.registered) AS user_registered, u.is_admin AS user_is_admin, u.is_team AS user_is_team,
  u.extra AS user_extra`;

/** Cross joins keep the order as it is written: the list is walked by its own key, whatever the statistics say. */
const POSTS_FROM = `
  SELECT p.id, p.title, p.content, p.url, p.votes_count, p.comments_count,
         coalesce(p.created_raw, p.created) AS created, p.extra,
         b.id AS board_id, b.name AS board_name, b.url AS board_url, b.extra AS board_extra,
         s.id AS status_id, s.name AS status_name, s.color AS status_color, s.extra AS status_extra, ${USER_COLUMNS}
    FROM posts p CROSS JOIN boards b ON b.id = p.board_id CROSS JOIN statuses s ON s.id = p.status_id
    CROSS JOIN users u ON u.id = p.creator_id`;

const COMMENTS_FROM = `
  SELECT c.id, c.kind, c.status, c.likes_count, coalesce(c.created_raw, c.created) AS created, c.highlighted,
         c.internal, c.content, c.extra,
         r.id AS post_id, r.title AS post_title, r.url AS post_url, r.extra AS post_extra, ${USER_COLUMNS}
    FROM comments c CROSS JOIN commented_posts r ON r.id = c.post_id CROSS JOIN users u ON u.id = c.creator_id`;

interface List<R> {
  from: string;
  /** The table's name in `from`. */
  alias: string;
  table: Resource;
  read: (row: R) => PostWire | CommentWire;
}

const POSTS: List<PostColumns> = { from: POSTS_FROM, alias: 'p', table: 'posts', read: toPost };
const COMMENTS: List<CommentColumns> = {
  from: COMMENTS_FROM,
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
    scalar(db)<[number], number>(`
      SELECT EXISTS (SELECT 1 FROM ${table} WHERE deleted_at IS NULL AND id ${condition} ?)`);
  const isOlder = exists('<');
  const isNewer = exists('>');
  // One snapshot for the rows and for what is said about their neighbours.
  return db.transaction(({ id, side }: ListPlace, size: number): ReplicaPage => {
    const found = pages[side].all({ id: id ?? Number.MAX_SAFE_INTEGER + 1, size });
    if (side === 'before') found.reverse();
    const [first, last] = [found[0], found.at(-1)];
    return {
      rows: found.map(read),
      hasEarlier: first !== undefined && isNewer.get(first.id) === 1,
      hasMore: last !== undefined && isOlder.get(last.id) === 1,
    };
  });
}

function postSearch(db: Db, upstream: string): (text: string) => PostWire[] {
  const rank = ranker(db, upstream);
  const find = db.prepare<[string], PostColumns>(
    `${POSTS_FROM} WHERE p.id IN (SELECT value FROM json_each(?))`,
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
