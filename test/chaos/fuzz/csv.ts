import assert from 'node:assert/strict';
import { AppError } from '../../../src/base/errors.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { type Read, readChunked } from '../../outbox/csv/feed.ts';
import type { Fuzzed } from './decoder.ts';
import { mutated } from './mutate.ts';

const SAMPLES = [
  'board,title,content\nb,one,c\nb,"two, too","a ""b""\r\nc"\r\nb,three,"é😀"\n\nb,four,\n',
  'title;board;email\r\n"a;b";b;ada@example.com\r\n"c\rd";"b";\r\ne;b;x@example.com',
  '"title"\t"board"\t"x"\r"a"\tb\t"1\n2"\rc\tb\t\r',
].map((text) => Buffer.from(text));

/** In processor time: no file of a hundred bytes takes this long, however it is damaged and whatever else the machine does. */
const LIMIT_MS = 5000;

/** Damaged files: each is refused as a whole, or each of its rows is refused or kept exactly as it was written. */
export async function fuzzCsv(count: number, seed: number): Promise<Fuzzed> {
  const random = createRandom(seed);
  const result = { accepted: 0, refused: 0, unreadable: 0 };
  for (let n = 0; n < count; n++) {
    const damaged = mutated(random.pick(SAMPLES), random);
    const where = `seed ${seed}, ${n}: ${JSON.stringify(damaged.toString('latin1'))}`;
    const began = process.cpuUsage();
    const file = await readOrRefuse(damaged, 1 + random.int(40), where);
    assert.ok(process.cpuUsage(began).user < LIMIT_MS * 1000, `slow: ${where}`);
    if (file === null) {
      result.unreadable++;
      continue;
    }
    for (const row of file.rows) {
      if (row.ok) for (const cell of row.cells) assertWritten(cell, damaged, where);
      result[row.ok ? 'accepted' : 'refused']++;
    }
  }
  return result;
}

async function readOrRefuse(bytes: Buffer, size: number, where: string): Promise<Read | null> {
  try {
    return await readChunked(bytes, { board: 'b' }, size);
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'usage', `${where}: ${String(error)}`);
    return null;
  }
}

/** Letter for letter in the file, its quotes doubled or not, in whichever of the two encodings it can be read. */
function assertWritten(cell: string, file: Buffer, where: string): void {
  const texts = [file, new TextDecoder('windows-1252').decode(file)];
  const isThere = texts.some((text) => text.includes(cell) || text.includes(cell.replaceAll('"', '""')));
  assert.ok(isThere, `a cell is not what was written, ${JSON.stringify(cell)}: ${where}`);
}
