import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, ratio, rounded, spread, verdict } from '../../bench/frame/numbers.ts';
import { interleaved } from '../../bench/frame/repeat.ts';
import { readRequest } from '../../bench/frame/request.ts';
import type { BenchSet } from '../../bench/frame/set.ts';

test('the median is the middle one, or halfway between the two in the middle', () => {
  assert.equal(median([10, 2, 300]), 10);
  assert.equal(median([10, 2, 300, 20]), 15);
  assert.equal(median([7]), 7);
  assert.ok(Number.isNaN(median([])));
});

test('median and spread leave the measurements in their order', () => {
  const values = [3, 1, 2];
  assert.deepEqual([median(values), spread(values)], [2, [1, 3]]);
  assert.deepEqual(values, [3, 1, 2]);
});

test('a ratio is that of the medians, so one bad repetition does not move it', () => {
  assert.equal(ratio({ values: [10, 12, 900] }, { values: [6, 6, 1] }), 2);
});

test('a figure is judged as it was measured, not as it is shown', () => {
  const bound = { is: 'at least', value: 0.6, unit: '' } as const;
  assert.equal(rounded(0.59999), '0.6');
  assert.equal(verdict(0.59999, bound), 'short');
  assert.equal(verdict(0.6, bound), 'ok');
  assert.equal(verdict(0.6, { ...bound, is: 'at most' }), 'ok');
  assert.equal(verdict(0.61, { ...bound, is: 'at most' }), 'short');
  assert.equal(verdict(0.1, null), 'no bound');
});

test('what could not be measured is neither ok nor short', () => {
  assert.equal(
    verdict(ratio({ values: [1] }, { values: [] }), { is: 'at least', value: 1, unit: 'x' }),
    'not measured',
  );
});

test('contenders warm up once and then take turns', async () => {
  const order: string[] = [];
  const contender = (name: string) => ({ name, run: async () => order.push(name) });
  const bench = { repeat: 2, say: () => undefined };
  const values = await interleaved(bench, [contender('a'), contender('b')]);
  assert.deepEqual(order, ['a', 'b', 'a', 'b', 'a', 'b']);
  assert.deepEqual(values, [
    [3, 5],
    [4, 6],
  ]);
});

test('without a warm-up every turn counts', async () => {
  let turns = 0;
  const bench = { repeat: 3, say: () => undefined };
  const values = await interleaved(bench, [{ name: 'a', run: async () => ++turns }], { warmUp: false });
  assert.deepEqual(values, [[1, 2, 3]]);
});

const KNOWN = ['first', 'second'].map(
  (name): BenchSet => ({ name, about: `about ${name}`, sizes: '', run: async () => [] }),
);

test('a request names sets, in the order of the list, or means all of them', () => {
  const names = (args: string[]) => {
    const request = readRequest(args, KNOWN);
    return 'sets' in request ? request.sets.map(({ name }) => name) : request;
  };
  assert.deepEqual(names([]), ['first', 'second']);
  assert.deepEqual(names(['second', 'first']), ['first', 'second']);
  assert.deepEqual(names(['second']), ['second']);
});

test('a wrong request is refused with the reason and the names there are', () => {
  for (const [args, reason] of [
    [['third'], /no set "third"/],
    [['--repeat', '0'], /--repeat needs a number above 0, not "0"/],
    [['--repeat', '1.5'], /--repeat/],
    [['--scale', 'half'], /--scale needs a number above 0, not "half"/],
    [['--fast'], /--fast/],
  ] as const) {
    const instead = readRequest([...args], KNOWN);
    assert.ok('text' in instead && !instead.ok);
    assert.match(instead.text, reason);
    assert.match(instead.text, /second +about second/);
  }
});
