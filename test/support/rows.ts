import {
  type Comment,
  type Decoded,
  decodeComment,
  decodePost,
  type Post,
} from '../../src/contract/decode.ts';
import * as wire from './wire.ts';

/** Rows as the store gets them: the examples of the contract, bent as a test needs. */
export function aPost(id: number, changes: Record<string, unknown> = {}): Post {
  return decoded(decodePost({ ...wire.post, id, ...changes }));
}

export function aComment(id: number, changes: Record<string, unknown> = {}): Comment {
  return decoded(decodeComment({ ...wire.comment, id, ...changes }));
}

export function posts(...ids: number[]): Post[] {
  return ids.map((id) => aPost(id));
}

/** From one to another, both included. */
export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function decoded<T>(result: Decoded<T>): T {
  if (!result.ok) throw new Error(result.reason);
  return result.row;
}

const START = Date.parse('2026-01-01T00:00:00.000Z');

/** Minutes after the start of the story. */
export function minute(n: number): number {
  return START + n * 60_000;
}

export function iso(n: number): string {
  return new Date(minute(n)).toISOString();
}
