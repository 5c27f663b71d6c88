import { existsSync, realpathSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import { createPrivately, makeFolder, moveInPlace, temporaryName } from '../base/files.ts';
import { type CopyFacts, doChore } from './chores.ts';
import type { OpenOptions } from './db.ts';

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
  refusePath(mirror.path, path, force);
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

/** The one copy that the service keeps beside the mirror. */
export async function keepBackup(mirror: OpenOptions, folder: string, signal?: AbortSignal): Promise<Backup> {
  makeFolder(folder);
  return await backUp(mirror, keptBackup(folder), { force: true, signal });
}

export function keptBackup(folder: string): string {
  return join(folder, 'mirror.db');
}

function refusePath(mirror: string, path: string, force: boolean): void {
  if (!existsSync(dirname(path)))
    throw new AppError('usage', `there is no folder ${dirname(path)}`, {
      hint: 'Make it first, or give another path.',
    });
  if (!existsSync(path)) return;
  if (existsSync(mirror) && realpathSync(path) === realpathSync(mirror))
    throw new AppError('usage', `${path} is the mirror itself`, { hint: 'Give the copy another name.' });
  if (!force)
    throw new AppError('usage', `${path} is there already; nothing was written`, {
      hint: 'Give the copy another name, or replace the file with --force.',
    });
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
