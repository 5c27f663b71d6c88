import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../frame/numbers.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { syncPosts, type Upstream, upstreamOf } from '../frame/upstream.ts';

const SIZES = [10_000, 100_000, 1_000_000] as const;
const COMMAND = 'feedback-mirror sync posts';

/** What one mirror of a size needs. */
interface Need {
  /** Processor time: what else the machine does at the time hardly changes it. */
  firstSeconds: number;
  againSeconds: number;
  peakMb: number;
  diskMb: number;
}

const PARTS: readonly { name: string; unit: Series['unit']; of: keyof Need }[] = [
  { name: 'processor time of a first sweep', unit: 's', of: 'firstSeconds' },
  { name: 'processor time of an unchanged sweep', unit: 's', of: 'againSeconds' },
  { name: 'most memory of a sweep', unit: 'MB', of: 'peakMb' },
  { name: 'data folder after both', unit: 'MB', of: 'diskMb' },
];

/** The figures of "Sizing" in docs/operations.md. */
export const sizingSet: BenchSet = {
  name: 'sizing',
  about: 'What a mirror needs by the number of its posts: processor time of a sweep, memory, disk.',
  sizes: '10,000, 100,000 and 1,000,000 posts, 100 rows a page',
  async run(bench) {
    const rows: Row[] = [];
    for (const size of SIZES) rows.push(...(await rowsOf(bench, bench.scale(size))));
    return rows;
  },
};

async function rowsOf(bench: Bench, posts: number): Promise<Row[]> {
  const upstream = await upstreamOf(bench, posts);
  const needs: Need[] = [];
  for (let round = 1; round <= bench.repeat; round++) needs.push(await needOf(bench, upstream));
  bench.say(`${posts.toLocaleString('en')} posts: ${JSON.stringify(needs)}`);
  return PARTS.map(({ name, unit, of }): Row => {
    const values = needs.map((need) => need[of]);
    const size = `${posts.toLocaleString('en')} posts`;
    const ours: Series = { name: size, command: COMMAND, unit, values };
    return { row: `${name}, ${size}`, ours, peer: null, figure: median(values), bound: null };
  });
}

async function needOf(bench: Bench, upstream: Upstream): Promise<Need> {
  const folder = mkdtempSync(join(bench.folder, 'sizing-'));
  try {
    const first = await syncPosts(upstream, folder);
    const again = await syncPosts(upstream, folder);
    return {
      firstSeconds: first.cpuSeconds,
      againSeconds: again.cpuSeconds,
      peakMb: Math.max(first.peakMb, again.peakMb),
      diskMb: bytesIn(folder) / 1e6,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}
