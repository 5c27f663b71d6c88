import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingPeer } from '../../bench/frame/peers.ts';
import { section, withSections } from '../../bench/frame/results.ts';
import type { BenchSet, Row } from '../../bench/frame/set.ts';
import { tableText } from '../../bench/frame/table.ts';

const ORDER = ['sweep', 'head', 'start'];
const WHERE = { date: '2026-11-15', machine: 'a machine', versions: 'node 24', commit: 'abc1234' };
const SET: BenchSet = { name: 'head', about: 'About heads.', sizes: '10 posts', run: async () => [] };
const OURS = { name: 'sync', command: 'feedback-mirror sync', unit: 's', values: [2, 1, 3] } as const;
const ROW: Row = {
  row: 'a | b',
  ours: { ...OURS, values: [...OURS.values] },
  peer: { name: 'floor', command: 'node floor.ts', unit: 's', values: [4, 4, 5] },
  figure: 0.5,
  bound: { is: 'at most', value: 0.4, unit: 'x' },
  note: 'Mind this.',
};

function names(file: string): string[] {
  return [...file.matchAll(/^## (.*)$/gm)].map(([, name]) => name ?? '');
}

test('a run replaces its own sections, keeps the others, and sorts them as the sets are sorted', () => {
  const first = withSections(
    '',
    new Map([
      ['start', '## start\n\nold start\n'],
      ['head', '## head\n\nold head\n'],
    ]),
    ORDER,
  );
  const second = withSections(
    first,
    new Map([
      ['sweep', '## sweep\n\nnew\n'],
      ['head', '## head\n\nnew head\n'],
    ]),
    ORDER,
  );
  assert.deepEqual(names(first), ['head', 'start']);
  assert.deepEqual(names(second), ORDER);
  assert.match(second, /old start/);
  assert.match(second, /new head/);
  assert.doesNotMatch(second, /old head/);
});

test('writing the same sections again changes nothing', () => {
  const fresh = new Map([['head', section(SET, [ROW], 5, WHERE)]]);
  const once = withSections('', fresh, ORDER);
  assert.equal(withSections(once, fresh, ORDER), once);
  assert.equal(withSections(once, new Map(), ORDER), once);
});

test('the section of a set that is gone goes too', () => {
  assert.deepEqual(names(withSections('# x\n\n## gone\n\n## head\n\nstays\n', new Map(), ORDER)), ['head']);
});

test('a section tells the numbers, their spread, what ran, where and when', () => {
  const text = section(SET, [ROW], 7, WHERE);
  for (const part of [
    'About heads.',
    '2026-11-15',
    'abc1234',
    'a machine',
    'node 24',
    '10 posts',
    'Mind this.',
  ])
    assert.ok(text.includes(part), part);
  assert.match(text, /npm run bench -- head --repeat 7/);
  assert.match(
    text,
    /\| a \\\| b \| 2 s \| 1…3 \| floor \| 4 s \| 4…5 \| 0\.5 x \| at most 0\.4 x \| short \|/,
  );
  assert.match(text, /`feedback-mirror sync`; beside it `node floor\.ts`/);
});

test('a peer that is not there is told with what to install', () => {
  const peer = missingPeer('jq', 'jq', 's');
  const text = tableText([{ name: 'head', rows: [{ ...ROW, peer, figure: Number.NaN }] }]);
  assert.match(text, /not installed: apt-get install jq .* not measured$/m);
});
