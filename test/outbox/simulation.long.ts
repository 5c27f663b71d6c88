import { type SimulationOptions, simulate } from './simulation.ts';

/**
 * `node test/outbox/simulation.long.ts [rows] [seed] [kind]`: `plain`, `rewriting`, or `beyond` with delays far beyond what is waited
 * for. Prints a table for the documents.
 */
const KINDS: Record<string, SimulationOptions['trouble']> = {
  plain: {},
  rewriting: { rewritten: 0.3 },
  beyond: { commitLateMs: 600_000, visibleLateMs: 600_000 },
};
const rows = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const kind = process.argv[4] ?? 'plain';
const trouble = KINDS[kind];
if (!trouble) throw new Error(`there is no ${kind}: ${Object.keys(KINDS).join(', ')}`);

const began = Date.now();
const { verdict, ...run } = await simulate({
  rows,
  seed,
  trouble,
  // A full sweep of so many posts takes a second, and a frozen sender an hour of simulated time: fewer of them each.
  crashEvery: 1000,
  freezeEvery: 20_000,
  sweepEveryMs: Math.max(600_000, rows * 200),
});
const share = (n: number, of: number): string => `${n} (${((100 * n) / Math.max(1, of)).toFixed(2)} %)`;
const lines: [string, string | number][] = [
  ['rows, seed, kind', `${rows}, ${seed}, ${kind}`],
  ['confirmed', verdict.confirmed],
  ['rejected by the service', verdict.rejected],
  ['left to a person', share(verdict.uncertain, rows)],
  ...Object.entries(verdict.reasons).map(([why, list]): [string, number] => [`- ${why}`, list.length]),
  ['once ambiguous', verdict.wereAmbiguous],
  ['once ambiguous and rewritten', verdict.rewritten],
  ['of these confirmed without a person', share(verdict.rewrittenConfirmed, verdict.rewritten)],
  ['lost', verdict.lost.length],
  ['posted twice', verdict.doubled.length],
  ['posted twice in silence', verdict.silent.length],
  ['confirmed by another row’s post', verdict.misbound.length],
  ['second posts shown that are none', verdict.falselyAccused.length],
  ['unfinished', verdict.unfinished.length],
  ['crashes, freezes, sweeps', `${run.crashes}, ${run.freezes}, ${run.sweeps}`],
  ['posts of strangers', run.strangers],
  ['simulated hours', run.simulatedHours.toFixed(1)],
  ['answers', JSON.stringify(run.given)],
  ['seconds', ((Date.now() - began) / 1000).toFixed(0)],
];
process.stdout.write(
  `| | |\n|---|---|\n${lines.map(([name, value]) => `| ${name} | ${value} |\n`).join('')}`,
);
