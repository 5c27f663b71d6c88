import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { columnReader } from '../../mirror/index/columns.ts';
import { firstBy, rowsIn, rowsUpTo, rowsWhere, setOf } from '../../mirror/index/select.ts';

/** What some people wrote and is still there. */
export interface Written {
  /** Their posts, the newest first. */
  posts: { id: number; votes: number }[];
  comments: {
    total: number;
    /** The posts on which they commented. */
    on: Set<number>;
    /** The ids of the newest so many. */
    newest(count: number): number[];
  };
}

/**
 * No table has an index by author, which every sweep would have to keep up. The columns of reports are looked through in a tenth of the
 * time of a walk over an index by something else.
 */
export function writtenReader(db: Db): (people: readonly number[]) => Written {
  const columns = columnReader(db);
  const idOf = scalar(db)<[number, string, number], number>(`
    SELECT id FROM comments WHERE post_id = ? AND created = ? AND creator_id = ? AND deleted_at IS NULL ORDER BY id DESC`);
  return (people) => {
    const isTheirs = setOf(people);
    const posts = columns.read('posts', ['id', 'created', 'creator', 'votes', 'gone']);
    const comments = columns.read('comments', ['post', 'created', 'creator', 'gone']);
    const theirs = (of: typeof posts | typeof comments): Int32Array =>
      rowsWhere(rowsIn(of.creator, isTheirs), (i) => of.gone[i] === 0);
    const said = theirs(comments);
    const createdAt = (i: number): number => posts.created[i] ?? 0;
    const wrote = [...theirs(posts)].sort(
      (a, b) => createdAt(b) - createdAt(a) || (posts.id[b] ?? 0) - (posts.id[a] ?? 0),
    );
    return {
      posts: wrote.map((i) => ({ id: posts.id[i] ?? 0, votes: posts.votes[i] ?? 0 })),
      comments: {
        total: said.length,
        on: new Set(Array.from(said, (i) => comments.post[i] ?? 0)),
        newest(count) {
          const weight = (place: number): number => comments.created[said[place] ?? 0] ?? 0;
          const first = firstBy(rowsUpTo(said.length), count, { weight, ties: (a, b) => b - a });
          const ids = first.flatMap((place) => {
            const i = said[place] ?? 0;
            return idOf.all(comments.post[i] ?? 0, iso(weight(place)), comments.creator[i] ?? 0);
          });
          return [...new Set(ids)].slice(0, count);
        },
      },
    };
  };
}
