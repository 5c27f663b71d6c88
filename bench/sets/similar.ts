import { readFileSync, rmSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { createRandom } from '../../src/sandbox/random.ts';
import { drawTopic, writeContent, writeTitle } from '../../src/sandbox/writing.ts';
import { openSearchReads } from '../../src/search/search.ts';
import type { SimilarRequest } from '../../src/search/similar.ts';
import { CsvParser } from '../../src/text/csv.ts';
import { distinctWords, likeness } from '../../src/text/words.ts';
import { doHousekeeping } from '../../src/upkeep/housekeeping.ts';
import { median } from '../frame/numbers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { largeMirror } from '../large-mirror.ts';
import { zipfLanguage } from '../words.ts';
import { type BenchPost, mirrorOf, UPSTREAM } from './recall.ts';
import { LABELLED } from './search/labelled.ts';
import { percentile } from './search.ts';
import { PAIRS } from './similar/pairs.ts';

const LARGE = 1_000_000;
const ASKED = 200;
/** Posts of the sandbox that pairs are found among. */
const AMONG_WRITTEN = 5000;
const AMONG_SANDBOX = 10_000;
const SANDBOX_PAIRS = 300;
const WRITTEN = PAIRS.reduce((sum, { pairs }) => sum + pairs.length, 0);

/**
 * Posts like another: how many pairs of posts that ask for the same are found, and how long it takes. Public sets of duplicate reports
 * are read from the folders that BENCH_PAIRS names (several with the separator of PATH), and left out without it: in each `posts.csv`
 * with the columns id, title and content, and `pairs.csv` with two ids a line, both with a header.
 */
export const similarSet: BenchSet = {
  name: 'similar',
  about:
    'Of two posts that ask for the same, whether the one is among the ten most similar to the other; and the time it takes.',
  sizes: `${WRITTEN} pairs in ${PAIRS.length} languages written for this, ${SANDBOX_PAIRS} of the sandbox, public sets by BENCH_PAIRS; the time among 1,000,000 posts`,
  run,
};

/** Posts, and which two of them are the same. */
interface Collection {
  name: string;
  posts: BenchPost[];
  pairs: [number, number][];
}

async function run(bench: Bench): Promise<Row[]> {
  const collections = collectionsOf(bench);
  const rows: Row[] = [];
  for (const one of collections) rows.push(await recallOf(bench, one));
  return [...rows, ...(await timesOf(bench))];
}

function collectionsOf(bench: Bench): Collection[] {
  return [...written(), sandbox(bench), ...published(bench)];
}

/** The pairs written for this, English apart and all together, always among the same posts. */
function written(): Collection[] {
  const posts: BenchPost[] = sandboxPosts(AMONG_WRITTEN, 1);
  const add = ([title, content]: [string, string]): number =>
    posts.push({ id: posts.length + 1, title, content });
  for (const { posts: others } of LABELLED) for (const other of others) add(other);
  const all = PAIRS.map(({ language, pairs }) => ({
    language,
    pairs: pairs.map(([one, other]): [number, number] => [add(one), add(other)]),
  }));
  const english = all.filter(({ language }) => language === 'English').flatMap(({ pairs }) => pairs);
  const others = all.filter(({ language }) => language !== 'English').flatMap(({ pairs }) => pairs);
  return [
    { name: 'written pairs, English', posts, pairs: english },
    { name: 'written pairs, nine other languages', posts, pairs: others },
    { name: 'written pairs, all', posts, pairs: [...english, ...others] },
  ];
}

function sandboxPosts(count: number, seed: number): BenchPost[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, i) => {
    const about = drawTopic(random);
    return { id: i + 1, title: writeTitle(random, about), content: writeContent(random, about) };
  });
}

/** A topic that the sandbox writes about twice. */
function sandbox(bench: Bench): Collection {
  const posts = sandboxPosts(bench.scale(AMONG_SANDBOX), 2);
  const random = createRandom(3);
  const pairs = Array.from({ length: SANDBOX_PAIRS }, (): [number, number] => {
    const about = drawTopic(random);
    const add = (): number =>
      posts.push({
        id: posts.length + 1,
        title: writeTitle(random, about),
        content: writeContent(random, about),
      });
    return [add(), add()];
  });
  return { name: 'paraphrases of the sandbox', posts, pairs };
}

function published({ say }: Bench): Collection[] {
  const folders = process.env.BENCH_PAIRS?.split(delimiter).filter(Boolean) ?? [];
  if (folders.length === 0)
    say('BENCH_PAIRS names no folder with posts.csv and pairs.csv: public pairs are left out');
  return folders.map((folder) => {
    const lines = cellsOf(join(folder, 'posts.csv'));
    const ids = new Map(lines.map(([id = ''], i) => [id, i + 1]));
    const posts = lines.map(([, title = '', content = ''], i) => ({ id: i + 1, title, content }));
    const pairs = cellsOf(join(folder, 'pairs.csv')).map(([one = '', other = '']): [number, number] => {
      const pair = [ids.get(one), ids.get(other)];
      if (pair[0] === undefined || pair[1] === undefined)
        throw new Error(`${folder}: no post ${one} or ${other}`);
      return [pair[0], pair[1]];
    });
    return { name: basename(folder), posts, pairs };
  });
}

const CSV_LIMITS = { fieldBytes: 10_000_000, rowBytes: 10_000_000 };

/** Without the header. */
function cellsOf(path: string): string[][] {
  const parser = new CsvParser(',', CSV_LIMITS);
  parser.push(readFileSync(path));
  const records = [...parser.records(Number.POSITIVE_INFINITY), ...parser.finish()];
  return records.slice(1).map(({ cells }) => cells);
}

/** Said beside every figure: none of the sets is one that the comparison has not seen. */
const CHOSEN_WITH =
  'Each of a pair is asked for the other. The weights of the comparison were chosen with these very sets, among about 160 combinations: texts it has not seen may do worse.';

async function recallOf(bench: Bench, { name, posts, pairs }: Collection): Promise<Row> {
  const path = join(bench.folder, 'similar.db');
  await mirrorOf(path, posts);
  const search = openSearchReads({ path, upstream: UPSTREAM });
  try {
    const ours = await recallAt10(
      pairs,
      async (about) => (await search.similar({ about }))?.map(({ id }) => id) ?? [],
    );
    const titles = await recallAt10(pairs, byTitle(posts));
    bench.say(`${name}: ${ours}, by title ${titles}`);
    const series = (of: string, command: string, value: number): Series => ({
      name: of,
      command,
      unit: '%',
      values: [value],
    });
    return {
      row: `Recall@10, ${name}: ${pairs.length} pairs among ${posts.length.toLocaleString('en')} posts`,
      ours: series('similar', 'openSearchReads(mirror).similar({ about: id })', ours),
      peer: series('title only', 'every title compared by the words it shares', titles),
      figure: ours,
      bound: { is: 'at least', value: 60, unit: '%' },
      note: CHOSEN_WITH,
    };
  } finally {
    await search.close();
    rmSync(path);
  }
}

/** Each of a pair is asked for the other, in percent of the questions. */
async function recallAt10(
  pairs: Collection['pairs'],
  find: (id: number) => Promise<number[]>,
): Promise<number> {
  let found = 0;
  for (const [one, other] of pairs) {
    if ((await find(one)).includes(other)) found++;
    if ((await find(other)).includes(one)) found++;
  }
  return (100 * found) / (2 * pairs.length);
}

/** What one does without an index: the ten posts whose titles share most of their words, counted in letters. */
function byTitle(posts: readonly BenchPost[]): (id: number) => Promise<number[]> {
  const titles = posts.map(({ id, title }) => ({ id, words: distinctWords(title) }));
  return async (about) => {
    const own = titles[about - 1]?.words ?? new Set();
    return titles
      .filter(({ id }) => id !== about)
      .map(({ id, words }) => ({ id, alike: likeness(own, words) }))
      .sort((a, b) => b.alike - a.alike)
      .slice(0, 10)
      .map(({ id }) => id);
  };
}

/** The most frequent words, in a third to all of the posts: the first word of a title that is being typed may be such a one. */
const COMMON_WORDS = 20;

/** As the service asks: one process, an index that housekeeping has merged. */
async function timesOf(bench: Bench): Promise<Row[]> {
  const { path, upstream, posts } = await largeMirror(bench, bench.scale(LARGE));
  doHousekeeping({ path, upstream, step: 'merge the search indexes', now: Date.now(), changesKeepMs: 0 });
  const search = openSearchReads({ path, upstream });
  const random = createRandom(7);
  const common = zipfLanguage().words.slice(0, COMMON_WORDS);
  const timesFor = (next: () => SimilarRequest['about']) => async (): Promise<number> => {
    const taken: number[] = [];
    for (let asked = 0; asked < ASKED; asked++) {
      const about = next();
      const start = performance.now();
      await search.similar({ about });
      taken.push(performance.now() - start);
    }
    return percentile(taken);
  };
  const row = (what: string, asked: string, values: number[]): Row => ({
    row: `similar p95 of ${ASKED}${what}, among ${posts.toLocaleString('en')} posts`,
    ours: {
      name: 'similar',
      command: `openSearchReads(mirror).similar({ about: ${asked} })`,
      unit: 'ms',
      values,
    },
    peer: null,
    figure: median(values),
    bound: { is: 'at most', value: 50, unit: 'ms' },
    note: 'Other posts in every repetition, in one process; the search indexes are merged, as housekeeping does it.',
  });
  try {
    const [byPost = [], byWord = []] = await interleaved(bench, [
      { name: 'similar', run: timesFor(() => 1 + random.int(posts)) },
      { name: 'similar to one word', run: timesFor(() => ({ title: random.pick(common), content: '' })) },
    ]);
    return [row('', 'id', byPost), row(' titles of one common word', "{ title, content: '' }", byWord)];
  } finally {
    await search.close();
  }
}
