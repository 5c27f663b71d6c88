import { join } from 'node:path';
import { measured } from '../frame/child.ts';
import { type Floor, peopleFloor, postsFloor } from '../frame/floors.ts';
import { ratio } from '../frame/numbers.ts';
import { type Contender, interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { sweptMirror, syncPosts, type Upstream, upstreamOf } from '../frame/upstream.ts';

const POSTS = 100_000;
const FLOORS: readonly Floor[] = [postsFloor, peopleFloor];

export const unchangedSet: BenchSet = {
  name: 'unchanged',
  about:
    'A sweep of a list that is in the mirror already, beside the floor script run again on its own table.',
  sizes: '100,000 posts in pages of 100, no latency',
  async run(bench) {
    const upstream = await upstreamOf(bench, bench.scale(POSTS));
    const folder = await sweptMirror(bench, upstream);
    const sync = {
      name: 'sync',
      run: async () => upstream.posts / (await syncPosts(upstream, folder)).seconds,
    };
    const [again = [], ...others] = await interleaved(bench, [
      sync,
      ...FLOORS.map((floor) => secondRun(bench, upstream, floor)),
    ]);
    const ours: Series = {
      name: 'sync',
      command: 'feedback-mirror sync posts',
      unit: 'rows/s',
      values: again,
    };
    return FLOORS.map((floor, place) => row(ours, floor, others[place] ?? []));
  },
};

/** The warm-up fills its table, so that every run that counts finds all rows there. */
function secondRun(bench: Bench, upstream: Upstream, floor: Floor): Contender {
  const file = join(bench.folder, `unchanged-${FLOORS.indexOf(floor)}.db`);
  const run = async () => upstream.posts / (await measured(floor.program(upstream, file))).seconds;
  return { name: floor.name, run };
}

function row(ours: Series, floor: Floor, values: number[]): Row {
  const peer: Series = { name: floor.name, command: floor.command, unit: 'rows/s', values };
  const isBound = floor === postsFloor;
  return {
    row: `unchanged sweep beside ${floor.name}`,
    ours,
    peer,
    figure: ratio(ours, peer),
    bound: isBound ? { is: 'at least', value: 1, unit: '' } : null,
  };
}
