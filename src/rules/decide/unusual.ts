/** Votes of a board are compared with its own last 8 weeks. */
export const HISTORY_DAYS = 56;
/** What is compared: the last two whole days together. A rise of one day, and one over a night, both fill such a window. */
export const WINDOW_DAYS = 2;
/** With fewer days nothing is known of a board. */
const LEAST_DAYS = 21;
/** Below so many votes nobody calls a window unusual. */
const LEAST_VOTES = 6;
/** A board that grows has more than its last 8 weeks on every day: that is no event. */
const LEAST_RISE = 1.9;
/** Each board is looked at once a day: fewer than one false alarm is expected in so many days of all boards together. */
const QUIET_DAYS = 100;

/**
 * The votes of each day, none below zero. What the mirror saw after days without a look came on those days too: it is spread evenly over
 * them, so that a pause is no event.
 */
export function spreadOverPauses(seen: readonly number[], isWatched: (day: number) => boolean): number[] {
  const daily = new Array<number>(seen.length).fill(0);
  let first = 0;
  for (const [day, votes] of seen.entries()) {
    if (!isWatched(day) && votes === 0) continue;
    daily.fill(Math.max(0, votes) / (day - first + 1), first, day + 1);
    first = day + 1;
  }
  return daily;
}

export interface UnusualVerdict {
  isUnusual: boolean;
  votes: number;
  /** Expected in such a window. */
  usual: number;
}

/**
 * Whether the votes of the last two days are more than the board's own history explains. The last `WINDOW_DAYS` numbers are judged by
 * the days before. Days of one weekday share a factor, because weekends are quiet. What is left of the scatter makes a negative
 * binomial distribution; where there is none, that is a Poisson distribution.
 */
export function judgeVotes(daily: readonly number[], boards: number): UnusualVerdict {
  const window = daily.slice(-WINDOW_DAYS);
  const history = daily.slice(-HISTORY_DAYS - WINDOW_DAYS, -WINDOW_DAYS);
  const votes = sum(window);
  if (history.length < LEAST_DAYS) return { isUnusual: false, votes, usual: 0 };
  const factors = weekdayFactors(history);
  const expected = meanOf(history) * sum(window.map((_, i) => factors[(history.length + i) % 7] ?? 1));
  const mean = Math.max(expected, 0.5 / WINDOW_DAYS);
  const chance = chanceOfAtLeast(votes, mean, dispersionOf(history, factors));
  return {
    isUnusual: votes >= LEAST_VOTES && votes >= LEAST_RISE * expected && chance < 1 / (QUIET_DAYS * boards),
    votes: Math.round(votes),
    usual: Math.round(expected * 10) / 10,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

/** Without the tenth of the days that are highest: an earlier rise must not hide the next one. */
function meanOf(history: readonly number[]): number {
  const kept = history.toSorted((a, b) => a - b).slice(0, Math.ceil(history.length * 0.9));
  const trimmed = sum(kept) / kept.length;
  return Math.min(sum(history) / history.length, trimmed * 1.15);
}

/** Place in the week by the place in the list. A few votes more of a usual day keep eight small numbers from saying too much. */
function weekdayFactors(history: readonly number[]): number[] {
  const usual = sum(history) / history.length;
  return Array.from({ length: 7 }, (_, day) => {
    const own = history.filter((_, i) => i % 7 === day);
    return (sum(own) + PRIOR_VOTES) / (own.length * usual + PRIOR_VOTES);
  });
}

const PRIOR_VOTES = 6;

/** The variance of two days over their mean; 1 for a Poisson distribution. */
function dispersionOf(history: readonly number[], factors: readonly number[]): number {
  const mean = sum(history) / history.length;
  if (mean === 0) return 1;
  const ratios: number[] = [];
  for (let i = 0; i + WINDOW_DAYS <= history.length; i += WINDOW_DAYS) {
    const wanted = mean * ((factors[i % 7] ?? 1) + (factors[(i + 1) % 7] ?? 1));
    ratios.push((sum(history.slice(i, i + WINDOW_DAYS)) - wanted) ** 2 / Math.max(wanted, 0.5));
  }
  ratios.sort((a, b) => a - b);
  const kept = ratios.slice(0, Math.ceil(ratios.length * 0.97));
  return Math.max(1, (sum(kept) / kept.length) * 1.15);
}

/** The chance of so many or more: negative binomial with this mean and this variance over mean. Summed up by logarithms: e to the power of -800 is 0 here. */
export function chanceOfAtLeast(count: number, mean: number, dispersion: number): number {
  const isPoisson = dispersion < 1.0001;
  const size = isPoisson ? 0 : mean / (dispersion - 1);
  const share = isPoisson ? 0 : 1 - 1 / dispersion;
  let chance = isPoisson ? -mean : -size * Math.log(dispersion);
  let below = 0;
  for (let k = 0; k < count; k++) {
    below += Math.exp(chance);
    chance += Math.log(isPoisson ? mean / (k + 1) : ((k + size) / (k + 1)) * share);
  }
  return Math.max(0, 1 - below);
}
