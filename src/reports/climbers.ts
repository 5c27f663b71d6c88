import type { Packed } from '../mirror/index/columns.ts';
import { firstBy } from '../mirror/index/select.ts';
import { GAIN_COLUMNS, walkGains } from './gains.ts';
import { described, openOnly } from './lists.ts';
import type { Row } from './report.ts';
import type { ReportReader } from './store.ts';
import type { TallyQuestion } from './tally.ts';

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
  const [gained, after] = [new Float64Array(posts.rows), new Float64Array(posts.votes)];
  walkGains({ posts, versions }, { now, observed, from, until: Number.POSITIVE_INFINITY }, (i, votes, at) => {
    if (at >= asked.until) after[i] = (after[i] ?? 0) - votes;
    else {
      gained[i] = (gained[i] ?? 0) + votes;
      rates.gain(i, votes, at);
    }
  });
  const isSelected = openOnly(posts, asked, { since: Number.NEGATIVE_INFINITY });
  const usual = new Map<number, number>();
  const weight = (i: number): number => {
    const own = gained[i] ?? 0;
    if (own < LEAST_GAIN || !isSelected(i)) return Number.NEGATIVE_INFINITY;
    const meant = usual.get(i) ?? rates.usual(i);
    usual.set(i, meant);
    return surprise(own, meant);
  };
  const best = firstBy(posts.rows, (i) => weight(i) > 0, limit, {
    weight,
    ties: (a, b) => (gained[b] ?? 0) - (gained[a] ?? 0) || (posts.id[a] ?? 0) - (posts.id[b] ?? 0),
  });
  return await described(
    reader,
    best.map((i) => posts.id[i] ?? 0),
    (place) => {
      const i = best[place] ?? 0;
      return { gained: gained[i] ?? 0, usual: Number((usual.get(i) ?? 0).toFixed(2)), votes: after[i] ?? 0 };
    },
  );
}

/** How far a gain is above what is usual, in standard deviations of a Poisson process (its signed deviance); 0 for no more than usual. */
export function surprise(gain: number, usual: number): number {
  if (gain <= usual) return 0;
  return usual === 0
    ? Number.POSITIVE_INFINITY
    : Math.sqrt(2 * (gain * Math.log(gain / usual) - (gain - usual)));
}

/** Votes and days by age. */
interface Cells {
  gains: Float64Array;
  days: Float64Array;
}

const noCells = (): Cells => ({
  gains: new Float64Array(AGES.length),
  days: new Float64Array(AGES.length),
});

/** The days that a post had in the period at the age of a class. */
function exposure({ created }: Packed<'created'>, from: number, until: number) {
  return (i: number, age: number): number => {
    const made = created[i] ?? 0;
    const begins = Math.max(from, made + (AGES[age - 1] ?? 0) * DAY_MS);
    return Math.max(0, Math.min(until, made + (AGES[age] ?? 0) * DAY_MS) - begins) / DAY_MS;
  };
}

/** Votes and days of all posts by board and age, with the age of a post at each vote and each day. */
function ratesOf(posts: Packed<'created' | 'board'>, from: number, until: number) {
  const boards = new Map<number, Cells>();
  const cellOf = (board: number): Cells => {
    const found = boards.get(board);
    if (found) return found;
    const made = noCells();
    boards.set(board, made);
    return made;
  };
  const daysAt = exposure(posts, from, until);
  const all = noCells();
  const add = (cells: Float64Array | number[], age: number, n: number): void => {
    cells[age] = (cells[age] ?? 0) + n;
  };
  const oldest = AGES.length - 1;
  for (let i = 0; i < posts.rows; i++) {
    const made = posts.created[i] ?? 0;
    if (made >= until) continue;
    const { days } = cellOf(posts.board[i] ?? 0);
    // Most posts of a large mirror are of the last class all the time.
    const isOld = made + (AGES[oldest - 1] ?? 0) * DAY_MS <= from;
    for (let age = isOld ? oldest : 0; age <= oldest; age++) {
      const n = daysAt(i, age);
      if (n === 0) continue;
      add(days, age, n);
      add(all.days, age, n);
    }
  }
  // Plain lists: a hundred thousand typed arrays would be half of the time of the report.
  const own = new Map<number, number[]>();
  return {
    gain(i: number, votes: number, at: number): void {
      const days = (at - (posts.created[i] ?? 0)) / DAY_MS;
      const age = AGES.findIndex((end) => days < end);
      add(cellOf(posts.board[i] ?? 0).gains, age, votes);
      add(all.gains, age, votes);
      const mine = own.get(i) ?? AGES.map(() => 0);
      own.set(i, mine);
      add(mine, age, votes);
    },
    /** What other posts of the board gained a day at each age of this one, for its own days. */
    usual(i: number): number {
      const { gains, days } = cellOf(posts.board[i] ?? 0);
      const mine = own.get(i);
      return AGES.reduce((sum, _, age) => {
        const own = daysAt(i, age);
        if (own === 0) return sum;
        const minus = mine?.[age] ?? 0;
        const [allGains, allDays] = [(all.gains[age] ?? 0) - minus, (all.days[age] ?? 0) - own];
        const overall = (Math.max(0, allGains) + HALF_VOTE) / (allDays + PRIOR_DAYS);
        const [boardGains, boardDays] = [(gains[age] ?? 0) - minus, (days[age] ?? 0) - own];
        const rate = (Math.max(0, boardGains) + overall * PRIOR_DAYS) / (boardDays + PRIOR_DAYS);
        return sum + rate * own;
      }, 0);
    },
  };
}
