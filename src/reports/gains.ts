import type { Numbers, Packed } from '../mirror/index/columns.ts';
import { rowsFrom } from '../mirror/index/select.ts';
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

/** Gains side by side. */
interface Gains {
  from: number;
  rows: number;
  post: Int32Array;
  votes: Int32Array;
  at: Float64Array;
  board: Int32Array;
}

const kept = new WeakMap<Numbers, Gains>();

/** A page has several reports of the same time: its gains are kept until the mirror is written to. */
function gainsSince(facts: Facts, observed: number, from: number): Gains {
  const known = kept.get(facts.posts.created);
  if (known && known.from <= from) return known;
  const found = collected(facts, observed, from);
  kept.set(facts.posts.created, found);
  return found;
}

/** The states of a post that were superseded are side by side, in the order of time; its last one is in the post. */
function collected({ posts, versions }: Facts, observed: number, from: number): Gains {
  const { id, created, version } = posts;
  const { post, at, votes, board } = versions;
  const [superseded, current] = [rowsFrom(at, from), rowsFrom(version, from)];
  const most = superseded.length + current.length;
  const found: Gains = {
    ...{ from, rows: 0, post: new Int32Array(most), votes: new Int32Array(most) },
    ...{ at: new Float64Array(most), board: new Int32Array(most) },
  };
  let rows = 0;
  /** With the state before it, which is -1 for the first one that is known: a post that is older than that gained nothing in it. */
  const add = (i: number, has: number, before: number, when: number, where: number): void => {
    if (before < 0 && (created[i] ?? 0) < observed) return;
    const more = before < 0 ? has : has - (votes[before] ?? 0);
    if (more === 0) return;
    found.post[rows] = i;
    found.votes[rows] = more;
    found.at[rows] = when;
    found.board[rows++] = where;
  };
  const placeOf = placesOf(id);
  for (let n = 0; n < superseded.length; n++) {
    const v = superseded[n] ?? 0;
    const before = post[v - 1] === post[v] ? v - 1 : -1;
    add(placeOf(post[v] ?? 0), votes[v] ?? 0, before, at[v] ?? 0, board[v] ?? 0);
  }
  const lastOf = placesOf(post);
  for (let n = 0; n < current.length; n++) {
    const i = current[n] ?? 0;
    add(i, posts.votes[i] ?? 0, lastOf(id[i] ?? 0), version[i] ?? 0, posts.board[i] ?? 0);
  }
  found.rows = rows;
  return found;
}
