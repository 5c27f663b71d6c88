import { isSameMoment, toInstant } from '../contract/datetime.ts';
import type { Comment, Post } from '../contract/decode.ts';

/** What is stored of a row that tells it from a later one under its number. */
export interface Identity {
  created: string;
  creatorId: number;
  firstSeenAt: string;
}

/** A service may give the number of a deleted row to a new one: nobody makes a row anew, or after it was first seen. */
export function isAnother(old: Identity, { created, creator }: Post | Comment): boolean {
  if (isSameMoment(old.created, created)) return false;
  return old.creatorId !== creator.id || (toInstant(created) ?? '') > old.firstSeenAt;
}
