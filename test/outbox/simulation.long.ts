import type { Trouble } from './simulated-upstream.ts';
import { type Simulation, simulate } from './simulation.ts';

/**
 * `npm run simulation -- [rows] [kind] [seed]`: `plain`, `rewriting`, or `beyond` with delays far beyond what is waited for. Prints a table for the documents, and fails where a row was lost, doubled in silence or given another's post.
 */
const KINDS: Record<string, Partial<Trouble>> = {
  plain: {},
  rewriting: { rewritten: 0.3 },
  beyond: { commitLateMs: 600_000, visibleLateMs: 600_000 },
};
/** Reconcile reads whole lists, so that the work grows with the square of a list: many rows are spread over services of this size. */
const ROWS_A_SERVICE = 10_000;
const rows = Number(process.argv[2] ?? 100_000);
const kind = process.argv[3] ?? 'plain';
const seed = Number(process.argv[4] ?? Date.now() % 2 ** 31);
const trouble = KINDS[kind];
if (!trouble) throw new Error(`there is no ${kind}: ${Object.keys(KINDS).join(', ')}`);

const began = Date.now();
const { verdict, ...run } = await simulateAll(trouble);
const share = (n: number, of: number): string => `${n} (${((100 * n) / Math.max(1, of)).toFixed(2)} %)`;
const lines: [string, string | number][] = [
  ['rows, seed, kind', `${rows}, ${seed}, ${kind}`],
  ['confirmed', verdict.confirmed],
  ['rejected by the service', verdict.rejected],
  ['left to a person', share(verdict.uncertain, rows)],
  ...Object.entries(verdict.reasons).map(([why, list]): [string, number] => [`- ${why}`, list.length]),
  ...Object.entries(verdict.rewritings).map(([what, n]): [string, number] => [`- the service: ${what}`, n]),
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
if ([verdict.lost, verdict.silent, verdict.misbound, verdict.unfinished].some(({ length }) => length > 0))
  process.exitCode = 1;

async function simulateAll(trouble: Partial<Trouble>): Promise<Simulation> {
  let all: Simulation | undefined;
  for (let done = 0; done < rows; done += ROWS_A_SERVICE) {
    const size = Math.min(ROWS_A_SERVICE, rows - done);
    // A full sweep of so many posts takes a second, and a frozen sender an hour of simulated time: fewer of them each.
    const rare = { crashEvery: 1000, freezeEvery: 20_000, sweepEveryMs: Math.max(600_000, size * 200) };
    const one = await simulate({ rows: size, seed: seed + done / ROWS_A_SERVICE, trouble, ...rare });
    all = all === undefined ? one : added(all, one);
  }
  if (all === undefined) throw new Error('there are no rows to simulate');
  return all;
}

/** Two verdicts as one: numbers add up, lists follow each other, and what one of them lacks is taken from the other. */
function added<T>(one: T, other: T): T {
  if (typeof one === 'number' && typeof other === 'number') return (one + other) as T;
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other] as T;
  const sums: Record<string, unknown> = { ...(other as object) };
  for (const [key, value] of Object.entries(one as object))
    sums[key] = key in sums ? added<unknown>(value, sums[key]) : value;
  return sums as T;
}
