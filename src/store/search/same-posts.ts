import { iso } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { OpenOptions } from '../db.ts';
import { openMirror } from '../open.ts';
import { immediate, scalar } from '../sql.ts';

export type SamePosts = ReturnType<typeof openSamePosts>;

/** Which posts people hold to be the same; kept in the mirror alone, and undone as easily as said. */
export function openSamePosts(options: OpenOptions) {
  const db = openMirror(options);
  db.pragma('cache_size = -500');
  const post = scalar(db)<[number], number>('SELECT 1 FROM posts WHERE id = ?');
  const insert = db.prepare(`
    INSERT INTO same_posts (post_id, same_as, marked_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`);
  const remove = db.prepare('DELETE FROM same_posts WHERE post_id = ? AND same_as = ?');
  const ordered = (a: number, b: number): [number, number] => {
    for (const id of [a, b])
      if (post.get(id) !== 1) throw new AppError('usage', `the mirror has no post ${id}`);
    if (a === b) throw new AppError('usage', `post ${a} is the same as itself: name two posts`);
    return a < b ? [a, b] : [b, a];
  };
  return {
    /** False where it was said already. */
    mark: immediate(
      db,
      (a: number, b: number, now: number): boolean => insert.run(...ordered(a, b), iso(now)).changes === 1,
    ),
    /** False where nobody had said so. */
    unmark: (a: number, b: number): boolean => remove.run(...ordered(a, b)).changes === 1,
    close: (): void => void db.close(),
  };
}
