import type { Packed } from '../store/index/columns.ts';
import { type Bucket, bucketAt } from './moment.ts';
import { flagged, placesOf } from './tally.ts';

export interface MovementRequest {
  /** From when on votes count for the period; for the one before it, or null where that was not watched. */
  from: number;
  before: number | null;
  until: number;
  board: number | null;
  /** The days or weeks that votes are counted by. */
  buckets: readonly Bucket[];
}

/**
 * How the votes of live posts moved, as the mirror saw it. With a board, a vote counts where its post was on that board when it was
 * seen: a post that moves takes none of its past along.
 */
export interface Movement {
  recent: number;
  prior: number | null;
  /** Votes gained in the period, by the bucket in which they were seen. */
  gained: number[];
  /** Posts that are on the board now. */
  posts: PostMovement[];
}

export interface PostMovement {
  id: number;
  created: number;
  /** At the end of the period. */
  votes: number;
  /** In the period, on whichever board. */
  gained: number;
}

export const MOVED = {
  posts: ['id', 'created', 'board', 'votes', 'version', 'gone'],
  versions: ['post', 'at', 'votes', 'board'],
} as const;

interface Facts {
  posts: Packed<(typeof MOVED.posts)[number]>;
  versions: Packed<(typeof MOVED.versions)[number]>;
}

/** So many versions in a row from before the period end the walk; a clock that was set back does not. */
const OLD_IN_A_ROW = 1000;

/** One walk back through the history, from what posts have now: versions are in the order in which they were superseded. */
export function movementOf({ posts, versions }: Facts, request: MovementRequest): Movement {
  const { from, before, until, board: wanted, buckets } = request;
  const start = before ?? from;
  const gained = buckets.map(() => 0);
  const begins = buckets.map((bucket) => Date.parse(bucket.begins));
  const isWanted = (board: number): boolean => wanted === null || board === wanted;
  // The state that the walk has reached, and since when it was there.
  const [votes, at, board] = [posts.votes.slice(), posts.version.slice(), posts.board.slice()];
  const own = new Float64Array(posts.rows);
  /** At the end of the period; not a number as long as the walk is later than that. */
  const atEnd = new Float64Array(posts.rows);
  for (let i = 0; i < posts.rows; i++) atEnd[i] = (at[i] ?? 0) <= until ? (votes[i] ?? 0) : Number.NaN;
  const isCounted = flagged(posts.rows, (i) => posts.gone[i] === 0 && (posts.created[i] ?? 0) < until);
  let [recent, prior] = [0, 0];

  /** The votes that a post got when the state reached on the way back began. */
  const count = (i: number, gain: number, isRecent: boolean): void => {
    const moment = at[i] ?? 0;
    if (!isCounted(i) || moment > until) return;
    if (isRecent) own[i] = (own[i] ?? 0) + gain;
    if (!isWanted(board[i] ?? 0)) return;
    if (!isRecent) {
      prior += gain;
      return;
    }
    recent += gain;
    const place = bucketAt(begins, moment);
    if (gained[place] !== undefined) gained[place] += gain;
  };

  const placeOf = placesOf(posts.id);
  for (let [v, old] = [versions.rows - 1, 0]; v >= 0 && old < OLD_IN_A_ROW; v--) {
    const i = placeOf(versions.post[v] ?? 0);
    const moment = at[i] ?? Number.NEGATIVE_INFINITY;
    old = moment <= start ? old + 1 : 0;
    if (old > 0) continue;
    const earlier = versions.votes[v] ?? 0;
    count(i, (votes[i] ?? 0) - earlier, moment > from);
    votes[i] = earlier;
    at[i] = versions.at[v] ?? 0;
    board[i] = versions.board[v] ?? 0;
    if (moment > until && (at[i] ?? 0) <= until) atEnd[i] = earlier;
  }
  const moved: PostMovement[] = [];
  for (let i = 0; i < posts.rows; i++) {
    if ((posts.version[i] ?? 0) <= start) continue;
    const created = posts.created[i] ?? 0;
    // Posts that were made within a period began it with none.
    if (created >= from) count(i, votes[i] ?? 0, true);
    else if (before !== null && created >= before) count(i, votes[i] ?? 0, false);
    const end = atEnd[i] ?? Number.NaN;
    if ((own[i] ?? 0) > 0 && !Number.isNaN(end) && isWanted(posts.board[i] ?? 0))
      moved.push({ id: posts.id[i] ?? 0, created, votes: end, gained: own[i] ?? 0 });
  }
  return { recent, prior: before === null ? null : prior, gained, posts: moved };
}
