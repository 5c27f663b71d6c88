import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

/**
 * Runs tests: `run.ts [--unit] [--name PATTERN] [file, folder or glob …]`. Files named `*.e2e.test.ts` start servers, browsers or
 * processes, and each has a process of its own. The others are units and share one: that halves the processor time of the tier.
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
const files = filesOf(positionals);
const [units, e2e] = [files.filter((file) => !isE2e(file)), values.unit ? [] : files.filter(isE2e)];
const events = run({
  files: [...(units.length > 0 ? [join(import.meta.dirname, 'units.ts')] : []), ...e2e],
  argv: units,
  concurrency: AT_ONCE,
  ...(values.name ? { testNamePatterns: values.name } : {}),
});
events.on('test:fail', () => {
  process.exitCode = 1;
});
events.compose(spec).pipe(process.stdout);
