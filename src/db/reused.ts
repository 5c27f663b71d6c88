import { isSameMoment, toInstant } from '../contract/datetime.ts';
import type { Comment, Post } from '../contract/decode.ts';

/** What is stored of a row that tells it from a later one under its number. */
export interface RowIdentity {
  created: string;
  creatorId: number;
  firstSeenAt: string;
}

/** A service may give the number of a deleted row to a new one. A row with another date, or made after the number was first seen, is another row. */
export function hasReusedNumber(old: RowIdentity, { created, creator }: Post | Comment): boolean {
  if (isSameMoment(old.created, created)) return false;
  return old.creatorId !== creator.id || (toInstant(created) ?? '') > old.firstSeenAt;
}
