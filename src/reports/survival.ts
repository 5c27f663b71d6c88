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

interface Survival {
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
 * so long. The curve is followed as long as five times have ended or are still watched. It ends earlier where fewer than five are watched
 * and others enter at a greater age: the mirror saw too little of that age, and one that ends there would end the curve.
 */
export function survivalOf(times: Times): Survival {
  const { entered, left } = times;
  const posts = left.length;
  let fromStart = 0;
  for (let i = 0; i < posts; i++) if (entered[i] === 0) fromStart++;
  if (posts < LEAST_POSTS) return { posts, median: null, p90: null, atLeast: null };
  if (fromStart < LEAST_POSTS) return survivalOf(asWatched(times));
  const events = agesWhere(times, 1).sort();
  const ages = events.filter((age, i) => age !== events[i - 1]);
  const hasLate = fromStart < posts;
  const belowEntries = hasLate ? countsBelow(entered, ages) : new Int32Array(ages.length);
  const belowExits = countsBelow(left, ages);
  let [share, median, p90] = [1, null as number | null, null as number | null];
  for (let [i, place] = [0, 0]; i < events.length; place++) {
    const age = ages[place] ?? 0;
    /** Those watched at that age. */
    const watched = Math.max(fromStart, belowEntries[place] ?? 0) - (belowExits[place] ?? 0);
    const hasMoreLater = hasLate && (belowEntries[place] ?? 0) < posts;
    if (watched < LEAST_POSTS && hasMoreLater)
      return { posts, median, p90, atLeast: median === null ? age : null };
    if (watched + i < LEAST_POSTS) break;
    const before = i;
    while (events[i] === age) i++;
    share *= 1 - (i - before) / watched;
    if (share <= 0.5 + TINY) median ??= age;
    if (share <= 0.1 + TINY) p90 ??= age;
  }
  return { posts, median, p90, atLeast: median === null ? lastKnown(times) : null };
}

/** The ages of those that ended, or of those that did not. */
function agesWhere({ left, ended }: Times, isEnded: 0 | 1): Float64Array {
  const ages = new Float64Array(left.length);
  let count = 0;
  for (let i = 0; i < left.length; i++) if (ended[i] === isEnded) ages[count++] = left[i] ?? 0;
  return ages.slice(0, count);
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
function lastKnown(times: Times): number {
  const unended = agesWhere(times, 0);
  const missing = LEAST_POSTS - (times.left.length - unended.length);
  const longest = missing <= 0 ? greatest(times.left, 1) : greatest(unended, missing);
  return longest.at(-1) ?? 0;
}

/** The greatest so many, in order from the greatest. */
function greatest(values: Float64Array, count: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    if (found.length === count && value <= (found[count - 1] ?? 0)) continue;
    found.push(value);
    found.sort((a, b) => b - a);
    if (found.length > count) found.pop();
  }
  return found;
}

/** Steps of the table below for each age. */
const FINENESS = 4;

/**
 * How many values lie below each of some ages in order. A table says between which ages to look: to sort a million values takes five times
 * as long.
 */
function countsBelow(values: Float64Array, ages: Float64Array): Int32Array {
  const counts = new Int32Array(ages.length + 1);
  const [first, last] = [ages[0] ?? 0, ages.at(-1) ?? 0];
  const steps = FINENESS * ages.length;
  const scale = steps / Math.max(1, last - first);
  const stepOf = (age: number): number => Math.floor((age - first) * scale);
  /** The first age of each step. */
  const starts = new Int32Array(steps + 2);
  for (let [step, place] = [0, 0]; step < starts.length; step++) {
    while (place < ages.length && stepOf(ages[place] ?? 0) < step) place++;
    starts[step] = place;
  }
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    if (value >= last) continue;
    let [low, high] = [0, 0];
    if (value >= first) {
      const step = stepOf(value);
      [low, high] = [starts[step] ?? 0, starts[step + 1] ?? 0];
    }
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ages[middle] ?? 0) <= value) low = middle + 1;
      else high = middle;
    }
    counts[low] = (counts[low] ?? 0) + 1;
  }
  for (let place = 1; place < counts.length; place++)
    counts[place] = (counts[place] ?? 0) + (counts[place - 1] ?? 0);
  return counts;
}
