import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runBench } from '../../bench/frame/run.ts';
import type { Bench, BenchSet, Row } from '../../bench/frame/set.ts';
import { folderFor } from '../support/folder.ts';

const NOW = new Date('2026-11-15T12:00:00Z');

function setOf(name: string, run: (bench: Bench) => Row[]): BenchSet {
  return { name, about: `About ${name}.`, sizes: '10 posts', run: async (bench) => run(bench) };
}

function row(figure: number): Row {
  const ours = { name: 'sync', command: 'sync', unit: 's' as const, values: [figure] };
  return { row: `took ${figure}`, ours, peer: null, figure, bound: { is: 'at most', value: 5, unit: 's' } };
}

function outletIn(t: TestContext, sets: BenchSet[]) {
  const folder = folderFor(t, 'bench-run');
  const printed: string[] = [];
  const said: string[] = [];
  const results = join(folder, 'RESULTS.md');
  const order = sets.map(({ name }) => name);
  const outlet = {
    print: (text: string) => void printed.push(text),
    say: (line: string) => void said.push(line),
    results,
    order,
  };
  return { outlet, printed: () => printed.join('\n'), said: () => said.join('\n'), results };
}

const good = setOf('good', () => [row(4)]);
const late = setOf('late', () => [row(4), row(6)]);
const broken = setOf('broken', () => {
  throw new Error('no server\nand the rest of its words');
});

test('a run within its bounds succeeds and keeps what it measured', async (t) => {
  const { outlet, printed, results } = outletIn(t, [good]);
  assert.equal(await runBench({ sets: [good], repeat: 5, scale: 1 }, outlet, NOW), true);
  assert.match(printed(), /good +took 4 +4 s .* at most 5 s +ok/);
  assert.match(printed(), /1 of 1 figures are within their bounds/);
  assert.match(
    readFileSync(results, 'utf8'),
    /## good\n\nAbout good\.\n\n- 2026-11-15, commit .*`npm run bench -- good`/,
  );
});

test('one figure short of its bound fails the run after everything is told', async (t) => {
  const { outlet, printed, results } = outletIn(t, [late, good]);
  assert.equal(await runBench({ sets: [late, good], repeat: 5, scale: 1 }, outlet, NOW), false);
  assert.match(printed(), /took 6 .* short/);
  assert.match(printed(), /2 of 3 figures are within their bounds\.\nShort: took 6$/);
  assert.match(readFileSync(results, 'utf8'), /## late.*\| short \|.*## good/s);
});

test('a set that fails is told, fails the run, and does not keep the others from being measured', async (t) => {
  const { outlet, printed, results } = outletIn(t, [broken, good]);
  assert.equal(await runBench({ sets: [broken, good], repeat: 5, scale: 1 }, outlet, NOW), false);
  assert.match(printed(), /Failed: broken: no server$/);
  assert.doesNotMatch(readFileSync(results, 'utf8'), /## broken/);
  assert.match(readFileSync(results, 'utf8'), /## good/);
});

test('a run with other sizes or too few repetitions says so and keeps nothing', async (t) => {
  for (const [request, reason] of [
    [{ repeat: 5, scale: 0.5 }, /multiplied by 0\.5/],
    [{ repeat: 4, scale: 1 }, /Fewer than 5 repetitions/],
  ] as const) {
    const { outlet, said, results } = outletIn(t, [good]);
    assert.equal(await runBench({ sets: [good], ...request }, outlet, NOW), true);
    assert.match(said(), reason);
    assert.equal(existsSync(results), false);
  }
});

test('sizes are scaled, never to nothing, and the folder of a run is gone after it', async (t) => {
  const seen: { sizes: number[]; folder: string }[] = [];
  const set = setOf('seen', ({ scale, folder }) => {
    assert.ok(existsSync(folder));
    seen.push({ sizes: [scale(1000), scale(10)], folder });
    return [];
  });
  await runBench({ sets: [set], repeat: 1, scale: 0.01 }, outletIn(t, [set]).outlet, NOW);
  assert.deepEqual(seen[0]?.sizes, [10, 1]);
  assert.equal(existsSync(seen[0]?.folder ?? '/'), false);
});
