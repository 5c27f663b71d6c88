import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

/**
 * Runs tests: `run.ts [--unit | --long] [--name PATTERN] [file, folder or glob …]`. The name of a file says its tier:
 * `*.e2e.test.ts` starts servers, browsers or processes, or simulates for seconds, and each has a process of its own; so has
 * `*.long.test.ts`, which runs with `--long` or by its name. The others are units and share one process, or two where nothing
 * else runs: with one for each file the tier took twice the processor time.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    unit: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    name: { type: 'string', multiple: true },
  },
});

/** More than the two cores that it is made for: tests of servers and processes wait as much as they compute. With five a fifth was idle. */
const AT_ONCE = 6;

/** A test that hangs fails after this time, and its file ends even if a process that it left keeps running. */
const LONGEST_MS = 300_000;

const CHECKOUT = join(import.meta.dirname, '../..');

function filesOf(asked: readonly string[]): string[] {
  const globs = asked.map((path) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, '**/*.test.ts') : path,
  );
  const all = ['test', 'packages/*/test'].map((folder) => join(CHECKOUT, folder, '**/*.test.ts'));
  const files = globSync(globs.length > 0 ? globs : all).sort();
  if (files.length === 0) throw new Error(`no test file: ${asked.join(' ')}`);
  return files;
}

const isE2e = (file: string): boolean => file.endsWith('.e2e.test.ts');
const isLong = (file: string): boolean => file.endsWith('.long.test.ts');

// Otherwise each file strips the types of everything it imports anew.
process.env.NODE_COMPILE_CACHE ??= join(CHECKOUT, 'node_modules/.cache/tests');

/** What each file took when it last ran here, in milliseconds. */
const TIMES = join(CHECKOUT, 'node_modules/.cache/tests/times.json');

const UNKNOWN_MS = 20_000;

function knownTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(TIMES, 'utf8'));
  } catch {
    return {};
  }
}

/** The longest first, so that none of them is left to run alone at the end; a file that never ran may be one of them. */
function longestFirst(paths: readonly string[]): string[] {
  const known = knownTimes();
  const took = (path: string): number => known[nameOf(path)] ?? UNKNOWN_MS;
  return paths.toSorted((a, b) => took(b) - took(a));
}

function nameOf(path: string): string {
  return relative(CHECKOUT, resolve(path));
}

const SLOWEST = 10;

function tellTimes(times: Record<string, number>): void {
  const slowest = Object.entries(times).sort(([, a], [, b]) => b - a);
  const lines = slowest.slice(0, SLOWEST).map(([file, ms]) => `  ${(ms / 1000).toFixed(1)} s ${file}`);
  process.stdout.write(`slowest of ${slowest.length} files:\n${lines.join('\n')}\n`);
  mkdirSync(dirname(TIMES), { recursive: true });
  writeFileSync(TIMES, `${JSON.stringify({ ...knownTimes(), ...times })}\n`);
}

/** Runs some units in one process and the others in theirs, and tells of them on stdout. */
function start(units: string[], e2e: string[]): void {
  if (units.length + e2e.length === 0) return;
  const shared = units.length > 0 ? [join(import.meta.dirname, 'units.ts')] : [];
  const names = values.name ? { testNamePatterns: values.name } : {};
  const ends = { timeout: LONGEST_MS, forceExit: true };
  const events = run({ files: [...shared, ...e2e], argv: units, concurrency: AT_ONCE, ...ends, ...names });
  events.on('test:fail', () => {
    process.exitCode = 1;
  });
  const times: Record<string, number> = {};
  events.on('test:summary', ({ file, duration_ms: ms }) => {
    if (file) times[nameOf(file)] = Math.round(ms);
  });
  const told = events.compose(spec);
  told.pipe(process.stdout);
  told.once('end', () => tellTimes(times));
}

const files = filesOf(positionals);
const units = files.filter((file) => !isE2e(file) && !isLong(file));
if (values.long) start([], longestFirst(files.filter(isLong)));
else if (!values.unit)
  start(
    units,
    longestFirst(files.filter((file) => isE2e(file) || (isLong(file) && positionals.includes(file)))),
  );
// Nothing runs beside them: a process for each of two cores.
else
  for (const half of [0, 1])
    start(
      units.filter((_, n) => n % 2 === half),
      [],
    );
