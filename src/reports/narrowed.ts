import type { Packed } from '../mirror/index/columns.ts';
import { setOf } from '../mirror/index/select.ts';
import type { ReportReader } from './store.ts';

/**
 * The mirror as if the posts that others wrote were deleted and were not made yet: so every report is about these people, also one that
 * counts posts that lived. Comments of others count as deleted only where the report is about all that these people wrote.
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
      const { creator, created, gone } = found.posts;
      const isOther = (i: number): boolean => !isTheirs(creator[i] ?? 0);
      const narrowed = {
        gone: Uint8Array.from(gone, (flag, i) => (flag !== 0 || isOther(i) ? 1 : 0)),
        created: Float64Array.from(created, (at, i) => (isOther(i) ? Number.POSITIVE_INFINITY : at)),
      };
      const answer = { ...found, posts: { ...found.posts, ...narrowed } };
      if (!isWriting || comments.length === 0) return answer;
      const said = found.comments as Packed<'creator' | 'gone'>;
      const isGone = (flag: number, i: number): number =>
        flag !== 0 || !isTheirs(said.creator[i] ?? 0) ? 1 : 0;
      return { ...answer, comments: { ...found.comments, gone: Uint8Array.from(said.gone, isGone) } };
    },
  };
}
