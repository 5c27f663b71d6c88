import { existsSync, lstatSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import { createPrivately, makeFolder, moveInPlace, temporaryName } from '../base/files.ts';
import type { OpenOptions } from '../db/open.ts';
import { filesOf } from '../db/sql.ts';
import { whyOwn } from '../mirror/file/own-files.ts';
import { type CopyFacts, runFileTask } from './file-tasks.ts';

export interface Backup extends CopyFacts {
  path: string;
}

/** Makes a checked copy of the mirror under a name that is free, while others go on reading and writing. */
export async function backUp(mirror: OpenOptions, to: string, signal?: AbortSignal): Promise<Backup> {
  const path = resolve(to);
  refusePath(mirror, path);
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
    const facts = await runFileTask({ task: 'copy', ...mirror, to: part }, signal);
    await flush(part);
    await moveInPlace([{ temporary: part, path }]);
    return { path, ...facts };
  } finally {
    for (const file of filesOf(part)) await rm(file, { force: true });
  }
}

export function keptBackup(folder: string): string {
  return join(folder, 'mirror.db');
}

/** No file is replaced, and the copy takes no name that a file of a mirror may get. */
function refusePath(mirror: OpenOptions, path: string): void {
  const refuse = (what: string): never => {
    throw new AppError('usage', `${path} ${what}`, { hint: 'Give the copy another name.' });
  };
  if (!existsSync(dirname(path)))
    throw new AppError('usage', `there is no folder ${dirname(path)}`, {
      hint: 'Make it first, or give another path.',
    });
  const own = whyOwn(mirror, path);
  if (own) refuse(own);
  if (lstatSync(path, { throwIfNoEntry: false })) refuse('is there already; nothing was written');
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
