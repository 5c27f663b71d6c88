import { existsSync, lstatSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import { createPrivately, makeFolder, moveInPlace, temporaryName } from '../base/files.ts';
import type { OpenOptions } from '../db/open.ts';
import { IN_DATA_FOLDER, isInDataFolder, SIDE_FILES, whyOwn } from '../mirror/file/own-files.ts';
import { type CopyFacts, doChore } from './chores.ts';

export interface Backup extends CopyFacts {
  path: string;
}

/** A checked copy of the mirror under the given name, while others go on reading and writing. What had the name before is replaced at the end. */
export async function backUp(
  mirror: OpenOptions,
  to: string,
  { force, signal }: { force: boolean; signal?: AbortSignal | undefined },
): Promise<Backup> {
  const path = resolve(to);
  refusePath(mirror, path, force);
  return await copyTo(mirror, path, signal);
}

/** The one copy that the service keeps beside the mirror. */
export async function keepBackup(mirror: OpenOptions, folder: string, signal?: AbortSignal): Promise<Backup> {
  makeFolder(folder);
  return await copyTo(mirror, resolve(keptBackup(folder)), signal);
}

async function copyTo(mirror: OpenOptions, path: string, signal?: AbortSignal): Promise<Backup> {
  const part = temporaryName(path);
  try {
    createPrivately(part);
    const facts = await doChore({ chore: 'copy', ...mirror, to: part }, signal);
    await flush(part);
    await moveInPlace([{ temporary: part, path }]);
    return { path, ...facts };
  } finally {
    for (const rest of ['', '-journal', '-wal', '-shm']) await rm(part + rest, { force: true });
  }
}

export function keptBackup(folder: string): string {
  return join(folder, 'mirror.db');
}

/** Whatever is asked for, only a regular file is replaced, and none that belongs to a mirror. */
function refusePath(mirror: OpenOptions, path: string, force: boolean): void {
  const refuse = (what: string, hint = 'Give the copy another name.'): never => {
    throw new AppError('usage', `${path} ${what}`, { hint });
  };
  if (!existsSync(dirname(path)))
    throw new AppError('usage', `there is no folder ${dirname(path)}`, {
      hint: 'Make it first, or give another path.',
    });
  const own = whyOwn(mirror, path);
  if (own) refuse(own);
  const present = lstatSync(path, { throwIfNoEntry: false });
  if (!present) return;
  if (!present.isFile()) refuse('is not a regular file');
  if (isInDataFolder(mirror, path)) refuse(IN_DATA_FOLDER);
  if (SIDE_FILES.some((side) => existsSync(path + side))) refuse('is a database in use');
  if (!force)
    refuse(
      'is there already; nothing was written',
      'Give the copy another name, or replace the file with --force.',
    );
}

/** On disk when this returns. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
