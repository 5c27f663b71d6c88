import type { Numbers, Packed } from '../mirror/index/columns.ts';
import { firstBy, numbered, rowsWhere } from '../mirror/index/select.ts';
import { GAIN_COLUMNS, walkGains } from './gains.ts';
import { described, openOnly } from './lists.ts';
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
  const [gained, after] = [new Float64Array(posts.rows), new Float64Array(posts.votes)];
  walkGains({ posts, versions }, span, (i, votes, at) => {
    if (at >= asked.until) after[i] = (after[i] ?? 0) - votes;
    else {
      gained[i] = (gained[i] ?? 0) + votes;
      rates.gain(i, votes, at);
    }
  });
  const isSelected = openOnly(posts, asked, { since: Number.NEGATIVE_INFINITY });
  const rising = rowsWhere(posts.rows, (i) => (gained[i] ?? 0) >= LEAST_GAIN && isSelected(i));
  const own = ownGains(rising, posts);
  walkGains({ posts, versions }, { ...span, until: asked.until }, own.gain);
  const usual = Float64Array.from(rising, (i, place) => rates.usual(i, own.of(place)));
  const weights = Float64Array.from(rising, (i, place) => surprise(gained[i] ?? 0, usual[place] ?? 0));
  const best = firstBy(rising.length, (place) => (weights[place] ?? 0) > 0, limit, {
    weight: (place) => weights[place] ?? 0,
    ties: (a, b) =>
      gainedAt(b) - gainedAt(a) || (posts.id[rising[a] ?? 0] ?? 0) - (posts.id[rising[b] ?? 0] ?? 0),
  });
  return await described(
    reader,
    best.map((place) => posts.id[rising[place] ?? 0] ?? 0),
    (at) => {
      const place = best[at] ?? 0;
      const votes = after[rising[place] ?? 0] ?? 0;
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
  const places = placesIn(board, boards);
  const sums = () => new Float64Array((boards.ids.length + 1) * CLASSES);
  const [gains, days] = [sums(), sums()];
  /** Of each board, and behind them of all. */
  const add = (cells: Float64Array, place: number, age: number, n: number): void => {
    for (const cell of [place * CLASSES + age, boards.ids.length * CLASSES + age])
      cells[cell] = (cells[cell] ?? 0) + n;
  };
  // Most posts of a large mirror are of the last class all the time.
  const old = new Int32Array(boards.ids.length);
  const alwaysOld = from - (BEGINS[OLDEST] ?? 0);
  for (let i = 0; i < rows; i++) {
    const [made, place] = [created[i] ?? 0, places[i] ?? 0];
    if (made <= alwaysOld) old[place] = (old[place] ?? 0) + 1;
    else if (made < until) {
      const last = ageAt(made, until);
      for (let age = made < from ? ageAt(made, from) : 0; age <= last; age++)
        add(days, place, age, daysAt(made, age, from, until));
    }
  }
  for (const [place, posts] of old.entries()) add(days, place, OLDEST, (posts * (until - from)) / DAY_MS);
  const all = boards.ids.length * CLASSES;
  return {
    gain(i: number, votes: number, at: number): void {
      add(gains, places[i] ?? 0, ageAt(created[i] ?? 0, at), votes);
    },
    /** What other posts of the board gained a day at each age of this one, for its own days. */
    usual(i: number, mine: Float64Array): number {
      const cell = (places[i] ?? 0) * CLASSES;
      let sum = 0;
      for (let age = 0; age < CLASSES; age++) {
        const own = daysAt(created[i] ?? 0, age, from, until);
        if (own === 0) continue;
        const minus = mine[age] ?? 0;
        const [allGains, allDays] = [(gains[all + age] ?? 0) - minus, (days[all + age] ?? 0) - own];
        const overall = (Math.max(0, allGains) + HALF_VOTE) / (allDays + PRIOR_DAYS);
        const [boardGains, boardDays] = [(gains[cell + age] ?? 0) - minus, (days[cell + age] ?? 0) - own];
        const rate = (Math.max(0, boardGains) + overall * PRIOR_DAYS) / (boardDays + PRIOR_DAYS);
        sum += rate * own;
      }
      return sum;
    },
  };
}

function placesIn(column: Numbers, { of }: ReturnType<typeof numbered>): Int32Array {
  const places = new Int32Array(column.length);
  for (let i = 0; i < column.length; i++) places[i] = of(column[i] ?? 0);
  return places;
}
