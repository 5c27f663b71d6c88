import { setOf } from '../mirror/index/select.ts';
import type { ReportReader } from './store.ts';

/**
 * The mirror as if the posts that others wrote were deleted and were not made yet: so every report is about these people, also one that
 * counts posts that lived.
 */
export function amongPeople(reader: ReportReader, people: readonly number[]): ReportReader {
  const isTheirs = setOf(people);
  return {
    ...reader,
    async columns({ posts = [], ...wanted }) {
      const found = await reader.columns({ posts: [...posts, 'creator', 'created', 'gone'], ...wanted });
      const { creator, created, gone } = found.posts;
      const isOther = (i: number): boolean => !isTheirs(creator[i] ?? 0);
      const narrowed = {
        gone: Uint8Array.from(gone, (flag, i) => (flag !== 0 || isOther(i) ? 1 : 0)),
        created: Float64Array.from(created, (at, i) => (isOther(i) ? Number.POSITIVE_INFINITY : at)),
      };
      return { ...found, posts: { ...found.posts, ...narrowed } };
    },
  };
}
