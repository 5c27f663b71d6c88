import { judgeVotes, spreadOverPauses } from '../../src/rules/decide/unusual.ts';

/**
 * `npm run unusual -- [seed]`: years of simulated votes of one board, judged every day, on a mirror of four boards. Prints false alarms a
 * month of all four boards, and how many planted triplings over two days were found. Beside them stands how many any test could find that
 * raises one false alarm a month, although it knows the true rate of every day: that of the greatest likelihood ratio.
 */
let state = Number(process.argv[2] ?? 1);
const random = (): number => {
  state = (state * 1664525 + 1013904223) >>> 0;
  return (state + 0.5) / 2 ** 32;
};
const normal = (): number => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());

/** Marsaglia and Tsang; the mean is 1. */
function gamma(shape: number): number {
  const d = shape - 1 / 3;
  for (;;) {
    const x = normal();
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return (d * v) / shape;
  }
}

function poisson(mean: number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
  let count = 0;
  for (let p = random(); p > Math.exp(-mean); p *= random()) count++;
  return count;
}

const week = (day: number, quiet: number): number => (day % 7 >= 5 ? quiet : (7 - 2 * quiet) / 5);
/** The mirror is off for one to ten days in every three weeks. */
const PAUSED = 'quiet weekends, mirror often off';
const BURSTS = 'bursts';
/** Bursts multiply the votes of a day by a gamma distribution of this shape. */
const BURST = 3;
const TRAFFIC: Record<string, (day: number) => number> = {
  even: () => 1,
  'quiet weekends': (day) => week(day, 0.35),
  growing: (day) => week(day, 0.4) * (1 + day / 365),
  waves: (day) => week(day, 0.4) * (1 + 0.3 * Math.sin(day / 20)),
  [BURSTS]: (day) => week(day, 0.4) * gamma(BURST),
  [PAUSED]: (day) => week(day, 0.4),
};

/** The last weeks before a day as the mirror sees them: while it is off, votes wait for the next look. */
function seen(days: readonly number[], end: number, isOff: (day: number) => boolean): number[] {
  const begin = end - WARM;
  let waiting = 0;
  const votes = days.slice(begin, end).map((each, day) => {
    waiting += each;
    if (isOff(begin + day)) return 0;
    const all = waiting;
    waiting = 0;
    return all;
  });
  return spreadOverPauses(votes, (day) => !isOff(begin + day));
}

/** How much more likely so many votes of a day are at three times its mean, as a logarithm. */
function likelihoodRatio(votes: number, mean: number, shape: number): number {
  if (shape === Number.POSITIVE_INFINITY) return votes * Math.log(3) - 2 * mean;
  const rates = Math.log(shape + mean) - Math.log(shape + 3 * mean);
  return votes * (Math.log(3) + rates) + shape * rates;
}

/** The share of triplings that the best test finds with one false alarm a month; between two thresholds it throws a coin. */
function mostFound(mean: (day: number) => number, shape: number): number {
  const draw = (times: number) => (day: number) => {
    const rate = times * mean(day);
    return poisson(shape === Number.POSITIVE_INFINITY ? rate : rate * gamma(shape));
  };
  const [usual, tripled] = [draw(1), draw(3)];
  const ratio = (day: number, votes: readonly number[]): number =>
    votes.reduce((sum, each, i) => sum + likelihoodRatio(each, mean(day + i), shape), 0);
  const years = Array.from({ length: YEARS }, () => Array.from({ length: 365 }, (_, day) => usual(day)));
  const windows = years.map((days) => days.slice(1).map((_, day) => ratio(day, days.slice(day, day + 2))));
  const alarms = (threshold: number): number => {
    let count = 0;
    for (const year of windows) {
      let last = Number.NEGATIVE_INFINITY;
      for (const [day, each] of year.entries()) {
        if (each <= threshold || day - last < SILENT) continue;
        count++;
        last = day;
      }
    }
    return (count / YEARS / 12) * BOARDS;
  };
  const planted = Array.from({ length: TRIED }, (_, n) => {
    const day = n % 364;
    const [before, first, second] = [usual(day), tripled(day + 1), tripled(day + 2)];
    return Math.max(ratio(day, [before, first]), ratio(day + 1, [first, second]));
  });
  const found = (threshold: number): number => planted.filter((each) => each > threshold).length / TRIED;
  let [low, high] = [-50, 10_000];
  while (high - low > 1e-7) {
    const middle = (low + high) / 2;
    if (alarms(middle) > 1) low = middle;
    else high = middle;
  }
  const [fewer, more] = [alarms(high), alarms(low)];
  const coin = more > fewer ? (1 - fewer) / (more - fewer) : 0;
  return found(high) + coin * (found(low) - found(high));
}

function even(mean: number, factor: (day: number) => number): Parameters<typeof mostFound> {
  return [(day) => mean * factor(day), Number.POSITIVE_INFINITY];
}

function bursts(mean: number): Parameters<typeof mostFound> {
  return [(day) => mean * week(day, 0.4), BURST];
}

const TRIED = 4000;
const [YEARS, WARM, BOARDS, SILENT, PLANTED] = [40, 70, 4, 7, 12];

function isFound(days: readonly number[], at: number, isOff: (day: number) => boolean): boolean {
  return [at + 1, at + 2].some((end) => judgeVotes(seen(days, end, isOff), BOARDS).isUnusual);
}

for (const [name, factor] of Object.entries(TRAFFIC))
  for (const mean of [1, 2, 3, 5, 10, 40, 150, 1000]) {
    let [alarms, planted, found] = [0, 0, 0];
    for (let year = 0; year < YEARS; year++) {
      const days = Array.from({ length: 365 + WARM }, (_, day) => poisson(mean * factor(day)));
      let last = Number.NEGATIVE_INFINITY;
      const pauses = Array.from({ length: days.length / 21 }, () => 1 + Math.floor(10 * random()));
      const isOff = (day: number): boolean =>
        name === PAUSED && day % 21 < (pauses[Math.floor(day / 21)] ?? 0);
      for (let end = WARM; end <= days.length; end++) {
        const known = seen(days, end, isOff);
        if (end - last < SILENT || !judgeVotes(known, BOARDS).isUnusual) continue;
        alarms++;
        last = end;
      }
      for (let n = 0; n < PLANTED; n++) {
        const at = WARM + 10 + n * 28 + Math.floor(random() * 7);
        // A tripling that nobody looks at is none to find.
        if (isOff(at) || isOff(at + 1)) continue;
        planted++;
        const tripled = days.map((votes, day) =>
          day === at || day === at + 1 ? poisson(3 * mean * factor(day)) : votes,
        );
        if (isFound(tripled, at, isOff)) found++;
      }
    }
    const monthly = ((alarms / YEARS / 12) * BOARDS).toFixed(2);
    const share = ((100 * found) / planted).toFixed(1);
    const most = mostFound(...(name === BURSTS ? bursts(mean) : even(mean, factor)));
    process.stdout.write(
      `${name}, ${mean} votes a day: ${monthly} false alarms a month, ${share} % of triplings found, at most ${(100 * most).toFixed(1)} % can be\n`,
    );
  }
