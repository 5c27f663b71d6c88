import type { SegmentChoice } from '../../segments/filter.ts';

/** Which posts are meant; every part that is null or an empty list leaves the choice open. */
export interface PostFilter {
  /** Any of these. */
  board: readonly number[];
  status: readonly number[];
  creator: readonly number[];
  /** Those that are still there, those that are gone, or both. */
  deleted: 'no' | 'only' | 'too';
  /** Written at or after this moment, and before that one. */
  since: string | null;
  until: string | null;
  /** With at least so many votes. */
  votes: number | null;
  /** Written by people of these customers. */
  segment: SegmentChoice | null;
}

export const SORTS = ['newest', 'oldest', 'votes', 'comments', 'changed'] as const;
export type Sort = (typeof SORTS)[number];

export interface PageRequest {
  filter: PostFilter;
  sort: Sort;
  /** Where the page before it ended, or, backward, where the page after it begins; null for the first. */
  after: Place | null;
  isBackward?: boolean;
  limit: number;
  /** So many characters of each content; 180 unless given. */
  beginning?: number;
}

/** A row at an end of a page. Sorted by votes, a post that climbs meanwhile can be met again; none that stays is skipped. */
export interface Place {
  key: string | number;
  id: number;
}

export const EVERY_LIVE_POST: PostFilter = {
  board: [],
  status: [],
  creator: [],
  deleted: 'no',
  since: null,
  until: null,
  votes: null,
  segment: null,
};
