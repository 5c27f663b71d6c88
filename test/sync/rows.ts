import type { Post } from '../../src/contract/decode.ts';
import type { Reject } from '../../src/store/mirror/types.ts';
import type { Slot } from '../../src/sync/order.ts';
import { aPost } from '../support/rows.ts';

const EXAMPLE = aPost(1, { created: '2026-01-01T00:00:00Z', votes_count: 0, comments_count: 0 });

/** A post of which only what orders lists matters. */
export function post(id: number, values: Partial<Post> = {}): Post {
  return { ...EXAMPLE, id, ...values };
}

export function reject(index: number, id: number | null): Reject & { index: number } {
  return { index, id, reason: 'bad', body: '{}' };
}

/** Rows by id, each with the numbers given for it; null is a row that could not be read at all. */
export function slots(ids: (number | null)[], votes: number[] = [], comments: number[] = []): Slot[] {
  return ids.map((id, i) =>
    id === null
      ? null
      : {
          id,
          created: '2026-01-01T00:00:00Z',
          numbers: { votes_count: votes[i] ?? 0, comments_count: comments[i] ?? 0 },
        },
  );
}
