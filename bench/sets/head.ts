import { ratio } from '../frame/numbers.ts';
import { type Contender, interleaved } from '../frame/repeat.ts';
import type { BenchSet, Bound, Row, Series } from '../frame/set.ts';
import { sweptMirror, syncPosts, type Upstream, upstreamOf } from '../frame/upstream.ts';

const SIZES = [1_000, 100_000, 1_000_000];
/** A head pass that read the list would cost a thousand times as much; a quarter is what start-up varies by. */
const FLAT_TIME: Bound = { is: 'at most', value: 1.25, unit: 'x' };
const FLAT_REQUESTS: Bound = { is: 'at most', value: 1, unit: 'x' };

interface Passes extends Contender {
  posts: number;
  requests: number[];
}

export const headSet: BenchSet = {
  name: 'head',
  about: 'A head pass over a list in which nothing is new: it must not matter how long the list is.',
  sizes: '1,000, 100,000 and 1,000,000 posts, all in the mirror',
  async run(bench) {
    const passes: Passes[] = [];
    for (const size of SIZES) {
      const upstream = await upstreamOf(bench, bench.scale(size));
      passes.push(headPass(upstream, await sweptMirror(bench, upstream)));
    }
    const times = await interleaved(bench, passes);
    const requests = passes.map((pass) => pass.requests.slice(-bench.repeat));
    return [
      ...rows('requests of', passes, 'requests', requests, FLAT_REQUESTS),
      ...rows('time of', passes, 'ms', times, FLAT_TIME),
    ];
  },
};

function headPass(upstream: Upstream, folder: string): Passes {
  const { posts } = upstream;
  const requests: number[] = [];
  return {
    name: `head of ${posts.toLocaleString('en')}`,
    posts,
    requests,
    async run() {
      const before = (await upstream.seen()).requests;
      const { seconds } = await syncPosts(upstream, folder, ['--head']);
      requests.push((await upstream.seen()).requests - before);
      return seconds * 1000;
    },
  };
}

/** Each size beside the smallest. */
function rows(what: string, passes: Passes[], unit: Series['unit'], values: number[][], bound: Bound): Row[] {
  const series = passes.map(({ posts }, place): Series => {
    const name = `${posts.toLocaleString('en')} posts`;
    return { name, command: 'feedback-mirror sync posts --head', unit, values: values[place] ?? [] };
  });
  const [smallest, ...larger] = series;
  if (!smallest) return [];
  return larger.map((ours) => ({
    row: `${what} a head pass, ${ours.name}`,
    ours,
    peer: smallest,
    figure: ratio(ours, smallest),
    bound,
  }));
}
