import { isSameMoment, toInstant } from '../../contract/datetime.ts';
import type { Post } from '../../contract/decode.ts';
import type { ChangeLog, ChangeType } from '../change-log.ts';
import type { Db } from '../db.ts';
import type { TextIndex } from '../index/text-index.ts';
import { rawUnlessSame } from './entity-tables.ts';
import { observedAfter, type RowWriter, storedRows } from './rows.ts';

interface StoredPost {
  title: string;
  content: string;
  url: string;
  creator_id: number;
  board_id: number;
  status_id: number;
  votes_count: number;
  comments_count: number;
  created_text: string;
  extra: string | null;
  first_seen_at: string;
  version_at: string;
  deleted_at: string | null;
}

/** Writes a post only where it differs from what is stored, keeps the version it replaces, and tells of the change. */
export function postWriter(db: Db, text: TextIndex, changes: ChangeLog): RowWriter<Post> {
  const stored = storedRows<StoredPost>(
    db,
    'posts',
    `title, content, url, creator_id, board_id, status_id, votes_count, comments_count,
     coalesce(created_raw, created) AS created_text, extra, first_seen_at, version_at, deleted_at`,
  );
  const insert = db.prepare(`
    INSERT INTO posts (id, title, content, url, creator_id, board_id, status_id, votes_count, comments_count,
                       created, created_raw, extra, first_seen_at, changed_at, version_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const update = db.prepare(`
    UPDATE posts SET title = ?, content = ?, url = ?, creator_id = ?, board_id = ?, status_id = ?, votes_count = ?,
                     comments_count = ?, created = ?, created_raw = ?, extra = ?, changed_at = ?, version_at = ?,
                     first_seen_at = ?, deleted_at = NULL, erased_at = NULL
     WHERE id = ?`);
  const keepVersion = db.prepare(`
    INSERT INTO post_versions (post_id, observed_at, title, content, board_id, status_id, votes_count, comments_count, deleted)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const remove = db.prepare(`
    UPDATE posts SET deleted_at = ?, changed_at = ?, version_at = ? WHERE id = ? AND deleted_at IS NULL`);

  const keep = (id: number, old: StoredPost, next: { title: string; content: string }): number => {
    const title = old.title === next.title ? null : old.title;
    const content = old.content === next.content ? null : old.content;
    const deleted = old.deleted_at === null ? 0 : 1;
    const kept = keepVersion.run(
      id,
      old.version_at,
      title,
      content,
      old.board_id,
      old.status_id,
      old.votes_count,
      old.comments_count,
      deleted,
    );
    return Number(kept.lastInsertRowid);
  };

  return {
    expect: stored.expect,
    has: (id) => stored.find(id)?.deleted_at === null,
    write(post, at) {
      const old = stored.find(post.id);
      if (old && isSame(old, post)) return 'unchanged';
      const { id, title, content } = post;
      const columns = columnsOf(post);
      stored.wrote(id);
      if (!old) {
        insert.run(id, ...columns, at, at, at);
        text.posts.added(id, title, content);
        changes.row('posts', 'post.created', at, { id });
        return 'inserted';
      }
      const isSameText = old.title === title && old.content === content;
      const isSameAsBefore: boolean = isSameVersion(old, post);
      const replaced = isSameAsBefore ? {} : { version: keep(id, old, post) };
      const seenAt = isAnother(old, post) ? at : old.first_seen_at;
      const changedAt = observedAfter(old.version_at, at);
      update.run(...columns, changedAt, isSameAsBefore ? old.version_at : changedAt, seenAt, id);
      if (!isSameText) text.posts.changed(id, [old.title, old.content], [title, content]);
      for (const type of changeTypes(old, post)) changes.row('posts', type, at, { id, ...replaced });
      return 'updated';
    },
    remove(id, at) {
      const old = stored.find(id);
      if (!old || old.deleted_at !== null) return false;
      stored.wrote(id);
      changes.row('posts', 'post.deleted', at, { id, version: keep(id, old, old) });
      const goneAt = observedAfter(old.version_at, at);
      return remove.run(goneAt, goneAt, goneAt, id).changes === 1;
    },
  };
}

/** What happened to a post that is not as it was stored. */
function changeTypes(old: StoredPost, post: Post): ChangeType[] {
  const types: ChangeType[] = [];
  if (old.deleted_at !== null) types.push('post.restored');
  if (old.title !== post.title || old.content !== post.content) types.push('post.edited');
  if (old.status_id !== post.status.id) types.push('post.status_changed');
  if (old.board_id !== post.board.id) types.push('post.moved');
  if (old.votes_count !== post.votes_count) types.push('post.votes_changed');
  return types.length > 0 ? types : ['post.updated'];
}

type Columns = (string | number | null)[];

/** In the order of both statements, between id and times. */
function columnsOf(post: Post): Columns {
  const { title, content, url, creator, board, status, votes_count, comments_count, extra } = post;
  const created = toInstant(post.created);
  const times = [created, rawUnlessSame(post.created, created)];
  return [title, content, url, creator.id, board.id, status.id, votes_count, comments_count, ...times, extra];
}

function isSame(old: StoredPost, post: Post): boolean {
  return (
    isSameVersion(old, post) &&
    old.url === post.url &&
    old.creator_id === post.creator.id &&
    isSameMoment(old.created_text, post.created) &&
    old.extra === post.extra
  );
}

/** A service may give the number of a deleted post to a new one: nobody makes a post anew, or after it was first seen. */
function isAnother(old: StoredPost, post: Post): boolean {
  if (isSameMoment(old.created_text, post.created)) return false;
  return old.creator_id !== post.creator.id || (toInstant(post.created) ?? '') > old.first_seen_at;
}

/** Equal in everything that post_history tells about. */
function isSameVersion(old: StoredPost, post: Post): boolean {
  return (
    old.votes_count === post.votes_count &&
    old.comments_count === post.comments_count &&
    old.status_id === post.status.id &&
    old.board_id === post.board.id &&
    old.deleted_at === null &&
    old.title === post.title &&
    old.content === post.content
  );
}
