import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

/**
 * Runs tests: `run.ts [--unit] [--name PATTERN] [file, folder or glob …]`. Files named `*.e2e.test.ts` start servers, browsers or
 * processes, and each has a process of its own. The others are units and share one, or two where nothing else runs: with one for each
 * file the tier took twice the processor time.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { unit: { type: 'boolean', default: false }, name: { type: 'string', multiple: true } },
});

/** More than the two cores that it is made for: tests of servers and processes wait as much as they compute. */
const AT_ONCE = 3;

const CHECKOUT = join(import.meta.dirname, '../..');

function filesOf(asked: readonly string[]): string[] {
  const globs = asked.map((path) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, '**/*.test.ts') : path,
  );
  const files = globSync(globs.length > 0 ? globs : join(CHECKOUT, 'test/**/*.test.ts')).sort();
  if (files.length === 0) throw new Error(`no test file: ${asked.join(' ')}`);
  return files;
}

function isE2e(file: string): boolean {
  return file.endsWith('.e2e.test.ts');
}

// Otherwise each file strips the types of everything it imports anew.
process.env.NODE_COMPILE_CACHE ??= join(CHECKOUT, 'node_modules/.cache/tests');

/** Runs some units in one process and the others in theirs, and tells of them on stdout. */
function start(units: string[], e2e: string[]): void {
  if (units.length + e2e.length === 0) return;
  const shared = units.length > 0 ? [join(import.meta.dirname, 'units.ts')] : [];
  const names = values.name ? { testNamePatterns: values.name } : {};
  const events = run({ files: [...shared, ...e2e], argv: units, concurrency: AT_ONCE, ...names });
  events.on('test:fail', () => {
    process.exitCode = 1;
  });
  events.compose(spec).pipe(process.stdout);
}

const files = filesOf(positionals);
const units = files.filter((file) => !isE2e(file));
if (!values.unit) start(units, files.filter(isE2e));
// Nothing runs beside them: a process for each of two cores.
else
  for (const half of [0, 1])
    start(
      units.filter((_, n) => n % 2 === half),
      [],
    );
