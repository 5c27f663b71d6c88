import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { measured } from '../frame/child.ts';
import {
  type Floor,
  peopleFloor,
  postsFloor,
  pythonFloor,
  pythonPagesFloor,
  removeDatabase,
  shellFloor,
} from '../frame/floors.ts';
import { ratio } from '../frame/numbers.ts';
import { missingPeer } from '../frame/peers.ts';
import { type Contender, interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Bound, Row, Series } from '../frame/set.ts';
import { syncPosts, type Upstream, upstreamOf } from '../frame/upstream.ts';

const POSTS = 100_000;
/** The shell script starts four programs a page, the Python one commits every row: on the whole list each would take minutes. */
const SLOW_SHARE = 10;

interface Rival {
  floor: Floor;
  upstream: Upstream;
  bound: Bound | null;
  note?: string;
}

export const sweepSet: BenchSet = {
  name: 'sweep',
  about:
    'The first sweep of a list of posts into an empty folder, beside the scripts one would write for it.',
  sizes: '100,000 posts in pages of 100, no latency; the slow scripts a tenth of them',
  async run(bench) {
    const upstream = await upstreamOf(bench, bench.scale(POSTS));
    const rivals = await rivalsOf(bench, upstream);
    const able = rivals.filter(({ floor }) => floor.lacks === '');
    const [first = [], ...others] = await interleaved(bench, [
      ours(bench, upstream),
      ...able.map((rival) => firstRun(bench, rival)),
    ]);
    const own: Series = {
      name: 'sync',
      command: 'feedback-mirror sync posts',
      unit: 'rows/s',
      values: first,
    };
    return rivals.map((rival) => row(own, rival, others[able.indexOf(rival)]));
  },
};

async function rivalsOf(bench: Bench, upstream: Upstream): Promise<Rival[]> {
  const part = await upstreamOf(bench, bench.scale(POSTS / SLOW_SHARE));
  return [
    { floor: postsFloor, upstream, bound: { is: 'at least', value: 0.6, unit: '' }, note: LEAST },
    { floor: peopleFloor, upstream, bound: null, note: 'The same with a second table for those who wrote.' },
    { floor: shellFloor, upstream: part, bound: { is: 'at least', value: 30, unit: 'x' }, note: PART },
    { floor: pythonFloor, upstream: part, bound: { is: 'at least', value: 6, unit: 'x' }, note: PART },
    { floor: pythonPagesFloor, upstream, bound: null, note: BATCHED },
  ];
}

const LEAST =
  'The script keeps the posts and forgets who wrote them; this also writes people, boards, the search index and what a later sweep needs.';
const PART = 'The script was given a tenth of the posts; its rate is per row, and falls as its table grows.';
const BATCHED = 'The quickest way of the same library; github-to-sqlite itself saves row by row.';

function ours(bench: Bench, upstream: Upstream): Contender {
  return {
    name: 'sync',
    async run() {
      const folder = join(bench.folder, 'sweep');
      const { seconds } = await syncPosts(upstream, folder);
      rmSync(folder, { recursive: true });
      return upstream.posts / seconds;
    },
  };
}

function firstRun(bench: Bench, { floor, upstream }: Rival): Contender {
  return {
    name: floor.name,
    async run() {
      const file = join(bench.folder, 'sweep.db');
      const { seconds } = await measured(floor.program(upstream, file));
      removeDatabase(file);
      return upstream.posts / seconds;
    },
  };
}

function row(own: Series, { floor, bound, note }: Rival, values: number[] | undefined): Row {
  const peer: Series = values
    ? { name: floor.name, command: floor.command, unit: 'rows/s', values }
    : missingPeer(floor.name, floor.lacks, 'rows/s');
  const named = `first sweep beside ${floor.name}`;
  return { row: named, ours: own, peer, figure: ratio(own, peer), bound, ...(note ? { note } : {}) };
}
