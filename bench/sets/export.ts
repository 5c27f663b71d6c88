import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { feedbackMirror, measured } from '../frame/child.ts';
import { ratio } from '../frame/numbers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { type LargeMirror, largeMirror } from '../large-mirror.ts';

const POSTS = 1_000_000;
const FORMATS = ['csv', 'ndjson', 'parquet'] as const;
type Format = (typeof FORMATS)[number];

/** The posts of a large mirror as files. */
export const exportSet: BenchSet = {
  name: 'export',
  about: 'All posts as one file, whole or not at all, with its sha256, beside a loop over the same rows.',
  sizes: '1,000,000 posts of about 800 bytes',
  run,
};

async function run(bench: Bench): Promise<Row[]> {
  const mirror = await largeMirror(bench, bench.scale(POSTS));
  const values = await interleaved(bench, [
    ...FORMATS.map((format) => ({ name: `export ${format}`, run: () => exportRate(bench, mirror, format) })),
    ...FORMATS.map((format) => ({ name: `loop ${format}`, run: () => loopRate(bench, mirror, format) })),
  ]);
  const ours = FORMATS.map((format, i) => exported(format, values[i]));
  const loops = FORMATS.map((format, i) => looped(format, values[FORMATS.length + i]));
  const pairs = FORMATS.map((format, i) => rowOf(`export ${format}`, ours[i], loops[i], bench));
  const beside = rowOf('export parquet beside the csv loop', ours[2], loops[0], bench);
  return [...pairs, { ...beside, bound: null, note: UNEQUAL }];
}

function rowOf(what: string, ours: Series | undefined, peer: Series | undefined, bench: Bench): Row {
  if (!ours || !peer) throw new Error(`${what} was not measured`);
  return {
    row: `${what}, ${bench.scale(POSTS).toLocaleString('en')} posts`,
    ours,
    peer,
    figure: ratio(ours, peer),
    bound: { is: 'at least', value: 0.5, unit: '' },
  };
}

const UNEQUAL = 'That loop neither compresses nor turns rows into columns; shown for what Parquet costs.';

function exported(format: Format, values: number[] = []): Series {
  const command = `feedback-mirror export posts --out posts.${format}`;
  return { name: 'export', command, unit: 'rows/s', values };
}

function looped(format: Format, values: number[] = []): Series {
  const command = `node bench/floors/export-${format}.ts mirror.db posts.${format}`;
  return { name: `loop writing ${format}`, command, unit: 'rows/s', values };
}

/** Rows a second over the whole life of the process. */
export async function exportRate(bench: Bench, { env, posts }: LargeMirror, format: Format): Promise<number> {
  const out = join(bench.folder, `posts.${format}`);
  const { seconds, stdout } = await measured(
    feedbackMirror(['export', 'posts', '--out', out, '--json'], env),
  );
  const { files } = JSON.parse(stdout) as { files: { rows: number }[] };
  if (files[0]?.rows !== posts) throw new Error(`export wrote ${files[0]?.rows} of ${posts} rows`);
  rmSync(out);
  rmSync(`${out}.manifest.json`);
  return posts / seconds;
}

async function loopRate(bench: Bench, { path, posts }: LargeMirror, format: Format): Promise<number> {
  const out = join(bench.folder, `loop.${format}`);
  const script = join(import.meta.dirname, `../floors/export-${format}.ts`);
  const { seconds } = await measured({ command: process.execPath, args: [script, path, out] });
  rmSync(out);
  return posts / seconds;
}
