import type { CommentWire, PostWire, UserWire } from '../../contract/entities.ts';

/** Rows of the mirror, turned back into what the upstream sent: its own spelling of times, and its undocumented fields. */

interface UserColumns {
  user_id: number;
  user_email: string | null;
  user_name: string | null;
  user_alias: string | null;
  user_registered: string | null;
  user_is_admin: number;
  user_is_team: number;
  user_extra: string | null;
}

export interface PostColumns extends UserColumns {
  id: number;
  title: string;
  content: string;
  url: string;
  votes_count: number;
  comments_count: number;
  created: string;
  extra: string | null;
  board_id: number;
  board_name: string;
  board_url: string;
  board_extra: string | null;
  status_id: number;
  status_name: string;
  status_color: string;
  status_extra: string | null;
}

export interface CommentColumns extends UserColumns {
  id: number;
  kind: string;
  status: string | null;
  likes_count: number;
  created: string;
  highlighted: number;
  internal: number;
  content: string;
  extra: string | null;
  post_id: number;
  post_title: string;
  post_url: string;
  post_extra: string | null;
}

const USER_COLUMNS = `u.id AS user_id, u.email AS user_email, u.name AS user_name, u.alias AS user_alias,
  coalesce(u.registered_raw, u.registered) AS user_registered, u.is_admin AS user_is_admin, u.is_team AS user_is_team,
  u.extra AS user_extra`;

/** Cross joins keep the order as it is written: the list is walked by its own key, whatever the statistics say. */
export const POSTS_FROM = `
  SELECT p.id, p.title, p.content, p.url, p.votes_count, p.comments_count,
         coalesce(p.created_raw, p.created) AS created, p.extra,
         b.id AS board_id, b.name AS board_name, b.url AS board_url, b.extra AS board_extra,
         s.id AS status_id, s.name AS status_name, s.color AS status_color, s.extra AS status_extra, ${USER_COLUMNS}
    FROM posts p CROSS JOIN boards b ON b.id = p.board_id CROSS JOIN statuses s ON s.id = p.status_id
    CROSS JOIN users u ON u.id = p.creator_id`;

export const COMMENTS_FROM = `
  SELECT c.id, c.kind, c.status, c.likes_count, coalesce(c.created_raw, c.created) AS created, c.highlighted,
         c.internal, c.content, c.extra,
         r.id AS post_id, r.title AS post_title, r.url AS post_url, r.extra AS post_extra, ${USER_COLUMNS}
    FROM comments c CROSS JOIN commented_posts r ON r.id = c.post_id CROSS JOIN users u ON u.id = c.creator_id`;

export function toPost(row: PostColumns): PostWire {
  return {
    id: row.id,
    title: row.title,
    content: row.content,
    url: row.url,
    creator: toUser(row),
    board: { id: row.board_id, name: row.board_name, url: row.board_url, ...extraOf(row.board_extra) },
    status: {
      id: row.status_id,
      name: row.status_name,
      color: row.status_color,
      ...extraOf(row.status_extra),
    },
    votes_count: row.votes_count,
    created: row.created,
    comments_count: row.comments_count,
    ...extraOf(row.extra),
  };
}

export function toComment(row: CommentColumns): CommentWire {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status === null ? null : JSON.parse(row.status),
    likes_count: row.likes_count,
    created: row.created,
    highlighted: row.highlighted === 1,
    internal: row.internal === 1,
    content: row.content,
    post: { id: row.post_id, title: row.post_title, url: row.post_url, ...extraOf(row.post_extra) },
    creator: toUser(row),
    ...extraOf(row.extra),
  };
}

function toUser(row: UserColumns): UserWire {
  return {
    id: row.user_id,
    email: row.user_email,
    name: row.user_name,
    alias: row.user_alias,
    registered: row.user_registered,
    is_admin: row.user_is_admin === 1,
    is_team: row.user_is_team === 1,
    ...extraOf(row.user_extra),
  };
}

function extraOf(json: string | null): Record<string, unknown> {
  return json === null ? {} : (JSON.parse(json) as Record<string, unknown>);
}
