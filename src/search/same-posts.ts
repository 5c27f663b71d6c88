import { iso } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { OpenOptions } from '../db/open.ts';
import { immediate, scalar } from '../db/sql.ts';
import { openMirror } from '../mirror/file/open.ts';

export type SamePosts = ReturnType<typeof openSamePosts>;

/** Which posts people hold to be the same; kept in the mirror alone, and undone as easily as said. */
export function openSamePosts(options: OpenOptions) {
  const db = openMirror(options);
  db.pragma('cache_size = -500');
  const post = scalar(db)<[number], number>('SELECT 1 FROM posts WHERE id = ?');
  const insert = db.prepare(`
    INSERT INTO same_posts (post_id, same_as, marked_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`);
  const remove = scalar(db)<{ leaving: number; from: number }, number>(`
    WITH RECURSIVE staying (id) AS (
      VALUES ($from)
      UNION SELECT iif(m.post_id = staying.id, m.same_as, m.post_id)
        FROM staying JOIN same_posts m ON staying.id IN (m.post_id, m.same_as)
       WHERE $leaving NOT IN (m.post_id, m.same_as))
    DELETE FROM same_posts
     WHERE (post_id = $leaving AND same_as IN staying) OR (same_as = $leaving AND post_id IN staying)
    RETURNING iif(post_id = $leaving, same_as, post_id)`);
  const check = (a: number, b: number): void => {
    for (const id of [a, b])
      if (post.get(id) !== 1) throw new AppError('usage', `the mirror has no post ${id}`);
    if (a === b) throw new AppError('usage', `post ${a} is the same as itself: name two posts`);
  };
  return {
    /** False where it was said already. */
    mark: immediate(db, (a: number, b: number, now: number): boolean => {
      check(a, b);
      return insert.run(Math.min(a, b), Math.max(a, b), iso(now)).changes === 1;
    }),
    /**
     * One post leaves the group of another, with those that are the same only by way of it. Returns the posts whose mark with it was taken
     * back: to take back that of the two alone would leave them together where a third is the same as both. None where they were apart.
     */
    unmark: immediate(db, (leaving: number, from: number): number[] => {
      check(leaving, from);
      return remove.all({ leaving, from }).toSorted((a, b) => a - b);
    }),
    close: (): void => void db.close(),
  };
}
