import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { emailKey, foldedText } from '../base/email.ts';

/** Files that this program did not touch. */
export interface UntouchedFiles {
  /** Exports made before, and copies: what is in them is not known without opening them. */
  exports: string[];
  /** Other files in which the address still stands, letter by letter. */
  naming: string[];
}

export interface FilesToSearch {
  dataDir: string;
  exportDir: string;
  /** The mirror: cleaned by other means, and not to be opened by a process that has locks on it. */
  mirror: string;
  email: string;
}

/** What else the data folder holds of a person. The sandbox is the upstream, and the queue holds numbers only. */
export async function untouchedFiles({
  dataDir,
  exportDir,
  mirror,
  email,
}: FilesToSearch): Promise<UntouchedFiles> {
  const exports = await filesIn(exportDir);
  const others = (await filesIn(dataDir)).filter(
    (path) =>
      !exports.includes(path) &&
      !path.startsWith(mirror) &&
      !path.startsWith(join(dataDir, 'queue/')) &&
      !path.startsWith(join(dataDir, 'backup/')) &&
      !/\.lock(\.holder)?$/.test(path) &&
      !basename(path).startsWith('recovery.db') &&
      !basename(path).startsWith('sandbox.db'),
  );
  const naming: string[] = [];
  for (const path of others) if (await holds(path, email)) naming.push(path);
  return {
    exports: exports.map((path) => relative('', path)),
    naming: naming.map((path) => relative('', path)),
  };
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function holds(path: string, email: string): Promise<boolean> {
  const needle = emailKey(email);
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const text = foldedText(rest + String(chunk));
    if (text.includes(needle)) return true;
    rest = text.slice(-needle.length);
  }
  return false;
}
