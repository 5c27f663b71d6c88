import { judgeVotes } from '../../src/rules/decide/unusual.ts';

/**
 * `npm run unusual -- [seed]`: years of simulated votes of one board, judged every day, on a mirror of four boards. Prints false alarms a
 * month of all four boards, and how many planted triplings over two days were found.
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
const TRAFFIC: Record<string, (day: number) => number> = {
  even: () => 1,
  'quiet weekends': (day) => week(day, 0.35),
  growing: (day) => week(day, 0.4) * (1 + day / 365),
  waves: (day) => week(day, 0.4) * (1 + 0.3 * Math.sin(day / 20)),
  bursts: (day) => week(day, 0.4) * gamma(3),
};

const [YEARS, WARM, BOARDS, SILENT, PLANTED] = [40, 70, 4, 7, 12];

function isFound(days: readonly number[], at: number): boolean {
  return [at + 1, at + 2].some((end) => judgeVotes(days.slice(0, end), BOARDS).isUnusual);
}

for (const [name, factor] of Object.entries(TRAFFIC))
  for (const mean of [1, 3, 10, 40, 150]) {
    let [alarms, found] = [0, 0];
    for (let year = 0; year < YEARS; year++) {
      const days = Array.from({ length: 365 + WARM }, (_, day) => poisson(mean * factor(day)));
      let last = Number.NEGATIVE_INFINITY;
      for (let end = WARM; end <= days.length; end++) {
        if (end - last < SILENT || !judgeVotes(days.slice(0, end), BOARDS).isUnusual) continue;
        alarms++;
        last = end;
      }
      for (let n = 0; n < PLANTED; n++) {
        const at = WARM + 10 + n * 28 + Math.floor(random() * 7);
        const tripled = days.map((votes, day) =>
          day === at || day === at + 1 ? poisson(3 * mean * factor(day)) : votes,
        );
        if (isFound(tripled, at)) found++;
      }
    }
    const monthly = ((alarms / YEARS / 12) * BOARDS).toFixed(2);
    const share = ((100 * found) / (YEARS * PLANTED)).toFixed(1);
    process.stdout.write(
      `${name}, ${mean} votes a day: ${monthly} false alarms a month, ${share} % of triplings found\n`,
    );
  }
