import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/base/errors.ts';
import { guardOver, remove } from '../../test/support/launch.ts';
import { type Circumstances, circumstances } from './machine.ts';
import { repetitions, verdict } from './numbers.ts';
import { ENOUGH, type Request } from './request.ts';
import { section, withSections } from './results.ts';
import type { Bench, BenchSet, Row } from './set.ts';
import { tableText } from './table.ts';
import { closeUpstreams } from './upstream.ts';

/** Where a run tells what it does and what came of it. */
export interface Outlet {
  print(text: string): void;
  say(line: string): void;
  /** The file of results, and the names of all sets in its order. */
  results: string;
  order: readonly string[];
}

interface Outcome {
  set: BenchSet;
  rows: Row[];
  /** Why there are no rows. */
  failure: string | null;
}

/** Measures, prints, keeps; true when every figure is within its bound. */
export async function runBench(request: Request, outlet: Outlet, now: Date): Promise<boolean> {
  const where = circumstances(now);
  const why = notKept(request);
  if (why) outlet.say(`${why}: bench/RESULTS.md stays as it is.`);
  const outcomes = await inFolder(async (folder) => {
    const bench = benchFor(request, folder, outlet);
    try {
      return await runSets(request, bench, outlet, why ? null : where);
    } finally {
      await closeUpstreams(bench);
    }
  });
  outlet.print(report(request, outcomes, where));
  return outcomes.every(({ rows, failure }) => failure === null && rows.every((row) => !isShort(row)));
}

function notKept({ scale, repeat }: Request): string | null {
  if (scale !== 1) return `Sizes are multiplied by ${scale}, the bounds are meant for the full ones`;
  return repeat < ENOUGH ? `Fewer than ${ENOUGH} repetitions` : null;
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'fm-bench-'));
  const guard = guardOver(folder);
  try {
    return await use(folder);
  } finally {
    guard.release();
    await remove(folder);
  }
}

function benchFor({ repeat, scale }: Request, folder: string, { say }: Outlet): Bench {
  const indented = (line: string): void => say(`  ${line}`);
  return { repeat, folder, say: indented, scale: (size) => Math.max(1, Math.round(size * scale)) };
}

/** A set that fails is told and does not stop the others; what was measured is kept at once, not at the end of an hour. */
async function runSets(
  { sets, repeat }: Request,
  bench: Bench,
  outlet: Outlet,
  where: Circumstances | null,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const set of sets) {
    outlet.say(`${set.name}: ${set.about}`);
    try {
      const rows = await set.run(bench);
      outcomes.push({ set, rows, failure: null });
      if (where) keep(outlet, set.name, section(set, rows, repeat, where));
    } catch (error) {
      outlet.say(`${set.name} failed: ${messageOf(error)}`);
      outcomes.push({ set, rows: [], failure: messageOf(error) });
    }
  }
  return outcomes;
}

function keep({ results, order }: Outlet, name: string, text: string): void {
  const before = existsSync(results) ? readFileSync(results, 'utf8') : '';
  writeFileSync(results, withSections(before, new Map([[name, text]]), order));
}

function isShort({ figure, bound }: Row): boolean {
  return verdict(figure, bound) === 'short';
}

function report(request: Request, outcomes: Outcome[], where: Circumstances): string {
  const measured = outcomes.map(({ set, rows }) => ({ name: set.name, rows }));
  const rows = measured.flatMap((one) => one.rows);
  return [
    tableText(measured),
    '',
    ...rows.flatMap(({ row, note }) => (note ? [`${row}: ${note}`] : [])),
    '',
    `${where.date}, commit ${where.commit}, ${repetitions(request.repeat)}, sizes times ${request.scale}`,
    where.machine,
    where.versions,
    '',
    ...summary(rows, outcomes),
  ].join('\n');
}

function summary(rows: Row[], outcomes: Outcome[]): string[] {
  const short = rows.filter(isShort).map(({ row }) => row);
  const absent = rows.flatMap(({ row, ours, peer }) =>
    [ours, peer].filter((series) => series?.values.length === 0).map((series) => ({ row, series })),
  );
  const bounded = rows.filter(({ figure, bound }) => bound && !Number.isNaN(figure)).length;
  return [
    `${bounded - short.length} of ${bounded} figures are within their bounds.`,
    ...short.map((row) => `Short: ${row}`),
    ...absent.map(({ row, series }) => `Not measured: ${row} (${series?.command})`),
    ...outcomes.flatMap(({ set, failure }) =>
      failure ? [`Failed: ${set.name}: ${failure.split('\n')[0]}`] : [],
    ),
  ];
}
