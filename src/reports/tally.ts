import { iso } from '../base/clock.ts';
import type { Numbers, Packed } from '../mirror/index/columns.ts';
import {
  DENSE,
  firstBy,
  greatestOf,
  keptWith,
  numbered,
  rowsFrom,
  rowsUpTo,
  rowsWhere,
  setOf,
} from '../mirror/index/select.ts';
import type { KnownCustomer } from '../segments/people.ts';
import type { Bucket } from './moment.ts';
import type { WatchedBucket } from './watching.ts';

/** What a report adds up, with every moment in milliseconds since the epoch. */
export interface TallyQuestion {
  now: number;
  /** Before everything where the period has no beginning. */
  since: number;
  until: number;
  /** From when on changes are known, when every post had been seen, and when the posts were last read; null where never. */
  from: number | null;
  observed: number | null;
  last: number | null;
  /** When the comments were last read. */
  lastComments: number | null;
  weeks: readonly WatchedBucket[];
  board: number | null;
  post: number | null;
  /** Empty for all of them. */
  statuses: readonly number[];
  delivered: readonly number[];
  finished: readonly number[];
  /** Whether posts that people hold to be the same count as one. */
  same: boolean;
  limit: number;
  /** The posts or people of a list that is compared with; null for all. */
  only: ReadonlySet<number> | null;
  /** Whether rankings also list finished posts. */
  includeClosed: boolean;
  /** Whether times are told by board and not by week. */
  byBoard: boolean;
  customers: readonly KnownCustomer[];
  /** Of a report about people: only these; null for everybody. */
  people: readonly number[] | null;
}

/** Where the row of an id stands, -1 where there is none. */
export const placesOf = keptWith((ids: Numbers): ((id: number) => number) => {
  const greatest = greatestOf(ids);
  if (greatest >= DENSE) {
    const places = new Map<number, number>();
    for (let i = 0; i < ids.length; i++) places.set(ids[i] ?? 0, i);
    return (id) => places.get(id) ?? -1;
  }
  const places = new Int32Array(greatest + 1).fill(-1);
  for (let i = 0; i < ids.length; i++) places[ids[i] ?? 0] = i;
  return (id) => places[id] ?? -1;
});

/** Where the row with an id stands in a list, -1 where there is none. */
export function placesById(known: readonly { id: number }[]): (id: number) => number {
  return placesOf(Float64Array.from(known, ({ id }) => id));
}

/** Tells of each id in these columns whether it gets a bit for the first time. */
export function bitsOf(...columns: Numbers[]): (id: number, bit: number) => boolean {
  const greatest = Math.max(...columns.map(greatestOf));
  const { of } = greatest < DENSE ? { of: (id: number) => id } : numbered(...columns);
  const bits = new Uint8Array(
    greatest < DENSE ? greatest + 1 : columns.reduce((n, { length }) => n + length, 0),
  );
  return (id, bit) => {
    const place = of(id);
    const known = bits[place] ?? 0;
    bits[place] = known | bit;
    return (known & bit) === 0;
  };
}

type Selected = Packed<'created' | 'board' | 'status' | 'gone'>;

/** The live posts of the board and the statuses that were made in the period, among some rows or all. */
export function selected(
  { created, board, status, gone }: Selected,
  asked: Pick<TallyQuestion, 'since' | 'until' | 'board' | 'statuses'>,
  among: Int32Array = rowsFrom(created, asked.since),
): Int32Array {
  const { since, until, board: wanted, statuses } = asked;
  const isWanted = setOf(statuses);
  return rowsWhere(among, (i) => {
    const at = created[i] ?? 0;
    return (
      gone[i] === 0 &&
      at >= since &&
      at < until &&
      (wanted === null || board[i] === wanted) &&
      (statuses.length === 0 || isWanted(status[i] ?? 0))
    );
  });
}

/** Whether a row is one of these. One byte a row: a megabyte of flags stays in the cache of the processor, in whatever order it is read. */
export function flagged(size: number, rows: Int32Array): (row: number) => boolean {
  const flags = new Uint8Array(size);
  for (let n = 0; n < rows.length; n++) flags[rows[n] ?? 0] = 1;
  return (i) => flags[i] === 1;
}

/** The same question about everything that there is now. Posts that are dated later do not count yet. */
export function asOfNow(asked: TallyQuestion): TallyQuestion {
  return { ...asked, since: Number.NEGATIVE_INFINITY, until: asked.now, statuses: [] };
}

export function bestOf<T>(items: readonly T[], limit: number, compare: (a: T, b: T) => number): T[] {
  const order = { weight: () => 0, ties: (a: number, b: number) => compare(items[a] as T, items[b] as T) };
  const first = firstBy(rowsUpTo(items.length), limit, order);
  return first.map((place) => items[place] as T);
}

/** Steps of the table below for each bucket. */
const FINENESS = 8;

/**
 * The place of the bucket that a moment is in, -1 before the first; the last one is open. A table says where to begin looking: by halves
 * a search among the days of a year takes ten times as long.
 */
export function bucketFinder(buckets: readonly Bucket[]): (at: number) => number {
  const begins = Float64Array.from(buckets, (bucket) => Date.parse(bucket.begins));
  const first = begins[0] ?? Number.POSITIVE_INFINITY;
  const end = begins.at(-1) ?? first;
  const step = Math.max(1, Math.ceil((end - first) / (FINENESS * buckets.length)));
  const starts = new Int32Array(Math.floor((end - first) / step) + 1 || 0);
  for (let [i, place] = [0, 0]; i < starts.length; i++) {
    while ((begins[place + 1] ?? Number.POSITIVE_INFINITY) <= first + i * step) place++;
    starts[i] = place;
  }
  return (at) => {
    if (!(at >= first)) return -1;
    if (at >= end) return begins.length - 1;
    let place = starts[Math.floor((at - first) / step)] ?? 0;
    while ((begins[place + 1] ?? 0) <= at) place++;
    return place;
  };
}

/** The place of the week that a moment is in, -1 outside of all. */
export function weekFinder(weeks: readonly Bucket[]): (at: number) => number {
  const [placeOf, end] = [bucketFinder(weeks), Date.parse(weeks.at(-1)?.ends ?? '')];
  return (at) => (at < end ? placeOf(at) : -1);
}

/** The value below which a share of the values lies, interpolated; null where there are none. Sorts the values in place. */
export function quantile(values: Float64Array, share: number): number | null {
  if (values.length === 0) return null;
  values.sort();
  const place = share * (values.length - 1);
  const [low, high] = [values[Math.floor(place)] ?? 0, values[Math.ceil(place)] ?? 0];
  return low + (high - low) * (place - Math.floor(place));
}

/** Lists of numbers, one a group, as quantile takes them. */
export function numberLists(count: number): {
  add(group: number, value: number): void;
  of(group: number): Float64Array;
} {
  const lists = Array.from({ length: count }, () => new Float64Array(64));
  const sizes = new Int32Array(count);
  return {
    add(group, value) {
      const list = lists[group];
      const size = sizes[group] ?? 0;
      if (!list) return;
      list[size] = value;
      sizes[group] = size + 1;
      if (size + 1 < list.length) return;
      const longer = new Float64Array(2 * list.length);
      longer.set(list);
      lists[group] = longer;
    },
    of: (group) => lists[group]?.subarray(0, sizes[group]) ?? new Float64Array(0),
  };
}

/** A moment as SQL compares it. The empty text is before every time. */
export function sqlTimeOf(ms: number): string {
  return ms === Number.NEGATIVE_INFINITY ? '' : iso(ms);
}

/** A time as SQLite's unixepoch has it: the seconds that are over. */
export function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}

type Replies = Packed<'post' | 'created' | 'creator' | 'gone' | 'reply'>;

/** When each post was first replied to by the team: the view team_replies says the same in SQL. */
export function firstReplies(posts: Packed<'id'>, comments: Replies, team: readonly number[]): Float64Array {
  return repliesIn(comments.reply, posts, comments, team);
}

const repliesIn = keptWith(
  (
    reply: Numbers,
    posts: Packed<'id'>,
    { rows, post, created, creator, gone }: Replies,
    team: readonly number[],
  ) => {
    const first = new Float64Array(posts.rows).fill(Number.POSITIVE_INFINITY);
    const [isTeam, placeOf] = [setOf(team), placesOf(posts.id)];
    for (let i = 0; i < rows; i++) {
      if (reply[i] !== 1 || gone[i] !== 0 || !isTeam(creator[i] ?? 0)) continue;
      const place = placeOf(post[i] ?? 0);
      const at = created[i] ?? 0;
      if (at < (first[place] ?? Number.NEGATIVE_INFINITY)) first[place] = at;
    }
    return first;
  },
);
