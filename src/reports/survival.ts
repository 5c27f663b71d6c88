/** Fewer than so many posts make no median. */
export const LEAST_POSTS = 5;

/**
 * Times of one kind, as far as they were watched: how long posts wait for a reply, or stay in a status. All three have one entry a time,
 * in seconds.
 */
export interface Times {
  /** How old a time was when watching it began: 0 where its beginning was seen. */
  entered: Float64Array;
  /** How old it was when it ended, or when watching it ended. */
  left: Float64Array;
  /** 1 where it ended. The others lasted at least so long. */
  ended: Uint8Array;
}

export interface Survival {
  /** The posts in the curve. */
  posts: number;
  /** The time after which half of them have ended, and nine of ten; null where the curve does not come down so far. */
  median: number | null;
  p90: number | null;
  /** Where the median is not known, but more than half last at least so long. */
  atLeast: number | null;
}

/**
 * The curve of Kaplan and Meier: at each time at which some end, the share that goes on is multiplied by the share of those watched at that
 * age which do not end. A time that has not ended counts until watching ended, and one that began earlier counts from the age at which
 * watching began. Where fewer than five were watched from their beginning, all count as long as they were watched: they lasted at least
 * so long. The curve is followed as long as five times have ended or are still watched.
 */
export function survivalOf(times: Times): Survival {
  const { entered, left, ended } = times;
  const posts = left.length;
  const fromStart = entered.reduce((n, age) => n + Number(age === 0), 0);
  if (posts < LEAST_POSTS) return { posts, median: null, p90: null, atLeast: null };
  if (fromStart < LEAST_POSTS) return survivalOf(asWatched(times));
  const [entries, exits] = [entered.toSorted(), left.toSorted()];
  const events = left.filter((_, i) => ended[i] === 1).sort();
  const [belowEntries, belowExits] = [counterBelow(entries), counterBelow(exits)];
  /** Those watched at an age. */
  const atRisk = (age: number): number => Math.max(fromStart, belowEntries(age)) - belowExits(age);
  let [share, median, p90] = [1, null as number | null, null as number | null];
  for (let i = 0; i < events.length; ) {
    const age = events[i] ?? 0;
    const watched = atRisk(age);
    if (watched + i < LEAST_POSTS) break;
    const before = i;
    while (events[i] === age) i++;
    share *= 1 - (i - before) / watched;
    if (share <= 0.5 + TINY) median ??= age;
    if (share <= 0.1 + TINY) p90 ??= age;
  }
  return { posts, median, p90, atLeast: median === null ? lastKnown(exits, ended, left) : null };
}

function asWatched({ entered, left, ended }: Times): Times {
  return {
    entered: new Float64Array(left.length),
    left: left.map((age, i) => age - (entered[i] ?? 0)),
    ended: ended.map((isEnd, i) => (entered[i] === 0 ? isEnd : 0)),
  };
}

/** What rounding leaves of a share. */
const TINY = 1e-9;

/** The age up to which five times have ended or are still watched. */
function lastKnown(exits: Float64Array, ended: Uint8Array, left: Float64Array): number {
  const unended = left.filter((_, i) => ended[i] === 0).sort();
  const missing = LEAST_POSTS - (exits.length - unended.length);
  return missing <= 0 ? (exits.at(-1) ?? 0) : (unended.at(-missing) ?? 0);
}

/** How many of these lie below an age; asked with ages that rise. */
function counterBelow(sorted: Float64Array): (age: number) => number {
  let n = 0;
  return (age) => {
    while (n < sorted.length && (sorted[n] ?? 0) < age) n++;
    return n;
  };
}
