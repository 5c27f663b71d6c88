import type { Packed } from '../mirror/index/columns.ts';
import { placesOf } from './tally.ts';

/**
 * The one meaning of votes gained, in every report and chart: votes that the mirror saw come, on posts that live or lived, at the moment
 * when it saw them. A post that was made while the mirror watched begins with none. An older post begins with what it had when the mirror
 * first saw it. A post dated later than now is not counted yet.
 */

export const GAIN_COLUMNS = {
  posts: ['id', 'created', 'board', 'votes', 'version'],
  versions: ['post', 'at', 'votes', 'board'],
} as const;

interface Facts {
  posts: Packed<(typeof GAIN_COLUMNS.posts)[number]>;
  versions: Packed<(typeof GAIN_COLUMNS.versions)[number]>;
}

export interface GainSpan {
  now: number;
  /** When the mirror had seen every post for the first time. */
  observed: number;
  from: number;
  until: number;
}

/** What one look added to a post: the place of the post, how many votes, when, and on which board the post was then. */
export type Gained = (post: number, votes: number, at: number, board: number) => void;

/** Calls back with every gain from a moment on and before another. The versions of a post are side by side, in the order of time. */
export function walkGains({ posts, versions }: Facts, span: GainSpan, gained: Gained): void {
  const { now, observed, from, until } = span;
  const { rows, created, version } = posts;
  const tell = (i: number, votes: number, at: number, board: number): void => {
    if (votes !== 0 && at >= from && at < until) gained(i, votes, at, board);
  };
  const begin = (i: number, votes: number, at: number, board: number): void => {
    if ((created[i] ?? 0) >= observed) tell(i, votes, at, board);
  };
  /** Posts that changed since the beginning of the span, until they are told. */
  const isLeft = new Uint8Array(rows);
  for (let i = 0; i < rows; i++) if ((version[i] ?? 0) >= from && (created[i] ?? 0) < now) isLeft[i] = 1;
  const end = (i: number, had: number): void => {
    tell(i, (posts.votes[i] ?? 0) - had, version[i] ?? 0, posts.board[i] ?? 0);
    isLeft[i] = 0;
  };
  const { rows: states, post, at, votes, board } = versions;
  const placeOf = placesOf(posts.id);
  let [last, place, had] = [-1, -1, 0];
  for (let v = 0; v < states; v++) {
    const id = post[v] ?? 0;
    const isFirst = id !== last;
    if (isFirst) {
      if (isLeft[place] === 1) end(place, had);
      last = id;
      place = placeOf(id);
    }
    if (isLeft[place] !== 1) continue;
    const has = votes[v] ?? 0;
    if (isFirst) begin(place, has, at[v] ?? 0, board[v] ?? 0);
    else tell(place, has - had, at[v] ?? 0, board[v] ?? 0);
    had = has;
  }
  if (isLeft[place] === 1) end(place, had);
  for (let i = 0; i < rows; i++)
    if (isLeft[i] === 1) begin(i, posts.votes[i] ?? 0, version[i] ?? 0, posts.board[i] ?? 0);
}
