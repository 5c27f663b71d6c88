/** Which posts are meant; every part that is null leaves the choice open. */
export interface PostFilter {
  board: number | null;
  status: number | null;
  creator: number | null;
  /** Those that are still there, those that are gone, or both. */
  deleted: 'no' | 'only' | 'too';
  /** Written at or after this moment, and before that one. */
  since: string | null;
  until: string | null;
}

export const EVERY_LIVE_POST: PostFilter = {
  board: null,
  status: null,
  creator: null,
  deleted: 'no',
  since: null,
  until: null,
};

const CONDITIONS: [name: keyof PostFilter, sql: string][] = [
  ['board', 'p.board_id = $board'],
  ['status', 'p.status_id = $status'],
  ['creator', 'p.creator_id = $creator'],
  ['since', 'p.created >= $since'],
  ['until', 'p.created < $until'],
];

const DELETED: Record<PostFilter['deleted'], string[]> = {
  no: ['p.deleted_at IS NULL'],
  only: ['p.deleted_at IS NOT NULL'],
  too: [],
};

/** The filter as conditions on the table of posts, called `p`; literal, so that the planner sees which index serves them. */
export function conditionsOf(filter: PostFilter): string[] {
  const chosen = CONDITIONS.filter(([name]) => filter[name] !== null).map(([, sql]) => sql);
  return [...DELETED[filter.deleted], ...chosen];
}

/** What those conditions are bound to. */
export function boundOf({ deleted: _, ...values }: PostFilter): Record<string, string | number> {
  return Object.fromEntries(Object.entries(values).filter((pair) => pair[1] !== null)) as Record<
    string,
    string | number
  >;
}
