import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { filesOf } from '../db/sql.ts';
import { caseFolded } from '../text/email.ts';

/** Files that this program did not touch, and that show the person. */
export interface UntouchedFiles {
  exports: string[];
  /** Other files of the data folder. */
  naming: string[];
}

interface FilesToSearch {
  dataDir: string;
  exportDir: string;
  /** The mirror: cleaned by other means, and not to be opened by a process that has locks on it. */
  mirror: string;
  /** What shows the person; where nothing is known, every export counts. */
  needles: readonly string[];
  /** Whether texts of the person were erased: an exported history has them without a name, and counts then. */
  hasTexts: boolean;
}

const HISTORY = /^(post|comment)_history\./;

/** What else is kept of a person: in the data folder, and beside a mirror that is elsewhere. The sandbox is the upstream, and the queue holds numbers only. */
export async function untouchedFiles(request: FilesToSearch): Promise<UntouchedFiles> {
  const { dataDir, exportDir, mirror } = request;
  const needles = request.needles.map(caseFolded);
  const exports = await filesIn(exportDir);
  const reached = [mirror, join(dataDir, 'backup/mirror.db')].flatMap(filesOf);
  const found = new Set([...(await filesIn(dataDir)), ...(await copiesBeside(mirror))]);
  const others = [...found].filter(
    (path) =>
      !exports.includes(path) &&
      !reached.includes(path) &&
      !/\.lock(\.holder)?$/.test(path) &&
      !/^(queue|recovery|sandbox)\.db/.test(basename(path)),
  );
  const naming = async (paths: string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const path of paths)
      if ((request.hasTexts && HISTORY.test(basename(path))) || (await holds(path, needles)))
        found.push(relative('', path));
    return found;
  };
  return {
    exports: needles.length > 0 ? await naming(exports) : exports.map((path) => relative('', path)),
    naming: await naming(others),
  };
}

/** Under the mirror's own name and more: what a restore kept, or a person. Other files there may be anybody's. */
async function copiesBeside(mirror: string): Promise<string[]> {
  const names = await readdir(dirname(mirror)).catch(() => []);
  const copies = names.filter((name) => name.startsWith(`${basename(mirror)}.`));
  return copies.map((name) => join(dirname(mirror), name)).sort();
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A file that cannot be read counts: better one too many on the receipt than one too few. */
async function holds(path: string, needles: readonly string[]): Promise<boolean> {
  const longest = Math.max(0, ...needles.map((needle) => needle.length));
  let rest = '';
  try {
    for await (const piece of path.endsWith('.parquet') ? parquetTexts(path) : textsOf(path)) {
      const text = caseFolded(rest + piece);
      if (needles.some((needle) => text.includes(needle))) return true;
      // A needle may begin in one piece and end in the next.
      rest = text.slice(-longest);
    }
  } catch {
    return true;
  }
  return false;
}

async function* textsOf(path: string): AsyncGenerator<string, void, undefined> {
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) yield String(chunk);
}

const ROWS = 10_000;

/** The rows of a compressed file as text. */
async function* parquetTexts(path: string): AsyncGenerator<string, void, undefined> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const compressors = { ZSTD: (bytes: Uint8Array): Uint8Array => zstdDecompressSync(bytes) };
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  for (let rowStart = 0; rowStart < metadata.num_rows; rowStart += ROWS)
    yield JSON.stringify(
      await parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd: rowStart + ROWS }),
      (_, value) => (typeof value === 'bigint' ? String(value) : value),
    );
}
