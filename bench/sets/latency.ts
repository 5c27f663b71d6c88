import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ratio } from '../frame/numbers.ts';
import { type Contender, interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Bound, Row } from '../frame/set.ts';
import { syncPosts, type Upstream, upstreamOf } from '../frame/upstream.ts';

const PAGES = 200;
const PAGE_SIZE = 100;
const LATENCY_MS = 100;

interface Way {
  row: string;
  ahead: number;
  bound: Bound;
}

const WAYS: readonly Way[] = [
  { row: 'one page ahead', ahead: 1, bound: { is: 'at most', value: 1.05, unit: 'x' } },
  { row: 'four pages ahead', ahead: 4, bound: { is: 'at most', value: 1.15, unit: 'x' } },
];

export const latencySet: BenchSet = {
  name: 'latency',
  about: 'A first sweep of a service that is far away, beside the time that its answers alone take.',
  sizes: '200 pages of 100 posts, each answered after 100 ms',
  async run(bench) {
    const pages = bench.scale(PAGES);
    const upstream = await upstreamOf(bench, pages * PAGE_SIZE, LATENCY_MS);
    const series = await interleaved(
      bench,
      WAYS.map((way) => firstSweep(bench, upstream, way)),
    );
    const { requests, heldMs } = await upstream.seen();
    const upstreamMs = heldMs / requests;
    const note = `Its own start and end are in it. A timer of ${LATENCY_MS} ms held answers back for ${upstreamMs.toFixed(2)} ms each.`;
    return WAYS.map((way, place) => row(way, { pages, upstreamMs }, series[place] ?? [], note));
  },
};

function firstSweep(bench: Bench, upstream: Upstream, { row, ahead }: Way): Contender {
  return {
    name: row,
    async run() {
      const folder = join(bench.folder, 'latency');
      const { seconds } = await syncPosts(upstream, folder, ['--sync-pages-ahead', String(ahead)]);
      rmSync(folder, { recursive: true });
      return seconds;
    },
  };
}

function row(
  { row: name, ahead, bound }: Way,
  { pages, upstreamMs }: { pages: number; upstreamMs: number },
  values: number[],
  note: string,
): Row {
  const command = `feedback-mirror sync posts --sync-pages-ahead ${ahead}`;
  const ours = { name: 'sync', command, unit: 's' as const, values };
  const share = ahead === 1 ? '' : ` / ${ahead}`;
  const least = {
    name: `latency × pages${share}`,
    command: `${LATENCY_MS} ms × ${pages}${share}`,
    unit: 's' as const,
    values: [((upstreamMs / 1000) * pages) / ahead],
  };
  return { row: `far away, ${name}`, ours, peer: least, figure: ratio(ours, least), bound, note };
}
