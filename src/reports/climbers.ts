import type { Numbers, Packed } from '../mirror/index/columns.ts';
import { firstBy, numbered, rowsFrom, rowsUpTo, rowsWhere } from '../mirror/index/select.ts';
import { GAIN_COLUMNS, walkGains } from './gains.ts';
import { openOnly, withPostFacts } from './lists.ts';
import type { Row } from './report.ts';
import type { ReportReader } from './store.ts';
import { placesOf, type TallyQuestion } from './tally.ts';

const DAY_MS = 86_400_000;
/** Ages in days at which a class of posts ends: votes come fast in the first week and slowly after a year. */
const AGES = [7, 30, 90, 365, Number.POSITIVE_INFINITY];
/** A board with few posts is judged by all boards as much as by so many days of its own posts. */
const PRIOR_DAYS = 90;
/** So that no rate is zero where no other post gained anything. */
const HALF_VOTE = 0.5;
/** With fewer votes a post climbs nowhere. */
const LEAST_GAIN = 3;
/** A post is compared with so many days of others at least: beside some minutes of them three votes of friends lead the list. */
const LEAST_DAYS = 1;

/**
 * Posts that gained more votes than is usual for posts of their board and age. What is usual is the votes a day of the other posts of that
 * board and age in the same period. The first is the post whose gain is the least likely by chance.
 */
export async function climbers(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { from, now, observed, last, limit } = asked;
  if (from === null || observed === null || last === null) return [];
  const { posts, versions } = await reader.columns({
    posts: [...GAIN_COLUMNS.posts, 'status', 'gone'],
    versions: GAIN_COLUMNS.versions,
  });
  const until = Math.min(asked.until, last + 1);
  const rates = ratesOf(posts, from, until);
  const span = { now, observed, from, until: Number.POSITIVE_INFINITY };
  const [gained, later] = [new Float64Array(posts.rows), new Float64Array(posts.rows)];
  walkGains({ posts, versions }, span, (i, votes, at) => {
    if (at >= asked.until) later[i] = (later[i] ?? 0) + votes;
    else {
      gained[i] = (gained[i] ?? 0) + votes;
      rates.gain(i, votes, at);
    }
  });
  const always = { ...asked, since: Number.NEGATIVE_INFINITY };
  const rising = openOnly(posts, always, rowsFrom(gained, LEAST_GAIN));
  const own = ownGains(rising, posts);
  walkGains({ posts, versions }, { ...span, until: asked.until }, own.gain);
  const usual = Float64Array.from(rising, (i, place) => rates.usual(i, own.of(place)));
  const weights = Float64Array.from(rising, (i, place) => surprise(gained[i] ?? 0, usual[place] ?? 0));
  const weight = (place: number): number => weights[place] ?? 0;
  const ties = (a: number, b: number): number =>
    gainedAt(b) - gainedAt(a) || (posts.id[rising[a] ?? 0] ?? 0) - (posts.id[rising[b] ?? 0] ?? 0);
  const climbing = rowsWhere(rowsUpTo(rising.length), (place) => weight(place) > 0);
  const best = firstBy(climbing, limit, { weight, ties });
  return await withPostFacts(
    reader,
    best.map((place) => posts.id[rising[place] ?? 0] ?? 0),
    (at) => {
      const place = best[at] ?? 0;
      const i = rising[place] ?? 0;
      const votes = (posts.votes[i] ?? 0) - (later[i] ?? 0);
      return { gained: gainedAt(place), usual: Number((usual[place] ?? 0).toFixed(2)), votes };
    },
  );

  function gainedAt(place: number): number {
    return gained[rising[place] ?? 0] ?? 0;
  }
}

/** How far a gain is above what is usual, in standard deviations of a Poisson process (its signed deviance); 0 for no more than usual. */
export function surprise(gain: number, usual: number): number {
  if (gain <= usual) return 0;
  return usual === 0
    ? Number.POSITIVE_INFINITY
    : Math.sqrt(2 * (gain * Math.log(gain / usual) - (gain - usual)));
}

const CLASSES = AGES.length;
const OLDEST = CLASSES - 1;
/** When each class begins and ends after a post was made. */
const ENDS = AGES.map((days) => days * DAY_MS);
const BEGINS = [0, ...ENDS];

function ageAt(made: number, at: number): number {
  let age = 0;
  while (at - made >= (ENDS[age] ?? 0)) age++;
  return age;
}

/** The days that a post had in the period at the age of a class. */
function daysAt(made: number, age: number, from: number, until: number): number {
  const begins = Math.max(from, made + (BEGINS[age] ?? 0));
  return Math.max(0, Math.min(until, made + (ENDS[age] ?? 0)) - begins) / DAY_MS;
}

/** The votes of single posts, by the age at which they came. */
function ownGains(rows: Numbers, { created }: Packed<'created'>) {
  const placeOf = placesOf(rows);
  const gains = new Float64Array(rows.length * CLASSES);
  return {
    gain(i: number, votes: number, at: number): void {
      const place = placeOf(i);
      if (place < 0) return;
      const cell = place * CLASSES + ageAt(created[i] ?? 0, at);
      gains[cell] = (gains[cell] ?? 0) + votes;
    },
    of: (place: number): Float64Array => gains.subarray(place * CLASSES, (place + 1) * CLASSES),
  };
}

/** Votes and days of all posts by board and age, with the age of a post at each vote and each day. */
function ratesOf({ rows, created, board }: Packed<'created' | 'board'>, from: number, until: number) {
  const boards = numbered(board);
  const cellsOf = (i: number): number => boards.of(board[i] ?? 0) * CLASSES;
  const old: number[] = [];
  for (let i = 0; i < rows; i++) {
    const place = boards.of(board[i] ?? 0);
    old[place] = (old[place] ?? 0) + 1;
  }
  const [gains, days] = [new Float64Array(old.length * CLASSES), new Float64Array(old.length * CLASSES)];
  const add = (sums: Float64Array, cell: number, n: number): void => {
    sums[cell] = (sums[cell] ?? 0) + n;
  };
  // Most posts of a large mirror are of the last class all the time.
  const younger = rowsFrom(created, from - (BEGINS[OLDEST] ?? 0));
  for (let n = 0; n < younger.length; n++) {
    const i = younger[n] ?? 0;
    const [made, cell] = [created[i] ?? 0, cellsOf(i)];
    old[cell / CLASSES] = (old[cell / CLASSES] ?? 0) - 1;
    if (made >= until) continue;
    const last = ageAt(made, until);
    for (let age = made < from ? ageAt(made, from) : 0; age <= last; age++)
      add(days, cell + age, daysAt(made, age, from, until));
  }
  for (const [place, posts] of old.entries())
    add(days, place * CLASSES + OLDEST, (posts * (until - from)) / DAY_MS);
  let all: Record<'gains' | 'days', Float64Array> | undefined;
  return {
    gain(i: number, votes: number, at: number): void {
      add(gains, cellsOf(i) + ageAt(created[i] ?? 0, at), votes);
    },
    /** What other posts of the board gained a day at each age of this one, for its own days. To be called after the last gain. */
    usual(i: number, mine: Float64Array): number {
      all ??= { gains: byAge(gains), days: byAge(days) };
      const cell = cellsOf(i);
      const made = created[i] ?? 0;
      const [last, lacking] = [ageAt(made, until), LEAST_DAYS - (until - Math.max(from, made)) / DAY_MS];
      let sum = 0;
      for (let age = 0; age <= last; age++) {
        const own = daysAt(made, age, from, until);
        const compared = age === last ? own + Math.max(0, lacking) : own;
        if (compared === 0) continue;
        const minus = mine[age] ?? 0;
        const [allGains, allDays] = [(all.gains[age] ?? 0) - minus, (all.days[age] ?? 0) - own];
        const overall = (Math.max(0, allGains) + HALF_VOTE) / (allDays + PRIOR_DAYS);
        const [boardGains, boardDays] = [(gains[cell + age] ?? 0) - minus, (days[cell + age] ?? 0) - own];
        const rate = (Math.max(0, boardGains) + overall * PRIOR_DAYS) / (boardDays + PRIOR_DAYS);
        sum += rate * compared;
      }
      return sum;
    },
  };
}

/** The sums of all boards. */
function byAge(sums: Float64Array): Float64Array {
  const all = new Float64Array(CLASSES);
  for (const [cell, sum] of sums.entries()) all[cell % CLASSES] = (all[cell % CLASSES] ?? 0) + sum;
  return all;
}
