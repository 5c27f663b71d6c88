import { simulate } from './simulation.ts';

/** `node test/outbox/simulation.long.ts [rows] [seed] [beyond]`: with a third word the delays go far beyond what is waited for. */
const rows = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const isBeyond = process.argv[4] !== undefined;
process.stdout.write(`${rows} rows, seed ${seed}${isBeyond ? ', delays beyond the settle time' : ''}\n`);
const began = Date.now();
const result = await simulate({
  rows,
  seed,
  // A full sweep of so many posts takes a second, and a frozen sender an hour of simulated time: fewer of them each.
  crashEvery: 1000,
  freezeEvery: 20_000,
  sweepEveryMs: Math.max(600_000, rows * 200),
  ...(isBeyond ? { trouble: { commitLateMs: 600_000, visibleLateMs: 600_000 } } : {}),
});
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
process.stdout.write(`${((Date.now() - began) / 1000).toFixed(1)} s\n`);
