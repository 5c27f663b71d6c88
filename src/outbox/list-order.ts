import type { Page } from '../api/client.ts';
import { toInstant } from '../contract/datetime.ts';
import type { Post } from '../contract/decode.ts';

/** Fewer rows in falling order could be chance. */
const ORDERED_ROWS = 20;
/** Numbers that a list may be sorted by, and that a new post has little of. */
const NUMBERS = ['votes_count', 'comments_count'] as const;

/**
 * Tells after each page whether the list stands newest first for certain, so that nothing new can follow old rows. Rows in falling
 * order are not enough: where all posts have one vote and a new one has none, a list sorted by votes looks newest first and has
 * our post at its end. So each number must be seen to rise and to fall along the list, or a post of our own must be among the new.
 */
export function orderWatch(): (page: Page<Post>, showsOurs: boolean) => boolean {
  const known = new Set<number>();
  const steps = new Map(NUMBERS.map((name) => [name, { rises: false, falls: false }]));
  let isFalling = true;
  let last: Post | undefined;
  return ({ rows }, showsOurs) => {
    for (const post of rows) {
      // Rows that moved down while we read come again; they say nothing new.
      if (known.has(post.id)) continue;
      known.add(post.id);
      if (last) {
        isFalling &&= isNewer(last, post);
        for (const [name, seen] of steps) note(seen, post[name] - last[name]);
      }
      last = post;
    }
    const isByNumber = [...steps.values()].some(({ rises, falls }) => !(rises && falls));
    return isFalling && known.size >= ORDERED_ROWS && (showsOurs || !isByNumber);
  };
}

function note(seen: { rises: boolean; falls: boolean }, step: number): void {
  seen.rises ||= step > 0;
  seen.falls ||= step < 0;
}

function isNewer(above: Post, below: Post): boolean {
  return above.id > below.id && (toInstant(above.created) ?? '') >= (toInstant(below.created) ?? '');
}
