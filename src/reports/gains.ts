import type { Numbers, Packed } from '../mirror/index/columns.ts';
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

/** Calls back with every gain from a moment on and before another. */
export function walkGains(facts: Facts, { now, observed, from, until }: GainSpan, gained: Gained): void {
  const { created } = facts.posts;
  const { rows, post, votes, at, board } = gainsSince(facts, observed, from);
  for (let n = 0; n < rows; n++) {
    const [i, when] = [post[n] ?? 0, at[n] ?? 0];
    if (when >= from && when < until && (created[i] ?? 0) < now)
      gained(i, votes[n] ?? 0, when, board[n] ?? 0);
  }
}

/** Gains side by side, those of a post in the order of time. */
interface Gains {
  from: number;
  rows: number;
  post: Int32Array;
  votes: Int32Array;
  at: Float64Array;
  board: Int32Array;
}

const kept = new WeakMap<Numbers, Gains>();

/** A page has several reports of the same time: its gains are kept as long as the columns are. */
function gainsSince(facts: Facts, observed: number, from: number): Gains {
  const known = kept.get(facts.posts.created);
  if (known && known.from <= from) return known;
  const found = collected(facts, observed, from);
  kept.set(facts.posts.created, found);
  return found;
}

/** The versions of a post are side by side, in the order of time. */
function collected({ posts, versions }: Facts, observed: number, from: number): Gains {
  const { rows, created, version } = posts;
  /** Posts that changed since then, until their last gain is found. */
  const isLeft = new Uint8Array(rows);
  let most = 0;
  for (let i = 0; i < rows; i++) {
    if ((version[i] ?? 0) < from) continue;
    isLeft[i] = 1;
    most++;
  }
  const { rows: states, post, at, votes, board } = versions;
  const placeOf = placesOf(posts.id);
  for (let v = 0; v < states; v++) if ((at[v] ?? 0) >= from) most++;
  const found: Gains = {
    ...{ from, rows: 0, post: new Int32Array(most), votes: new Int32Array(most) },
    ...{ at: new Float64Array(most), board: new Int32Array(most) },
  };
  let n = 0;
  const add = (i: number, more: number, when: number, where: number): void => {
    if (more === 0 || when < from) return;
    found.post[n] = i;
    found.votes[n] = more;
    found.at[n] = when;
    found.board[n++] = where;
  };
  let [last, place, had, isWanted] = [-1, -1, 0, false];
  for (let v = 0; v < states; v++) {
    const id = post[v] ?? 0;
    const isFirst = id !== last;
    if (isFirst) {
      if (isWanted) add(place, (posts.votes[place] ?? 0) - had, version[place] ?? 0, posts.board[place] ?? 0);
      last = id;
      place = placeOf(id);
      isWanted = isLeft[place] === 1;
      if (isWanted) isLeft[place] = 0;
    }
    if (!isWanted) continue;
    const has = votes[v] ?? 0;
    if (!isFirst || (created[place] ?? 0) >= observed)
      add(place, isFirst ? has : has - had, at[v] ?? 0, board[v] ?? 0);
    had = has;
  }
  if (isWanted) add(place, (posts.votes[place] ?? 0) - had, version[place] ?? 0, posts.board[place] ?? 0);
  for (let i = 0; i < rows; i++)
    if (isLeft[i] === 1 && (created[i] ?? 0) >= observed)
      add(i, posts.votes[i] ?? 0, version[i] ?? 0, posts.board[i] ?? 0);
  found.rows = n;
  return found;
}
