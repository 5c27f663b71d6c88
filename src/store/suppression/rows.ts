import { type ChangeLog, changeLog } from '../change-log.ts';
import type { Db } from '../db.ts';
import { textIndex } from '../index/text-index.ts';
import { scalar } from '../sql.ts';
import { ERASED, erased } from './words.ts';

export interface PostWords {
  title: string;
  content: string;
  url: string;
  extra: string | null;
}

export type RowErasers = ReturnType<typeof rowErasers>;

/** Takes the words out of single rows, wherever the mirror keeps them; ids, numbers, states and times stay. */
export function rowErasers(db: Db) {
  const text = textIndex(db);
  const changes = changeLog(db);
  const find = db.prepare<[number], PostWords>('SELECT title, content, url, extra FROM posts WHERE id = ?');
  const write = db.prepare(`
    UPDATE posts SET title = $title, content = $content, url = $url, extra = $extra, changed_at = $at WHERE id = $id`);
  const postHistory = db.prepare(`
    UPDATE post_versions SET title = NULL, content = NULL WHERE post_id = ? AND (title IS NOT NULL OR content IS NOT NULL)`);
  // A version without a text of its own shows that of the post.
  const markHistory = db.prepare('UPDATE post_versions SET erased_at = ? WHERE post_id = ?');
  const reference = db.prepare(`
    UPDATE commented_posts SET title = iif(title = '', '', ?), url = '', extra = NULL, changed_at = ? WHERE id = ?`);
  const commentText = scalar(db)<[number], string>('SELECT content FROM comments WHERE id = ?');
  const comment = db.prepare(`
    UPDATE comments SET content = iif(content = '', '', ?), extra = NULL, changed_at = ? WHERE id = ?`);
  const commentHistory = db.prepare(`
    UPDATE comment_versions SET content = NULL WHERE comment_id = ? AND content IS NOT NULL`);
  const user = db.prepare(`
    UPDATE users SET email = NULL, name = NULL, alias = NULL, extra = NULL, changed_at = ?
     WHERE id = ? AND coalesce(email, name, alias, extra) IS NOT NULL`);

  const rewritePost = (id: number, next: PostWords, at: string): void => {
    const old = find.get(id);
    if (!old) return;
    write.run({ id, ...next, at });
    markHistory.run(at, id);
    changes.add('post.erased', at, id);
    if (old.title !== next.title || old.content !== next.content)
      text.posts.erased(id, [old.title, old.content], [next.title, next.content]);
  };

  const reindexComment = (id: number, old: string, next: string): void => {
    if (old !== next) text.comments.erased(id, [old], [next]);
  };
  return {
    /** To be called when a transaction begins. */
    refresh: text.refresh,
    /** Puts other words into a post that is somebody else's. */
    rewritePost,
    /** Brings the words that a comment was given into the index in place of its old ones. */
    reindexComment,
    /** Title, text, link and undocumented fields: in the post, its history, its short form beside comments, and the index. */
    post(id: number, at: string): void {
      const old = find.get(id);
      if (!old) return;
      rewritePost(id, { title: erased(old.title), content: erased(old.content), url: '', extra: null }, at);
      postHistory.run(id);
      reference.run(ERASED, at, id);
    },
    comment(id: number, at: string): void {
      const old = commentText.get(id);
      if (old === undefined) return;
      comment.run(ERASED, at, id);
      reindexComment(id, old, erased(old));
      commentHistory.run(id);
      changes.add('comment.erased', at, id);
    },
    /** A row of the outbox goes to where it is never sent from; what tells it from others (keys, post) stays. */
    outbox: outboxEraser(db, changes),
    user(id: number, at: string): boolean {
      const isErased = user.run(at, id).changes === 1;
      if (isErased) changes.add('user.erased', at, id);
      return isErased;
    },
  };
}

/**
 * A row that waits is cancelled, and so is one of which nobody knows whether it left a post: it could no longer be searched for. Along
 * the transitions of src/outbox/states.ts that is cancel, or markAmbiguous, park and cancel. Without its words no second post
 * of it can be looked for either, hence no more checks.
 */
function outboxEraser(db: Db, changes: ChangeLog) {
  const row = db.prepare(`
    UPDATE outbox SET title = $erased, content = iif(content = '', '', $erased), email = iif(email IS NULL, NULL, $erased),
                      full_name = NULL, url = NULL, last_error = $reason, checks_left = 0, not_before = NULL, on_hold = 0,
                      state = iif(state IN ('confirmed', 'rejected'), state, 'cancelled'), erased_at = $at, changed_at = $at
     WHERE id = $id`);
  const attempts = db.prepare(`
    UPDATE outbox_attempts SET error = NULL WHERE outbox_id = ? AND error IS NOT NULL`);
  const edits = db.prepare('DELETE FROM outbox_edits WHERE outbox_id = ?');
  return (id: number, at: string): void => {
    row.run({ id, at, erased: ERASED, reason: 'its text was erased' });
    attempts.run(id);
    edits.run(id);
    changes.add('outbox.erased', at, id);
  };
}
