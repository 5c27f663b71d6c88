import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import { syncFolder } from '../base/sync-folder.ts';
import { type CopyFacts, doChore } from './chores.ts';
import type { OpenOptions } from './db.ts';
import { createPrivately } from './files.ts';

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
  const part = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
  try {
    createPrivately(part);
    const facts = await doChore({ chore: 'copy', ...mirror, to: part }, signal);
    await flush(part);
    await rename(part, path);
    await syncFolder(dirname(path));
    return { path, ...facts };
  } finally {
    for (const rest of ['', '-journal', '-wal', '-shm']) await rm(part + rest, { force: true });
  }
}

/** The one copy that the service keeps beside the mirror. */
export async function keepBackup(mirror: OpenOptions, folder: string, signal?: AbortSignal): Promise<Backup> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
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
