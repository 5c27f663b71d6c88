import { rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Settings } from '../../config/load.ts';
import { AppError } from '../base/errors.ts';
import { createPrivately, fileId, isThere, makeFolder, moveInPlace, temporaryName } from '../base/files.ts';
import { senderLockPath, takeLock } from '../db/lock.ts';
import type { OpenOptions } from '../db/open.ts';
import { filesOf } from '../db/sql.ts';
import { openMirrorStore } from '../mirror/store/store.ts';
import { copyBackup, type Rebuilt } from '../restore/rebuild.ts';
import { flush } from '../upkeep/backup.ts';
import { holder, mirrorOf } from './place.ts';

export interface RestoreRequest {
  /** What is in the place of the mirror is kept under another name. */
  replace: boolean;
  /** Also where the key of the suppression list is not there. */
  withoutKey: boolean;
  signal: AbortSignal;
}

interface Made extends Rebuilt {
  /** Of when the copy was; null where it does not tell. */
  readAt: string | null;
}

export interface RestoredMirror extends Made {
  path: string;
  /** Where the mirror is that was there before. */
  keptAs: string | null;
  /** Rows of the outbox that are looked for upstream before anything is sent. */
  checking: number;
  /** People erased since the copy who were erased again. */
  erasures: number;
  /** False where the data folder does not know what was sent and erased since. */
  isCovered: boolean;
}

/** A mirror from the file that `backup` made. */
export async function restoreFromFile(
  settings: Settings,
  request: RestoreRequest & { file: string },
): Promise<RestoredMirror> {
  const mirror = mirrorOf(settings);
  const file = resolve(request.file);
  if (isThere(file) && fileId(file) === fileId(mirror.path))
    throw new AppError('usage', `${file} is the mirror itself`, { hint: 'Give the path of a backup.' });
  // Opening a named pipe waits until another process writes to it.
  if (isThere(file) && !statSync(file).isFile())
    throw new AppError('usage', `${file} is not a regular file`, { hint: 'Give the path of a backup.' });
  const { withoutKey } = request;
  return await restoreInPlace(mirror, request, async (part) =>
    copyBackup(file, part, { ...mirror, withoutKey }),
  );
}

/** Makes a mirror under a temporary name, and renames it when it is complete and on disk. No other process may send meanwhile. */
export async function restoreInPlace(
  mirror: Required<OpenOptions>,
  { replace }: RestoreRequest,
  make: (part: string) => Promise<Made>,
): Promise<RestoredMirror> {
  const { path, dataDir } = mirror;
  const isReplaced = isThere(path);
  if (isReplaced && !replace) throw inPlace(path);
  for (const folder of [dataDir, dirname(path)]) makeFolder(folder);
  const lock = takeLock(senderLockPath(path), holder('restore'));
  if (!lock.ok) throw new AppError('busy', `${path} is in use by ${lock.holder}`, { hint: 'Stop it first.' });
  const part = temporaryName(path);
  try {
    createPrivately(part);
    const made = await make(part);
    await flush(part);
    const keptAs = isReplaced ? await moveAside(path) : null;
    await moveInPlace([{ temporary: part, path }]);
    return { ...made, path, keptAs, ...settle(mirror) };
  } finally {
    for (const file of filesOf(part)) rmSync(file, { force: true });
    lock.release();
  }
}

function inPlace(path: string): AppError {
  return new AppError('usage', `there is a mirror at ${path} already; nothing was restored`, {
    hint: 'Set DATA_DIR to another folder. With --yes the mirror that is there is kept under another name.',
  });
}

/** Everything of it that SQLite keeps in files of their own goes along. */
async function moveAside(path: string): Promise<string> {
  const kept = `${path}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  for (const rest of ['-wal', '-shm', ''])
    if (isThere(path + rest)) await moveInPlace([{ temporary: path + rest, path: kept + rest }]);
  return kept;
}

/** The first opening marks what may have been sent since the copy; the search index is made so that the first search finds all. */
function settle(mirror: OpenOptions): Pick<RestoredMirror, 'checking' | 'erasures' | 'isCovered'> {
  const store = openMirrorStore({ ...mirror, holder: holder('restore') });
  try {
    while (store.index());
    const { checking = 0, erasures = 0, isCovered = false } = store.status().olderCopy ?? {};
    return { checking, erasures, isCovered };
  } finally {
    store.close();
  }
}
