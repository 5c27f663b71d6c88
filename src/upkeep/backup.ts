import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import { createPrivately, makeFolder, moveInPlace, temporaryName } from '../base/files.ts';
import type { OpenOptions } from '../db/open.ts';
import { dataFolderOf } from '../mirror/log/recovery-log.ts';
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
  const present = lstatSync(path, { throwIfNoEntry: false });
  if (isSidePath(path)) refuse('belongs to the database beside it');
  const folder = dataFolderOf(mirror);
  const isOurs = existsSync(folder) && realpathSync(dirname(path)) === realpathSync(folder);
  const refuseOurs = (): never => refuse('is a file of the data folder, where this program keeps its own');
  if (!present && isOurs && OWN_NAMES.test(basename(path))) refuseOurs();
  if (!present) return;
  if (!present.isFile()) refuse('is not a regular file');
  const own = statSync(mirror.path, { throwIfNoEntry: false });
  if (own && own.dev === present.dev && own.ino === present.ino) refuse('is the mirror itself');
  if (isOurs) refuseOurs();
  if (SIDE_FILES.some((side) => existsSync(path + side))) refuse('is a database in use');
  if (!force)
    refuse(
      'is there already; nothing was written',
      'Give the copy another name, or replace the file with --force.',
    );
}

/** What stands in the data folder or will, each of the databases with the files beside it. */
const OWN_NAMES =
  /^(mirror(-schema-\d+)?|queue|recovery|sandbox)\.db([.-].*)?$|^(service\.json|(redaction|suppression)\.key|backup|exports|uploads|cache)$/;

const SIDE_FILES = ['-wal', '-shm', '-journal'];

function isSidePath(path: string): boolean {
  return SIDE_FILES.some((side) => path.endsWith(side) && existsSync(path.slice(0, -side.length)));
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
