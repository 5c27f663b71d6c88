import { iso } from '../base/clock.ts';
import type { OpenOptions } from '../db/open.ts';
import { immediate } from '../db/sql.ts';
import { openMirror } from '../mirror/file/open.ts';

/** A person, and the delivered posts that they were told of. */
interface ToldPerson {
  user: number;
  posts: readonly number[];
}

export type ToldStore = ReturnType<typeof openToldStore>;

/** Who was told that what they asked for was delivered. Ids only. */
export function openToldStore(options: OpenOptions) {
  const db = openMirror(options);
  db.pragma('cache_size = -500');
  const insert = db.prepare(`
    INSERT INTO told_people (post_id, user_id, told_at, told_by) VALUES ($post, $user, $at, $by)
        ON CONFLICT DO UPDATE SET told_at = $at, told_by = $by`);
  return {
    /** Returns how many people that were. */
    mark: immediate(db, (people: readonly ToldPerson[], by: string, now: number): number => {
      for (const { user, posts } of people)
        for (const post of posts) insert.run({ post, user, at: iso(now), by });
      return people.length;
    }),
    close: (): void => void db.close(),
  };
}
