import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, statfsSync, statSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError, storageError } from './errors.ts';

/** Identifies this process: in a container the next one has the same number. */
const PROCESS = randomBytes(4).toString('hex');

/** A name beside the final one, for as long as this process works on it: `.posts.csv.4711-1f2e3d4c-5a6b.part`. */
export function temporaryName(path: string): string {
  const mark = `${process.pid}-${PROCESS}-${randomBytes(2).toString('hex')}`;
  return join(dirname(path), `.${basename(path)}.${mark}.part`);
}

/** Step by step: Node's own `recursive` never returns where a folder that exists takes no new one, as /proc. */
export function makeFolder(path: string): void {
  if (isThere(path) && statSync(path).isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it just now.
    if (errnoOf(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** How many bytes this user may still write to the disk of a folder; no limit where the folder is gone. */
export function freeSpace(folder: string): number {
  if (!isThere(folder)) return Number.POSITIVE_INFINITY;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

const WRITTEN_BY_ANYBODY = 0o002;

/** Whether every user of the machine may make, replace or remove files in it: what is read there may be anybody's. */
export function isForAnybody(folder: string): boolean {
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & WRITTEN_BY_ANYBODY) !== 0;
}

/** SQLite also reads what lies beside its file under the right name. */
export function refuseForAnybody(folder: string): void {
  if (!isForAnybody(folder)) return;
  throw new AppError('usage', `every user of this machine can write to ${folder}`, {
    hint: `Run: chmod o-w ${folder}. Or set DATA_DIR (or MIRROR_PATH) to a folder of its own.`,
  });
}

/** Which file is there, however it is called; null where there is none. Numbers of files are larger than a double holds on some file systems. */
export function fileId(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : null;
}

/** Unlike existsSync, this fails where the answer is hidden: a file that may not be seen is not a missing one. */
export function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

export function errnoOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Makes an empty file that only its owner can read, unless there is a file already. SQLite would make it with the rights of the
 * process's umask, and its -wal and -shm take theirs from it. An existing file is not opened, not even to look: closing it again
 * would drop every lock this process holds on it.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

/** A file that appears whole or not at all, in place of an older one; on disk, name included, when this returns. */
export async function replaceFile(path: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const temporary = temporaryName(path);
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await write(handle);
    await handle.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    // Node names no file where writing to an open one fails.
    throw storageError(error, path) ?? error;
  } finally {
    await handle.close();
  }
  await moveInPlace([{ temporary, path }]);
  await removeLeftovers(dirname(path), (name) => name === basename(path));
}

/** Renames temporary files to their own names. Their content must be on disk already. */
export async function moveInPlace(moves: readonly { temporary: string; path: string }[]): Promise<void> {
  for (const { temporary, path } of moves) await rename(temporary, path);
  for (const folder of new Set(moves.map(({ path }) => dirname(path)))) await syncFolder(folder);
}

/** Syncs a folder, so that a new name outlives a power cut. Some file systems cannot do that. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!['EINVAL', 'EPERM', 'EISDIR'].includes(errnoOf(error))) throw error;
  } finally {
    await handle.close();
  }
}

/** Removes files that a killed run left under these names. A process that is alive is still writing. */
export async function removeLeftovers(folder: string, isOurs: (name: string) => boolean): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, final = '', pid = '', mark = ''] = LEFTOVER.exec(name) ?? [];
    if (isOurs(final) && !isWriting(Number(pid), mark))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

const LEFTOVER = /^\.(.+)\.(\d+)-([0-9a-f]{8})-[0-9a-f]{4}\.part$/;

function isWriting(pid: number, mark: string): boolean {
  if (pid === process.pid) return mark === PROCESS;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}
