import Table from 'cli-table3';
import { READY_AGAIN } from './invariants/readiness.ts';
import { quantile, type Tally } from './tally.ts';

export interface Result {
  passed: boolean;
  text: string;
}

/** Faults fired and invariants checked. A fault that never fired proves nothing, and fails the run. */
export function resultOf(
  tally: Tally,
  upstream: ReadonlyMap<string, number>,
  readyWithinMs: number | null,
): Result {
  const faults = [...tally.faults, ...upstream];
  const silent = faults.filter(([, fired]) => fired === 0).map(([name]) => name);
  if (readyWithinMs !== null) checkTimes(tally, readyWithinMs);
  const broken = [...tally.invariants.values()].filter(({ breaks }) => breaks > 0);
  const reasons = [
    ...silent.map((name) => `never fired: ${name}`),
    ...broken.flatMap(({ name, broken: said }) => said.map((detail) => `${name}: ${detail}`)),
  ];
  const left = tally.missing.map((name) => `left out: ${name}`);
  const text = [faultTable(faults), invariantTable(tally), times(tally), ...left, ...reasons].join('\n');
  return { passed: reasons.length === 0, text };
}

/** Only where asked for: how long a start takes is the machine's doing as well, and a busy one must not fail the run. */
function checkTimes(tally: Tally, most: number): void {
  const p99 = quantile(tally.times.get(READY_AGAIN) ?? [], 0.99);
  tally.check(`${READY_AGAIN} within ${most} ms (p99)`, p99 <= most, () => `p99 ${p99} ms`);
}

function faultTable(faults: readonly [string, number][]): string {
  const table = new Table({ head: ['FAULT OR LOAD', 'FIRED'], colAligns: ['left', 'right'], style: PLAIN });
  for (const [name, fired] of faults.toSorted(([a], [b]) => (a < b ? -1 : 1))) table.push([name, fired]);
  return table.toString();
}

function invariantTable({ invariants }: Tally): string {
  const head = ['INVARIANT', 'CHECKED', 'BROKEN'];
  const table = new Table({ head, colAligns: ['left', 'right', 'right'], style: PLAIN });
  for (const { name, checks, breaks } of invariants.values()) table.push([name, checks, breaks]);
  return table.toString();
}

function times({ times: all }: Tally): string {
  const line = ([what, ms]: [string, number[]]): string => {
    const [half, most] = [quantile(ms, 0.5), quantile(ms, 0.99)];
    return `${what}: ${ms.length} times, median ${half} ms, p99 ${most} ms, longest ${Math.max(...ms)} ms`;
  };
  return [...all].map(line).join('\n');
}

const PLAIN = { head: [], border: [] };
