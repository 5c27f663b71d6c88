import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { RESOURCES, type Resource } from '../../src/contract/endpoints.ts';
import type { World } from '../laboratory/server.ts';

export type Row = Record<string, unknown>;

/** The live rows of a mirror in the words of the upstream, for comparing the two field by field. */
export function readMirror(path: string): { posts: Row[]; comments: Row[] } {
  const db = new Database(path, { readonly: true });
  try {
    return {
      posts: db.prepare<[], PostRow>(POSTS).all().map(toPost),
      comments: db.prepare<[], CommentRow>(COMMENTS).all().map(toComment),
    };
  } finally {
    db.close();
  }
}

/** The mirror equals the upstream, field by field and both ways. */
export function assertExact(path: string, world: World, resources: readonly Resource[] = RESOURCES): void {
  const mirror = readMirror(path);
  for (const resource of resources) {
    const upstream = resource === 'posts' ? world.posts() : world.comments();
    assert.deepEqual(mirror[resource], JSON.parse(JSON.stringify(upstream)), `the mirror's ${resource}`);
  }
}

const CREATOR = `json_object('id', u.id, 'email', u.email, 'name', u.name, 'alias', u.alias,
  'registered', coalesce(u.registered_raw, u.registered), 'is_admin', json(iif(u.is_admin, 'true', 'false')),
  'is_team', json(iif(u.is_team, 'true', 'false')))`;

const POSTS = `
  SELECT p.id, p.title, p.content, p.url, p.votes_count, p.comments_count, coalesce(p.created_raw, p.created) AS created,
         ${CREATOR} AS creator, json_object('id', b.id, 'name', b.name, 'url', b.url) AS board,
         json_object('id', s.id, 'name', s.name, 'color', s.color) AS status, p.extra
    FROM posts p JOIN users u ON u.id = p.creator_id JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
   WHERE p.deleted_at IS NULL ORDER BY p.id`;

const COMMENTS = `
  SELECT c.id, c.kind, c.status, c.likes_count, c.highlighted, c.internal, c.content,
         coalesce(c.created_raw, c.created) AS created, ${CREATOR} AS creator,
         json_object('id', r.id, 'title', r.title, 'url', r.url) AS post, c.extra
    FROM comments c JOIN users u ON u.id = c.creator_id JOIN commented_posts r ON r.id = c.post_id
   WHERE c.deleted_at IS NULL ORDER BY c.id`;

interface PostRow extends Row {
  creator: string;
  board: string;
  status: string;
  extra: string | null;
}

interface CommentRow extends Row {
  creator: string;
  post: string;
  status: string | null;
  highlighted: number;
  internal: number;
  extra: string | null;
}

function toPost({ creator, board, status, extra, ...row }: PostRow): Row {
  return {
    ...row,
    creator: JSON.parse(creator),
    board: JSON.parse(board),
    status: JSON.parse(status),
    ...extraOf(extra),
  };
}

function toComment({ creator, post, status, highlighted, internal, extra, ...row }: CommentRow): Row {
  return {
    ...row,
    status: status === null ? null : JSON.parse(status),
    highlighted: highlighted === 1,
    internal: internal === 1,
    creator: JSON.parse(creator),
    post: JSON.parse(post),
    ...extraOf(extra),
  };
}

function extraOf(extra: string | null): Row {
  return extra === null ? {} : (JSON.parse(extra) as Row);
}
