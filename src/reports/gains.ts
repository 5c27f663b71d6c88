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

interface GainSpan {
  now: number;
  /** When the mirror had seen every post for the first time. */
  observed: number;
  from: number;
  /** Always unless given. */
  until?: number;
}

/**
 * What each look added to a post: the place of the post, how many votes, when, and on which board the post was then. As columns: V8 does
 * not inline callbacks into a loop that several reports share.
 */
export interface Gains {
  rows: number;
  post: Int32Array;
  votes: Int32Array;
  at: Float64Array;
  board: Int32Array;
}

/** Every gain from a moment on, and before another where one is given. */
export function gainsIn(
  facts: Facts,
  { now, observed, from, until = Number.POSITIVE_INFINITY }: GainSpan,
): Gains {
  const { created } = facts.posts;
  const all = gainsSince(facts, observed, from);
  const found = emptyGains(all.rows);
  let rows = 0;
  for (let n = 0; n < all.rows; n++) {
    const [i, when] = [all.post[n] ?? 0, all.at[n] ?? 0];
    if (when < from || when >= until || (created[i] ?? 0) >= now) continue;
    found.post[rows] = i;
    found.votes[rows] = all.votes[n] ?? 0;
    found.at[rows] = when;
    found.board[rows++] = all.board[n] ?? 0;
  }
  return { ...found, rows };
}

/** The votes that each of so many posts gained before a moment, and those that came later, for what each had then. */
export function gainsByPost(
  { rows, post, votes, at }: Gains,
  posts: number,
  until: number,
): Record<'gained' | 'later', Float64Array> {
  const [gained, later] = [new Float64Array(posts), new Float64Array(posts)];
  for (let n = 0; n < rows; n++) {
    const [i, more] = [post[n] ?? 0, votes[n] ?? 0];
    if ((at[n] ?? 0) < until) gained[i] = (gained[i] ?? 0) + more;
    else later[i] = (later[i] ?? 0) + more;
  }
  return { gained, later };
}

function emptyGains(most: number): Gains {
  return {
    ...{ rows: 0, post: new Int32Array(most), votes: new Int32Array(most) },
    ...{ at: new Float64Array(most), board: new Int32Array(most) },
  };
}

const kept = new WeakMap<Numbers, { from: number; gains: Gains }>();

/** A page has several reports of the same time: its gains are kept until the mirror is written to. */
function gainsSince(facts: Facts, observed: number, from: number): Gains {
  const known = kept.get(facts.posts.created);
  if (known && known.from <= from) return known.gains;
  const gains = collected(facts, observed, from);
  kept.set(facts.posts.created, { from, gains });
  return gains;
}

/** The states of a post that were superseded are side by side, in the order of time; its last one is in the post. */
function collected({ posts, versions }: Facts, observed: number, from: number): Gains {
  const { id, created, version } = posts;
  const { post, at, votes, board } = versions;
  const [superseded, current] = [rowsFrom(at, from), rowsFrom(version, from)];
  const found = emptyGains(superseded.length + current.length);
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
  return { ...found, rows };
}
