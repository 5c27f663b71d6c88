import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { TRANSITIONS, whereAndTo } from '../../outbox/decide/states.ts';
import { textIndex } from '../index/text-index.ts';
import { type ChangeLog, changeLog } from '../log/change-log.ts';
import { historyEraser, type IsTheirs } from './history.ts';
import { ERASED } from './words.ts';

export interface PostWords {
  title: string;
  content: string;
  url: string;
  extra: string | null;
}
const POST_WORDS = ['title', 'content', 'url', 'extra'] as const;
type CommentWords = Pick<PostWords, 'content' | 'extra'>;

export type RowErasers = ReturnType<typeof rowErasers>;

/** Takes the words out of single rows, wherever the mirror keeps them; ids, numbers, states and times stay. */
export function rowErasers(db: Db) {
  const traces = { text: textIndex(db), changes: changeLog(db) };
  const references = referenceEraser(db);
  return {
    /** To be called when a transaction begins. */
    refresh: traces.text.refresh,
    ...postEraser(db, traces, references),
    leftReferences: references.left,
    ...commentEraser(db, traces),
    /** A row of the outbox goes to where it is never sent from; what tells it from others (keys, post) stays. */
    outbox: outboxEraser(db, traces.changes),
    user: userEraser(db, traces.changes),
  };
}

interface Traces {
  text: ReturnType<typeof textIndex>;
  changes: ChangeLog;
}

function postEraser(db: Db, { text, changes }: Traces, references: ReturnType<typeof referenceEraser>) {
  const find = db.prepare<[number], PostWords & { creator_id: number }>(
    'SELECT title, content, url, extra, creator_id FROM posts WHERE id = ?',
  );
  const write = db.prepare(`
    UPDATE posts SET title = $title, content = $content, url = $url, extra = $extra, changed_at = $at WHERE id = $id`);
  const history = historyEraser(db, 'post', ['title', 'content']);
  // A version without a text of its own shows that of the next one.
  const mark = db.prepare('UPDATE post_versions SET erased_at = ? WHERE post_id = ?');

  /** Replaces the words of another person's post. */
  const rewritePost = (id: number, next: PostWords, at: string): void => {
    const old = find.get(id);
    if (!old) return;
    write.run({ id, ...next, at });
    mark.run(at, id);
    changes.add('post.erased', at, id);
    if (old.title !== next.title || old.content !== next.content)
      text.posts.erased(id, [old.title, old.content], [next.title, next.content]);
  };
  return {
    rewritePost,
    /**
     * Title, text, link and undocumented fields: in the post, its history, its short form beside comments, and the index. Of people who
     * are named; else of whoever wrote them, and then not what living comments show. False where there was nothing.
     */
    post(id: number, at: string, named?: IsTheirs): boolean {
      const old = find.get(id);
      if (!old) return false;
      const isTheirs = named ?? (() => true);
      const { words, isChanged, isOfTheirs } = history(id, old, isTheirs);
      const isOwn = isTheirs(old.creator_id) || isOfTheirs(old.title) || isOfTheirs(old.content);
      const next = isOwn ? { ...words, url: '', extra: null } : old;
      const isNamed = isOwn || isOfTheirs(references.title(id));
      const isReferenced = isNamed && references.erase(id, at, named === undefined);
      const isRow = POST_WORDS.some((name) => next[name] !== old[name]);
      if (!isRow && !isChanged && !isReferenced) return false;
      const { title, content, url, extra } = next;
      rewritePost(id, { title, content, url, extra }, at);
      return true;
    },
  };
}

/** The short form of a post that comments show. */
function referenceEraser(db: Db) {
  const title = scalar(db)<[number], string>('SELECT title FROM commented_posts WHERE id = ?');
  const erase = `
    UPDATE commented_posts AS r SET title = iif(title = '', '', $erased), url = '', extra = NULL, changed_at = $at
     WHERE (title NOT IN ('', $erased) OR url <> '' OR extra IS NOT NULL)`;
  // What a living comment shows of a post that is gone is text of that comment: a sweep would bring it back.
  const isUnshown = 'NOT EXISTS (SELECT 1 FROM comments WHERE post_id = r.id AND deleted_at IS NULL)';
  const one = db.prepare(`${erase} AND id = $id`);
  const unshown = db.prepare(`${erase} AND id = $id AND ${isUnshown}`);
  const left = scalar(db)<{ at: string; erased: string }, number>(`
    ${erase} AND id IN (SELECT id FROM posts WHERE deleted_at IS NOT NULL AND erased_at IS NOT NULL)
       AND ${isUnshown} RETURNING id`);
  return {
    title: (id: number): string => title.get(id) ?? '',
    erase: (id: number, at: string, isUnshownOnly: boolean): boolean =>
      (isUnshownOnly ? unshown : one).run({ id, at, erased: ERASED }).changes > 0,
    /** Those of deleted posts that were erased while a living comment showed them, and which none shows now. Returns their ids. */
    left: (at: string): number[] => left.all({ at, erased: ERASED }),
  };
}

function commentEraser(db: Db, { text, changes }: Traces) {
  const find = db.prepare<[number], CommentWords & { creator_id: number }>(
    'SELECT content, extra, creator_id FROM comments WHERE id = ?',
  );
  const write = db.prepare(`
    UPDATE comments SET content = $content, extra = $extra, changed_at = $at WHERE id = $id`);
  const history = historyEraser(db, 'comment', ['content']);
  const mark = db.prepare('UPDATE comment_versions SET erased_at = ? WHERE comment_id = ?');

  /** Brings the words that a comment was given into the index in place of its old ones. */
  const reindexComment = (id: number, old: string, next: string): void => {
    if (old !== next) text.comments.erased(id, [old], [next]);
  };
  return {
    reindexComment,
    comment(id: number, at: string, isTheirs: IsTheirs = () => true): boolean {
      const old = find.get(id);
      if (!old) return false;
      const { words, isChanged, isOfTheirs } = history(id, old, isTheirs);
      const isOwn = isTheirs(old.creator_id) || isOfTheirs(old.content);
      const { content, extra } = isOwn ? { ...words, extra: null } : old;
      if (content === old.content && extra === old.extra && !isChanged) return false;
      write.run({ id, content, extra, at });
      mark.run(at, id);
      reindexComment(id, old.content, content);
      changes.add('comment.erased', at, id);
      return true;
    },
  };
}

function userEraser(db: Db, changes: ChangeLog) {
  const erase = db.prepare(`
    UPDATE users SET email = NULL, name = NULL, alias = NULL, extra = NULL, changed_at = ?
     WHERE id = ? AND coalesce(email, name, alias, extra) IS NOT NULL`);
  return (id: number, at: string): boolean => {
    const isErased = erase.run(at, id).changes === 1;
    if (isErased) changes.add('user.erased', at, id);
    return isErased;
  };
}

/**
 * A row that waits is cancelled, and so is one that may or may not have left a post: it could no longer be searched for. Without its words
 * no second post of it can be looked for either, hence no more checks.
 */
function outboxEraser(db: Db, changes: ChangeLog) {
  const row = db.prepare(`
    UPDATE outbox SET title = $erased, content = iif(content = '', '', $erased), email = iif(email IS NULL, NULL, $erased),
                      full_name = NULL, url = NULL, last_error = $reason, checks_left = 0, not_before = NULL, on_hold = 0,
                      erased_at = $at, changed_at = $at
     WHERE id = $id`);
  const { set, where } = whereAndTo(TRANSITIONS.erase);
  const drop = db.prepare(`UPDATE outbox SET ${set} WHERE id = ? AND ${where}`);
  const attempts = db.prepare(`
    UPDATE outbox_attempts SET error = NULL WHERE outbox_id = ? AND error IS NOT NULL`);
  const edits = db.prepare('DELETE FROM outbox_edits WHERE outbox_id = ?');
  return (id: number, at: string): void => {
    row.run({ id, at, erased: ERASED, reason: 'its text was erased' });
    drop.run(id);
    attempts.run(id);
    edits.run(id);
    changes.add('outbox.erased', at, id);
  };
}
