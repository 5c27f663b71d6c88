import type { BoardWire, CommentWire, PostWire, StatusWire, UserWire } from '../contract/entities.ts';

/** Rows as SQLite gives them, turned into what the API shows. `extra` is laid over the documented fields. */

export interface UserColumns {
  user_id: number;
  user_email: string;
  user_name: string;
  user_alias: string;
  user_registered: string;
  user_is_admin: number;
  user_is_team: number;
  user_extra: string | null;
}

export interface PostRow extends UserColumns {
  id: number;
  title: string;
  content: string;
  votes_count: number;
  created: string;
  extra: string | null;
  comments_count: number;
  board_id: number;
  board_slug: string;
  board_name: string;
  status_id: number;
  status_name: string;
  status_color: string;
}

export interface CommentRow extends UserColumns {
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
  board_slug: string;
}

export const USER_COLUMNS = `u.id AS user_id, u.email AS user_email, u.name AS user_name, u.alias AS user_alias,
  u.registered AS user_registered, u.is_admin AS user_is_admin, u.is_team AS user_is_team, u.extra AS user_extra`;

/** comments_count is counted, never kept: it cannot be wrong. */
export const POST_SELECT = `p.id, p.title, p.content, p.votes_count, p.created, p.extra,
    (SELECT count(*) FROM comments c WHERE c.post_id = p.id) AS comments_count,
    b.id AS board_id, b.slug AS board_slug, b.name AS board_name,
    s.id AS status_id, s.name AS status_name, s.color AS status_color, ${USER_COLUMNS}`;

export const POST_JOINS = `JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
  JOIN users u ON u.id = p.creator_id`;

export const COMMENT_SELECT = `c.id, c.kind, c.status, c.likes_count, c.created, c.highlighted, c.internal, c.content,
    c.extra, c.post_id, p.title AS post_title, b.slug AS board_slug, ${USER_COLUMNS}`;

export const COMMENT_JOINS = `JOIN posts p ON p.id = c.post_id JOIN boards b ON b.id = p.board_id
  JOIN users u ON u.id = c.creator_id`;

export function toPost(row: PostRow): PostWire {
  return {
    id: row.id,
    title: row.title,
    content: row.content,
    url: postUrl(row.board_slug, row.id),
    creator: toUser(row),
    board: toBoard({ id: row.board_id, slug: row.board_slug, name: row.board_name }),
    status: toStatus({ id: row.status_id, name: row.status_name, color: row.status_color }),
    votes_count: row.votes_count,
    created: row.created,
    comments_count: row.comments_count,
    ...extraOf(row.extra),
  };
}

export function toComment(row: CommentRow): CommentWire {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status === null ? null : JSON.parse(row.status),
    likes_count: row.likes_count,
    created: row.created,
    highlighted: row.highlighted === 1,
    internal: row.internal === 1,
    content: row.content,
    post: { id: row.post_id, title: row.post_title, url: postUrl(row.board_slug, row.post_id) },
    creator: toUser(row),
    ...extraOf(row.extra),
  };
}

export function toUser(row: UserColumns): UserWire {
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

export function toBoard({ id, slug, name }: { id: number; slug: string; name: string }): BoardWire {
  return { id, name, url: `/b/${slug}/` };
}

export function toStatus({ id, name, color }: { id: number; name: string; color: string }): StatusWire {
  return { id, name, color };
}

export function postUrl(boardSlug: string, id: number): string {
  return `/b/${boardSlug}/p/${id}/`;
}

function extraOf(json: string | null): Record<string, unknown> {
  return json === null ? {} : (JSON.parse(json) as Record<string, unknown>);
}

/** `2024-05-06T07:08:09.123456Z`: the API's spelling, six digits of a second and a Z. */
export function stamp(ms: number, micros = 0): string {
  const iso = new Date(ms).toISOString();
  return `${iso.slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
}
