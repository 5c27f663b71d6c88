import { isSameMoment, toInstant } from '../../contract/datetime.ts';
import type { Comment } from '../../contract/decode.ts';
import type { ChangeLog, ChangeType } from '../change-log.ts';
import type { Db } from '../db.ts';
import type { TextIndex } from '../index/text-index.ts';
import { rawUnlessSame } from './entity-tables.ts';
import { observedAfter, type RowWriter, storedRows } from './rows.ts';

interface StoredComment {
  post_id: number;
  creator_id: number;
  kind: string;
  status: string | null;
  likes_count: number;
  highlighted: number;
  internal: number;
  content: string;
  created_text: string;
  extra: string | null;
  version_at: string;
  deleted_at: string | null;
}

/** Writes a comment only where it differs from what is stored, keeps the version it replaces, and tells of the change. */
export function commentWriter(db: Db, text: TextIndex, changes: ChangeLog): RowWriter<Comment> {
  const stored = storedRows<StoredComment>(
    db,
    'comments',
    `post_id, creator_id, kind, status, likes_count, highlighted, internal, content,
     coalesce(created_raw, created) AS created_text, extra, version_at, deleted_at`,
  );
  const insert = db.prepare(`
    INSERT INTO comments (id, post_id, creator_id, kind, status, likes_count, highlighted, internal, content,
                          created, created_raw, extra, first_seen_at, changed_at, version_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const update = db.prepare(`
    UPDATE comments SET post_id = ?, creator_id = ?, kind = ?, status = ?, likes_count = ?, highlighted = ?, internal = ?,
                        content = ?, created = ?, created_raw = ?, extra = ?, changed_at = ?, version_at = ?, deleted_at = NULL, erased_at = NULL
     WHERE id = ?`);
  const keepVersion = db.prepare(`
    INSERT INTO comment_versions (comment_id, observed_at, content, likes_count, highlighted, internal, status, deleted,
                                  post_id, creator_id, kind)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const remove = db.prepare(`
    UPDATE comments SET deleted_at = ?, changed_at = ?, version_at = ? WHERE id = ? AND deleted_at IS NULL`);

  const keep = (id: number, old: StoredComment, content: string): number => {
    const text = old.content === content ? null : old.content;
    const deleted = old.deleted_at === null ? 0 : 1;
    const kept = keepVersion.run(
      id,
      old.version_at,
      text,
      old.likes_count,
      old.highlighted,
      old.internal,
      old.status,
      deleted,
      old.post_id,
      old.creator_id,
      old.kind,
    );
    return Number(kept.lastInsertRowid);
  };

  return {
    expect: stored.expect,
    has: (id) => stored.find(id)?.deleted_at === null,
    write(comment, at) {
      const old = stored.find(comment.id);
      if (old && isSame(old, comment)) return 'unchanged';
      stored.wrote(comment.id);
      const created = toInstant(comment.created);
      const { id, post, creator, kind, status, likes_count, highlighted, internal, content, extra } = comment;
      const flags = [Number(highlighted), Number(internal)];
      const times = [created, rawUnlessSame(comment.created, created)];
      const columns = [post.id, creator.id, kind, status, likes_count, ...flags, content, ...times, extra];
      if (!old) {
        insert.run(id, ...columns, at, at, at);
        changes.row('comments', 'comment.created', at, { id });
        text.comments.added(id, content);
        return 'inserted';
      }
      const isSameAsBefore: boolean = isSameVersion(old, comment);
      const replaced = isSameAsBefore ? {} : { version: keep(id, old, content) };
      const changedAt = observedAfter(old.version_at, at);
      update.run(...columns, changedAt, isSameAsBefore ? old.version_at : changedAt, id);
      for (const type of changeTypes(old, content)) changes.row('comments', type, at, { id, ...replaced });
      if (old.content !== content) text.comments.changed(id, [old.content], [content]);
      return 'updated';
    },
    remove(id, at) {
      const old = stored.find(id);
      if (!old || old.deleted_at !== null) return false;
      stored.wrote(id);
      changes.row('comments', 'comment.deleted', at, { id, version: keep(id, old, old.content) });
      const goneAt = observedAfter(old.version_at, at);
      return remove.run(goneAt, goneAt, goneAt, id).changes === 1;
    },
  };
}

/** What happened to a comment that is not as it was stored. */
function changeTypes(old: StoredComment, content: string): ChangeType[] {
  const types: ChangeType[] = [];
  if (old.deleted_at !== null) types.push('comment.restored');
  if (old.content !== content) types.push('comment.edited');
  return types.length > 0 ? types : ['comment.updated'];
}

function isSame(old: StoredComment, comment: Comment): boolean {
  return (
    isSameVersion(old, comment) &&
    isSameMoment(old.created_text, comment.created) &&
    old.extra === comment.extra
  );
}

/** Equal in everything that comment_history tells about. */
function isSameVersion(old: StoredComment, comment: Comment): boolean {
  return (
    old.post_id === comment.post.id &&
    old.creator_id === comment.creator.id &&
    old.kind === comment.kind &&
    old.likes_count === comment.likes_count &&
    old.highlighted === Number(comment.highlighted) &&
    old.internal === Number(comment.internal) &&
    old.status === comment.status &&
    old.deleted_at === null &&
    old.content === comment.content
  );
}
