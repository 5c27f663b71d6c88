import type { Post } from '../../src/contract/decode.ts';
import { aPost } from '../support/rows.ts';

const EXAMPLE = aPost(1, { created: '2026-01-01T00:00:00Z', votes_count: 0, comments_count: 0 });

/** A post of which only what orders lists matters. */
export function post(id: number, values: Partial<Post> = {}): Post {
  return { ...EXAMPLE, id, ...values };
}
