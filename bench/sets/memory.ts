import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../frame/numbers.ts';
import { type Contender, interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { sweptMirror, syncPosts, type Upstream, upstreamOf } from '../frame/upstream.ts';

const SIZES = [100_000, 1_000_000];
const MORE_MB = 60;

export const memorySet: BenchSet = {
  name: 'memory',
  about: 'The most memory a sweep ever holds: ten times the posts must not take it much further.',
  sizes: '100,000 and 1,000,000 posts in pages of 100',
  async run(bench) {
    const upstreams: Upstream[] = [];
    for (const size of SIZES) upstreams.push(await upstreamOf(bench, bench.scale(size)));
    const first = upstreams.map((upstream) => firstSweep(bench, upstream));
    const again: Contender[] = [];
    for (const upstream of upstreams) again.push(secondSweep(upstream, await sweptMirror(bench, upstream)));
    return [
      row('a first sweep', upstreams, await interleaved(bench, first, { warmUp: false })),
      row('an unchanged sweep', upstreams, await interleaved(bench, again, { warmUp: false })),
    ];
  },
};

function firstSweep(bench: Bench, upstream: Upstream): Contender {
  return {
    name: `first sweep of ${upstream.posts.toLocaleString('en')}`,
    async run() {
      const folder = join(bench.folder, 'memory');
      const { peakMb } = await syncPosts(upstream, folder);
      rmSync(folder, { recursive: true });
      return peakMb;
    },
  };
}

function secondSweep(upstream: Upstream, folder: string): Contender {
  const run = async () => (await syncPosts(upstream, folder)).peakMb;
  return { name: `unchanged sweep of ${upstream.posts.toLocaleString('en')}`, run };
}

/** Here the figure is a difference: how much more the larger list takes. */
function row(what: string, upstreams: Upstream[], values: number[][]): Row {
  const [small, large] = upstreams.map(({ posts }, place): Series => {
    const name = `${posts.toLocaleString('en')} posts`;
    return { name, command: 'feedback-mirror sync posts', unit: 'MB', values: values[place] ?? [] };
  });
  if (!small || !large) throw new Error('memory compares two sizes');
  return {
    row: `memory of ${what}, ${large.name}`,
    ours: large,
    peer: small,
    figure: median(large.values) - median(small.values),
    bound: { is: 'at most', value: MORE_MB, unit: 'MB' },
    note: 'The high-water mark of resident memory; the figure is how much more it is. No warm-up.',
  };
}
