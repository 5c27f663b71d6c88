import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openReads } from '../../src/http/dashboard/reading-pool.ts';
import { EVERY_LIVE_POST } from '../../src/search/browse/filter.ts';
import { openSearchReads } from '../../src/search/search.ts';
import { checkUp } from '../../src/upkeep/checkup.ts';
import { median } from '../frame/numbers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row } from '../frame/set.ts';
import { type LargeMirror, largeMirror } from '../large-mirror.ts';
import { zipfLanguage } from '../words.ts';

const POSTS = 1_000_000;
const YEAR_MS = 365 * 86_400_000;
const SQL_PAGE = join(import.meta.dirname, '../../docs/sql.md');

/** One question, and how long people are to wait for it. */
interface Question {
  row: string;
  command: string;
  most: number;
  ask(): Promise<unknown>;
}

/** What people ask of a large mirror, each with the threads and caches of a service that was just started. */
export const answersSet: BenchSet = {
  name: 'answers',
  about:
    'The first answer of each kind after a start: pages, lists, searches, doctor, and the examples of docs/sql.md.',
  sizes: '1,000,000 posts in words of Zipf frequency, as many comments, a year of history',
  run,
};

async function run(bench: Bench): Promise<Row[]> {
  const questions = questionsOf(await largeMirror(bench, bench.scale(POSTS)));
  const timed = async (ask: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await ask();
    return performance.now() - began;
  };
  const values = await interleaved(
    bench,
    questions.map(({ row, ask }) => ({ name: row, run: () => timed(ask) })),
  );
  return questions.map(({ row, command, most }, i) => ({
    row,
    ours: { name: row, command, unit: 'ms', values: values[i] ?? [] },
    peer: null,
    figure: median(values[i] ?? []),
    bound: { is: 'at most', value: most, unit: 'ms' },
  }));
}

function questionsOf(mirror: LargeMirror): Question[] {
  const { words } = zipfLanguage();
  const [first = '', second = '', third = ''] = words;
  const all = { ...EVERY_LIVE_POST, board: [], status: [], creator: null };
  const since = new Date(Date.now() - YEAR_MS).toISOString();
  const list = { after: null, limit: 50 };
  const page = (row: string, name: 'overview' | 'posts', request: object): Question => ({
    ...{ row, command: `openReads(mirror).ask('${name}', …)`, most: 300 },
    ask: async () => {
      const reads = openReads(mirror);
      await reads.ask(name, request as never);
      await reads.close();
    },
  });
  const search = (row: string, text: string): Question => ({
    ...{ row, command: "openSearchReads(mirror).find('…')", most: 150 },
    ask: async () => {
      const reads = openSearchReads(mirror);
      await reads.find(text);
      await reads.close();
    },
  });
  return [
    page('overview', 'overview', { now: Date.now(), timeZone: 'UTC', usualDelivered: null }),
    page('list by votes', 'posts', { ...list, filter: all, sort: 'votes' }),
    page('a year by comments', 'posts', { ...list, filter: { ...all, since }, sort: 'comments' }),
    page('1,000 rows of a filtered CSV', 'posts', {
      ...{ ...list, limit: 1000 },
      ...{ filter: { ...all, status: ['Planned'] }, sort: 'votes' },
    }),
    search('two words that most posts have', `${first} ${second}`),
    search('two such words side by side', `"${first} ${third}"`),
    search(
      'six words of a post',
      words
        .slice(200, 800)
        .filter((_, i) => i % 100 === 0)
        .join(' '),
    ),
    {
      ...{ row: 'doctor, the mirror', command: 'checkUp(mirror)', most: 3000 },
      ask: async () => checkUp(mirror),
    },
    {
      ...{ row: 'all examples of docs/sql.md', command: 'feedback-mirror query SQL', most: 500 },
      ask: async () => runExamples(mirror),
    },
  ];
}

function runExamples({ path }: LargeMirror): void {
  const db = new Database(path, { readonly: true });
  for (const [, sql = ''] of readFileSync(SQL_PAGE, 'utf8').matchAll(/```sql\n([\s\S]*?)```/g))
    db.prepare(sql).all();
  db.close();
}
