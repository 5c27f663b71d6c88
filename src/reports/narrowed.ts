import type { Packed } from '../mirror/index/columns.ts';
import { setOf } from '../mirror/index/select.ts';
import type { ReportReader } from './store.ts';

/**
 * A mirror in which only these people wrote posts. Posts of others count as deleted, and as made in the far future: so reports that count
 * former posts leave them out too. Comments of others count as deleted only where a report is about all that these people wrote.
 */
export function amongPeople(
  reader: ReportReader,
  people: readonly number[],
  isWriting: boolean,
): ReportReader {
  const isTheirs = setOf(people);
  return {
    ...reader,
    async columns({ posts = [], comments = [], ...wanted }) {
      const found = await reader.columns({
        posts: [...posts, 'creator', 'created', 'gone'],
        comments: isWriting && comments.length > 0 ? [...comments, 'creator', 'gone'] : comments,
        ...wanted,
      });
      const { rows, creator, created } = found.posts;
      const [isGone, made] = [Uint8Array.from(found.posts.gone), Float64Array.from(created)];
      for (let i = 0; i < rows; i++) {
        if (isTheirs(creator[i] ?? 0)) continue;
        isGone[i] = 1;
        made[i] = Number.POSITIVE_INFINITY;
      }
      const answer = { ...found, posts: { ...found.posts, gone: isGone, created: made } };
      if (!isWriting || comments.length === 0) return answer;
      const said = found.comments as Packed<'creator' | 'gone'>;
      const isSilent = Uint8Array.from(said.gone);
      for (let i = 0; i < said.rows; i++) if (!isTheirs(said.creator[i] ?? 0)) isSilent[i] = 1;
      return { ...answer, comments: { ...found.comments, gone: isSilent } };
    },
  };
}
