import { peopleCondition, type SegmentChoice, segmentBound } from '../../segments/filter.ts';

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

const LISTS = { board: 'p.board_id', status: 'p.status_id', creator: 'p.creator_id' } as const;

const BOUNDS = {
  since: 'p.created >= $since',
  until: 'p.created < $until',
  votes: 'p.votes_count >= $votes',
} as const;

const DELETED: Record<PostFilter['deleted'], string[]> = {
  no: ['p.deleted_at IS NULL'],
  only: ['p.deleted_at IS NOT NULL'],
  too: [],
};

const keysOf = <T extends object>(object: T): (keyof T & string)[] =>
  Object.keys(object) as (keyof T & string)[];

/** The filter as conditions on the table of posts, called `p`; literal, so that the planner sees which index serves them. */
export function conditionsOf(filter: PostFilter): string[] {
  const lists = keysOf(LISTS).flatMap((name) => {
    const names = filter[name].map((_, i) => `$${name}${i}`);
    if (names.length < 2) return names.map((one) => `${LISTS[name]} = ${one}`);
    return [`${LISTS[name]} IN (${names.join(', ')})`];
  });
  const bounds = keysOf(BOUNDS).filter((name) => filter[name] !== null);
  const people = filter.segment === null ? [] : [peopleCondition(filter.segment, 'p.creator_id')];
  return [...DELETED[filter.deleted], ...lists, ...bounds.map((name) => BOUNDS[name]), ...people];
}

/** What those conditions are bound to. */
export function filterBound(filter: PostFilter): Record<string, string | number> {
  const lists = keysOf(LISTS).flatMap((name) => filter[name].map((id, i) => [`${name}${i}`, id] as const));
  const bounds = keysOf(BOUNDS).flatMap((name) => {
    const value = filter[name];
    return value === null ? [] : [[name, value] as const];
  });
  const people = filter.segment === null ? {} : segmentBound(filter.segment);
  return { ...Object.fromEntries([...lists, ...bounds]), ...people };
}

/** Few posts may match: walking all by time until a page is full would read their texts. */
export function isThin({ board, status, creator, votes, segment }: PostFilter): boolean {
  return board.length + status.length + creator.length > 0 || votes !== null || segment !== null;
}
