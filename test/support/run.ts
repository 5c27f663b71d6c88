import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

/**
 * Runs tests: `run.ts [--unit | --long] [--name PATTERN] [file, folder or glob …]`. The name of a file says its tier:
 * `*.e2e.test.ts` starts servers, browsers or processes, or simulates for seconds; so does `*.long.test.ts`, which runs with `--long`
 * or by its name. The others are units.
 *
 * Files share a process, because loading the program takes longer than most of them: the units two processes, and a few end-to-end files
 * of a folder one. With a process for each file the units took twice the processor time, and the tests of HTTP three times.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    unit: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    name: { type: 'string', multiple: true },
  },
});

/**
 * More than the two cores that it is made for: tests of servers and processes wait as much as they compute. With five a fifth was idle.
 * The files of the long tier compute more.
 */
const AT_ONCE = values.long ? 3 : 6;

/** A test that hangs fails after this time, and its process ends even if one that it left keeps running. */
const LONGEST_MS = values.long ? 900_000 : 300_000;

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

/** What each process took when it last ran here, in milliseconds. */
const TIMES = join(CHECKOUT, 'node_modules/.cache/tests/times.json');

const UNKNOWN_MS = 20_000;

function knownTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(TIMES, 'utf8'));
  } catch {
    return {};
  }
}

/** The longest first, so that none of them is left to run alone at the end; one that never ran may be one of them. */
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
  const lines = slowest
    .slice(0, SLOWEST)
    .map(([file, ms]) => `  ${(ms / 1000).toFixed(1)} s ${basename(file)}`);
  process.stdout.write(`slowest of ${slowest.length} processes:\n${lines.join('\n')}\n`);
  mkdirSync(dirname(TIMES), { recursive: true });
  writeFileSync(TIMES, `${JSON.stringify({ ...knownTimes(), ...times })}\n`);
}

/** Where the files are that hold the files of one process. */
const GROUPS = join(CHECKOUT, 'node_modules/.cache/tests/groups');

/** A file that runs others in its process. */
function groupOf(name: string, files: readonly string[]): string {
  const path = join(GROUPS, `${name}.mjs`);
  const loader = join(import.meta.dirname, 'load.ts');
  writeFileSync(
    path,
    `import { load } from ${JSON.stringify(loader)};\nload(${JSON.stringify(name)}, ${JSON.stringify(files)});\n`,
  );
  return path;
}

/** Two for all units, one for each core. */
function unitGroups(files: readonly string[]): string[] {
  return [0, 1].flatMap((half) => {
    const some = files.filter((_, n) => n % 2 === half);
    return some.length > 0 ? [groupOf(`units-${half + 1}`, some)] : [];
  });
}

/** So many end-to-end files share a process: a whole folder would take too long one after the other. */
const SHARED = 4;

function e2eGroups(files: readonly string[]): string[] {
  const folders = Object.entries(Object.groupBy(files, (file) => dirname(nameOf(file))));
  return folders.flatMap(([folder, all = []]) =>
    Array.from({ length: Math.ceil(all.length / SHARED) }, (_, n) =>
      groupOf(`${folder.replaceAll('/', '-')}-${n + 1}`, all.slice(n * SHARED, (n + 1) * SHARED)),
    ),
  );
}

function start(groups: readonly string[]): void {
  const names = values.name ? { testNamePatterns: values.name } : {};
  const ends = { timeout: LONGEST_MS, forceExit: true };
  const events = run({ files: longestFirst(groups), concurrency: AT_ONCE, ...ends, ...names });
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

mkdirSync(GROUPS, { recursive: true });
const files = filesOf(positionals).map((file) => resolve(file));
const named = positionals.map((path) => resolve(path));
if (values.long) start(files.filter(isLong));
else {
  const units = unitGroups(files.filter((file) => !isE2e(file) && !isLong(file)));
  const others = [
    ...e2eGroups(files.filter(isE2e)),
    ...files.filter((file) => isLong(file) && named.includes(file)),
  ];
  start(values.unit ? units : [...units, ...others]);
}
