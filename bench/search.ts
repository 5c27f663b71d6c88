import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { createRandom } from '../src/sandbox/random.ts';
import { openSearchReads } from '../src/store/search.ts';
import { fillMirror, zipfLanguage } from './search-data.ts';

/**
 * How long a search takes: `node bench/search.ts --path /tmp/search/mirror.db --posts 1000000`. The mirror is made where there is
 * none yet and left there. Words are chosen by the share of posts that have them, counted in the index itself.
 */
const UPSTREAM = 'http://upstream.test';
const { values } = parseArgs({
  options: { path: { type: 'string' }, posts: { type: 'string', default: '1000000' } },
});
const { path } = values;
if (path === undefined) throw new Error('--path is missing: where the mirror is, or is to be made');

const language = zipfLanguage(createRandom(20_261_115));
if (!existsSync(path)) {
  mkdirSync(dirname(path), { recursive: true });
  await fillMirror(path, UPSTREAM, Number(values.posts));
}
const db = new Database(path, { readonly: true });
const total = db.prepare<[], number>('SELECT count(*) FROM posts').pluck().get() ?? 0;
const having = db
  .prepare<[string], number>('SELECT count(*) FROM posts_text WHERE posts_text MATCH ?')
  .pluck();
const random = createRandom(7);
const reads = openSearchReads({ path, upstream: UPSTREAM });

/** Words whose share of the posts lies between the two, about as many as asked for. */
function wordsWith(least: number, most: number, wanted: number): string[] {
  const found: string[] = [];
  for (let tries = 0; found.length < wanted && tries < 5_000; tries++) {
    const word = language.words[Math.floor(random.next() ** 3 * language.words.length)] ?? '';
    const share = (having.get(`"${word}"`) ?? 0) / total;
    if (share >= least && share <= most) found.push(word);
  }
  return found;
}

async function measure(name: string, texts: readonly string[]): Promise<void> {
  const times: number[] = [];
  let hits = 0;
  const cpu = process.cpuUsage();
  for (const text of texts) {
    const start = performance.now();
    hits += (await reads.find(text)).hits.length;
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(cpu);
  show(name, times, `${(hits / texts.length).toFixed(1)} hits`, (user + system) / 1000 / texts.length);
}

function show(name: string, times: number[], hits: string, cpuMs: number): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  const figures = `p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  most ${at(1)} ms  processor ${cpuMs.toFixed(1)} ms`;
  process.stdout.write(
    `${name.padEnd(44)}${String(times.length).padStart(4)} searches  ${figures}  ${hits}\n`,
  );
}

const several = (words: readonly string[], count: number): string[] =>
  words.map(() => Array.from({ length: count }, () => random.pick(words)).join(' '));

const middling = wordsWith(0.0005, 0.01, 200);
const frequent = wordsWith(0.08, 0.12, 20);
await measure('one middling word (0.05 % to 1 % of posts)', middling);
await measure('two middling words', several(middling, 2));
await measure('three middling words', several(middling, 3));
await measure('one frequent word (a tenth of all posts)', frequent);
await measure('two frequent words', several(frequent, 2));
await measure(
  'a frequent and a middling word',
  frequent.map((word) => `${word} ${random.pick(middling)}`),
);
await measure(
  'the beginning of a word, three letters',
  middling.slice(0, 40).map((word) => `${word.slice(0, 3)}*`),
);
await measure(
  'the beginning of a word, five letters',
  middling.slice(0, 40).map((word) => `${word.slice(0, 5)}*`),
);
const text = db.prepare<[number], string>('SELECT content FROM posts WHERE id = ?').pluck();
const phrases = Array.from({ length: 100 }, () => {
  const words = (text.get(1 + random.int(total)) ?? '').split(' ');
  const at = random.int(words.length - 1);
  return `"${words[at]} ${words[at + 1]}"`;
});
await measure('two words side by side, from a post', phrases);

const scan = db.prepare<{ like: string }, unknown>(
  'SELECT id FROM posts WHERE deleted_at IS NULL AND (title LIKE $like OR content LIKE $like) ORDER BY id DESC',
);
const scans = middling.slice(0, 5).map((word) => {
  const start = performance.now();
  scan.all({ like: `%${word}%` });
  return performance.now() - start;
});
show('LIKE over all posts, one middling word', scans, '', 0);
await reads.close();
db.close();
