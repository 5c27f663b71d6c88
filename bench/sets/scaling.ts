import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../frame/numbers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { syncPosts, upstreamOf } from '../frame/upstream.ts';
import { largeMirror } from '../large-mirror.ts';
import { exportRate } from './export.ts';
import { reportSeconds } from './scaling/reports.ts';
import { drawTexts } from './search/texts.ts';
import { searcher } from './search.ts';

const SIZES = [10_000, 100_000, 1_000_000] as const;
const SEARCHES = 50;

/** Something that is done with more and more posts. */
interface Work {
  name: string;
  command: string;
  unit: 'rows/s' | 'ms' | 's';
  note?: string;
  once(bench: Bench, posts: number): Promise<number>;
}

const WORKS: readonly Work[] = [
  { name: 'first sweep', command: 'feedback-mirror sync posts', unit: 'rows/s', once: sweepRate },
  {
    name: 'search, one middling word',
    command: "openSearchReads(mirror).find('word')",
    unit: 'ms',
    note: `The median of ${SEARCHES} searches, in this process.`,
    once: searchMs,
  },
  {
    name: 'reports',
    command: 'runReport(mirror, name), one after the other',
    unit: 's',
    note: 'All that need neither a post nor a file of customers, together, in this process.',
    once: async (bench, posts) => reportSeconds(await largeMirror(bench, posts)),
  },
  {
    name: 'export csv',
    command: 'feedback-mirror export posts --out posts.csv',
    unit: 'rows/s',
    once: async (bench, posts) => exportRate(bench, await largeMirror(bench, posts), 'csv'),
  },
];

/** What a post costs when there are more of them. */
export const scalingSet: BenchSet = {
  name: 'scaling',
  about: 'What one post costs when there are more of them, as a ratio to what it costs among the fewest.',
  sizes: '10,000, 100,000 and 1,000,000 posts',
  async run(bench) {
    const rows: Row[] = [];
    for (const work of WORKS) rows.push(...(await rowsOf(bench, work)));
    return rows;
  },
};

async function rowsOf(bench: Bench, work: Work): Promise<Row[]> {
  const sizes = SIZES.map(bench.scale);
  const values = await interleaved(
    bench,
    sizes.map((posts) => ({
      name: `${work.name} of ${posts.toLocaleString('en')}`,
      run: () => work.once(bench, posts),
    })),
  );
  const taken = sizes.map((posts, place): Taken => ({ posts, values: values[place] ?? [] }));
  return taken.map((each) => rowOf(work, each, taken[0] ?? each));
}

interface Taken {
  posts: number;
  values: number[];
}

function rowOf(work: Work, taken: Taken, base: Taken): Row {
  const { name, note } = work;
  return {
    row: `${name}, ${taken.posts.toLocaleString('en')} posts`,
    ours: seriesOf(work, taken),
    peer: seriesOf(work, base),
    figure: costOfRow(work, taken) / costOfRow(work, base),
    bound: null,
    ...(note && taken === base ? { note } : {}),
  };
}

function seriesOf({ command, unit }: Work, { posts, values }: Taken): Series {
  return { name: `${posts.toLocaleString('en')} posts`, command, unit, values };
}

function costOfRow({ unit }: Work, { posts, values }: Taken): number {
  return unit === 'rows/s' ? 1 / median(values) : median(values) / posts;
}

async function sweepRate(bench: Bench, posts: number): Promise<number> {
  const upstream = await upstreamOf(bench, posts);
  const folder = mkdtempSync(join(bench.folder, 'scaling-'));
  try {
    const { seconds } = await syncPosts(upstream, folder);
    return posts / seconds;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function searchMs(bench: Bench, posts: number): Promise<number> {
  const mirror = await largeMirror(bench, posts);
  const search = searcher(mirror);
  try {
    return median(await search.times(drawTexts(mirror.path).middling.slice(0, SEARCHES)));
  } finally {
    await search.close();
  }
}
