import type { Numbers, Packed } from '../mirror/index/columns.ts';
import { firstBy, keptWith, rowsFrom, rowsUpTo, rowsWhere } from '../mirror/index/select.ts';
import { GAIN_COLUMNS, type Gains, gainsByPost, gainsIn } from './gains.ts';
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
  const facts = await reader.columns({
    posts: [...GAIN_COLUMNS.posts, 'status', 'gone'],
    versions: GAIN_COLUMNS.versions,
  });
  const { posts } = facts;
  const gains = gainsIn(facts, { now, observed, from });
  const { gained, later } = gainsByPost(gains, posts.rows, asked.until);
  const always = { ...asked, since: Number.NEGATIVE_INFINITY };
  const rising = openOnly(posts, always, rowsFrom(gained, LEAST_GAIN));
  const watch = { from, until: Math.min(asked.until, last + 1), before: asked.until };
  const usual = usualGains(facts, rising, gains, watch);
  const weights = new Float64Array(rising.length);
  for (let place = 0; place < rising.length; place++)
    weights[place] = surprise(gained[rising[place] ?? 0] ?? 0, usual[place] ?? 0);
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
function surprise(gain: number, usual: number): number {
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

interface Known {
  posts: Packed<'created' | 'board'>;
  boards: readonly { id: number }[];
}

interface Watch {
  from: number;
  /** Until when days count: the last look, or the end of the period. */
  until: number;
  /** The votes seen before then count, also those of a pass under way. */
  before: number;
}

/** For each of these posts what other posts of its board gained a day at each of its ages, for its own days. */
function usualGains({ posts, boards }: Known, rising: Int32Array, all: Gains, watch: Watch): Float64Array {
  const { created, board } = posts;
  const boardAt = placesOf(Float64Array.from(boards, ({ id }) => id));
  const size = boards.length * CLASSES;
  const placeOf = placesOf(rising);
  const [gains, own] = [new Float64Array(size), new Float64Array(rising.length * CLASSES)];
  for (let n = 0; n < all.rows; n++) {
    const [i, votes, at] = [all.post[n] ?? 0, all.votes[n] ?? 0, all.at[n] ?? 0];
    if (at >= watch.before) continue;
    const age = ageAt(created[i] ?? 0, at);
    const cell = boardAt(board[i] ?? 0) * CLASSES + age;
    gains[cell] = (gains[cell] ?? 0) + votes;
    const mine = placeOf(i) * CLASSES + age;
    if (mine >= 0) own[mine] = (own[mine] ?? 0) + votes;
  }
  const days = daysOf(posts, boardAt, size, watch);
  const rateOf = rates(gains, days);
  const { from, until } = watch;
  const usual = new Float64Array(rising.length);
  for (let place = 0; place < rising.length; place++) {
    const i = rising[place] ?? 0;
    const [made, cell] = [created[i] ?? 0, boardAt(board[i] ?? 0) * CLASSES];
    const [last, lacking] = [ageAt(made, until), LEAST_DAYS - (until - Math.max(from, made)) / DAY_MS];
    let sum = 0;
    for (let age = made < from ? ageAt(made, from) : 0; age <= last; age++) {
      const lived = daysAt(made, age, from, until);
      const compared = age === last ? lived + Math.max(0, lacking) : lived;
      sum += rateOf(cell, age, own[place * CLASSES + age] ?? 0, lived) * compared;
    }
    usual[place] = sum;
  }
  return usual;
}

/** The days that posts had in the period, by board and age. */
function daysOf(
  { created, board }: Known['posts'],
  boardAt: (id: number) => number,
  size: number,
  { from, until }: Watch,
): Float64Array {
  const days = new Float64Array(size);
  // Most posts of a large mirror are of the last class all the time.
  const old = postsByBoard(board, boardAt, size / CLASSES).slice();
  const younger = rowsFrom(created, from - (BEGINS[OLDEST] ?? 0));
  for (let n = 0; n < younger.length; n++) {
    const i = younger[n] ?? 0;
    const [made, place] = [created[i] ?? 0, boardAt(board[i] ?? 0)];
    old[place] = (old[place] ?? 0) - 1;
    if (made >= until) continue;
    const last = ageAt(made, until);
    for (let age = made < from ? ageAt(made, from) : 0; age <= last; age++) {
      const cell = place * CLASSES + age;
      days[cell] = (days[cell] ?? 0) + daysAt(made, age, from, until);
    }
  }
  for (const [place, posts] of old.entries()) {
    const cell = place * CLASSES + OLDEST;
    days[cell] = (days[cell] ?? 0) + (posts * (until - from)) / DAY_MS;
  }
  return days;
}

const postsByBoard = keptWith((board: Numbers, boardAt: (id: number) => number, boards: number) => {
  const counts = new Int32Array(boards);
  for (let i = 0; i < board.length; i++) {
    const place = boardAt(board[i] ?? 0);
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
});

/** The votes that other posts of a board and age gained a day, for a post that gained some of them itself in some of the days. */
function rates(gains: Float64Array, days: Float64Array) {
  const all = { gains: byAge(gains), days: byAge(days) };
  return (cell: number, age: number, gained: number, lived: number): number => {
    const overallGains = (all.gains[age] ?? 0) - gained;
    const overallDays = (all.days[age] ?? 0) - lived;
    const overall = (Math.max(0, overallGains) + HALF_VOTE) / (overallDays + PRIOR_DAYS);
    const ofBoard = Math.max(0, (gains[cell + age] ?? 0) - gained);
    return (ofBoard + overall * PRIOR_DAYS) / ((days[cell + age] ?? 0) - lived + PRIOR_DAYS);
  };
}

/** The sums of all boards. */
function byAge(sums: Float64Array): Float64Array {
  const all = new Float64Array(CLASSES);
  for (const [cell, sum] of sums.entries()) all[cell % CLASSES] = (all[cell % CLASSES] ?? 0) + sum;
  return all;
}
