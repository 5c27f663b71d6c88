import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createRandom } from '../../src/sandbox/random.ts';
import { BOARDS } from '../../src/sandbox/writing.ts';
import { feedbackMirror, measured } from '../frame/child.ts';
import { ratio } from '../frame/numbers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row } from '../frame/set.ts';
import { zipfLanguage } from '../words.ts';

const ROWS = 100_000;
const FLOOR = join(import.meta.dirname, '../floors/import.ts');

/** A CSV file into the outbox. */
export const importSet: BenchSet = {
  name: 'import',
  about: 'A CSV file into an empty outbox, every row checked, told from its equals and on disk.',
  sizes: '100,000 rows of about 700 bytes',
  run,
};

async function run(bench: Bench): Promise<Row[]> {
  const rows = bench.scale(ROWS);
  const file = join(bench.folder, 'ideas.csv');
  await pipeline(Readable.from(ideaLines(rows)), createWriteStream(file));
  const [ours = [], floor = []] = await interleaved(bench, [
    { name: 'import', run: () => inNewFolder(bench, (folder) => importRows(file, folder, rows)) },
    {
      name: 'csv-parse and inserts',
      run: () => inNewFolder(bench, (folder) => insertRows(file, folder, rows)),
    },
  ]);
  const series = {
    ours: { name: 'import', command: 'feedback-mirror import ideas.csv', unit: 's', values: ours },
    peer: {
      name: 'csv-parse and plain inserts',
      command: 'node bench/floors/import.ts ideas.csv outbox.db',
      unit: 's',
      values: floor,
    },
  } as const;
  return [
    {
      row: `CSV import to outbox, ${rows.toLocaleString('en')} rows`,
      ...series,
      figure: ratio(series.ours, series.peer),
      bound: { is: 'at most', value: 2, unit: 'x' },
      note: 'Our time in times of the script, which checks nothing and writes one table without an index in one transaction.',
    },
  ];
}

/** A third of the rows in the name of a customer. */
export function* ideaLines(rows: number): Generator<string> {
  const random = createRandom(9);
  const { text } = zipfLanguage();
  yield 'board,title,content,email,full_name\n';
  for (let n = 1; n <= rows; n++) {
    const who = n % 3 === 0 ? `customer${n}@example.com,"Customer, number ${n}"` : ',';
    const [title, content] = [text(3 + random.int(10), random), text(15 + random.int(91), random)];
    yield `${random.pick(BOARDS).slug},${title} ${n},"${content}, and ""so on""",${who}\n`;
  }
}

async function inNewFolder(bench: Bench, work: (folder: string) => Promise<number>): Promise<number> {
  const folder = mkdtempSync(join(bench.folder, 'import-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function importRows(file: string, folder: string, rows: number): Promise<number> {
  const env = {
    FEEDBACK_BASE_URL: 'http://127.0.0.1:9',
    FEEDBACK_API_TOKEN: 'nobody-asks',
    DATA_DIR: folder,
  };
  const { seconds, stdout } = await measured(feedbackMirror(['import', file, '--json'], env));
  const { accepted } = JSON.parse(stdout) as { accepted: number };
  if (accepted !== rows) throw new Error(`import took ${accepted} of ${rows} rows`);
  return seconds;
}

async function insertRows(file: string, folder: string, rows: number): Promise<number> {
  const args = [FLOOR, file, join(folder, 'outbox.db')];
  const { seconds, stdout } = await measured({ command: process.execPath, args });
  if (Number(stdout) !== rows) throw new Error(`the floor inserted ${stdout.trim()} of ${rows} rows`);
  return seconds;
}
