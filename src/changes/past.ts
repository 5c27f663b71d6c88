import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import type { ChangeType } from '../mirror/log/change-log.ts';

/** The words of the index, without which SQLite cannot use it; it refuses the statement then. */
const INDEXED =
  "changes c INDEXED BY changes_of_names WHERE c.type IN ('post.moved', 'board.updated', 'status.updated')";

interface CommentChange {
  type: ChangeType;
  id: number;
  version: number | null;
}

interface BoardThen {
  id: number;
  name: string;
  slug: string;
}

/**
 * Where posts were and what boards and statuses were called right after a change. The table of changes knows: the next move or rename
 * after that change tells what was before it, and where there is none, all is as it was. No clock is asked.
 */
export function pastReader(db: Db) {
  const formerly = (type: 'board.updated' | 'status.updated', field: 'before' | 'slug') =>
    scalar(db)<[number, number], string>(`
      SELECT c.detail ->> '${field}' FROM ${INDEXED} AND c.type = '${type}' AND c.id = ? AND c.n > ?
         AND c.detail ->> '${field}' IS NOT NULL ORDER BY c.n LIMIT 1`);
  const former = {
    name: formerly('board.updated', 'before'),
    slug: formerly('board.updated', 'slug'),
    status: formerly('status.updated', 'before'),
  };
  const boardNow = db.prepare<[number], BoardThen>('SELECT id, name, slug FROM boards WHERE id = ?');
  const statusNow = scalar(db)<[number], string>('SELECT name FROM statuses WHERE id = ?');
  const boardOfPost = scalar(db)<{ post: number; n: number }, number | null>(`
    SELECT coalesce((SELECT (SELECT board_id FROM post_versions WHERE n = c.version) FROM ${INDEXED}
                        AND c.type = 'post.moved' AND c.id = $post AND c.n > $n ORDER BY c.n LIMIT 1),
                    (SELECT board_id FROM posts WHERE id = $post))`);
  const postOfComment = scalar(db)<{ comment: number; version: number }, number | null>(`
    SELECT coalesce((SELECT post_id FROM comment_versions WHERE comment_id = $comment AND n > $version ORDER BY n LIMIT 1),
                    (SELECT post_id FROM comments WHERE id = $comment))`);
  return {
    board(id: number, n: number): BoardThen | null {
      const now = boardNow.get(id);
      if (!now) return null;
      return { id, name: former.name.get(id, n) ?? now.name, slug: former.slug.get(id, n) ?? now.slug };
    },
    status: (id: number, n: number): string | null => former.status.get(id, n) ?? statusNow.get(id) ?? null,
    /** The number of the board. */
    boardOfPost: (post: number, n: number): number | null => boardOfPost.get({ post, n }) ?? null,
    /** As far as the history tells: a change that replaced no version counts for the post of now. */
    postOfComment({ type, id, version }: CommentChange): number | null {
      const after = version ?? (type === 'comment.created' ? 0 : Number.MAX_SAFE_INTEGER);
      return postOfComment.get({ comment: id, version: after }) ?? null;
    },
  };
}
