import { parseJson } from '../base/json.ts';
import type { CommentWire, PostWire, UserWire } from './entities.ts';

/**
 * Rows as SQLite gives them, turned into what the API shows: by the sandbox from its world, and by the replica from the mirror. What an
 * upstream shows beyond the documented fields is laid over them.
 */

export interface UserColumns {
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
  board_extra?: string | null;
  status_id: number;
  status_name: string;
  status_color: string;
  status_extra?: string | null;
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
  post_extra?: string | null;
}

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
    status: row.status === null ? null : parseJson(row.status),
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

function extraOf(json: string | null | undefined): Record<string, unknown> {
  return json == null ? {} : (parseJson(json) as Record<string, unknown>);
}
