import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../config/load.ts';
import { AppError, messageOf } from '../base/errors.ts';
import { errnoOf, isThere, makeFolder } from '../base/files.ts';
import { senderLockPath, takeLock } from '../db/lock.ts';
import { openMirrorStore } from '../mirror/store/store.ts';
import { holder, mirrorOf } from './place.ts';

interface Adoption {
  /** Files and folders that were moved. */
  moved: string[];
  from: string;
  to: string;
}

/** Moves the data of a mirror that was the only one into the folder of a source. Run again after a crash, it moves what is left. */
export function adoptFolder(settings: Settings, from: string, names: readonly string[]): Adoption {
  const to = settings.dataDir;
  const file = join(from, 'mirror.db');
  const hasBegun = isThere(settings.mirrorPath) && !isThere(file);
  if (!isThere(file) && !hasBegun)
    throw new AppError('usage', `there is no mirror in ${from}`, {
      hint: 'Give the folder of one with --from FOLDER.',
    });
  if (isThere(file) && isThere(settings.mirrorPath))
    throw new AppError('usage', `there is a mirror in ${to} already; nothing was moved`);
  makeFolder(to);
  const lock = takeLock(senderLockPath(file), holder('sources adopt'));
  if (!lock.ok) throw new AppError('busy', `${file} is in use by ${lock.holder}`, { hint: 'Stop it first.' });
  try {
    if (isThere(file)) settle(settings, file, from);
    // The mirror moves last, so that a failed move can run again.
    const moved = entriesOf(from, names).toSorted(
      (a, b) => Number(a === 'mirror.db') - Number(b === 'mirror.db'),
    );
    for (const name of moved) move(join(from, name), join(to, name));
    return { moved, from, to };
  } finally {
    lock.release();
  }
}

/** Refuses the mirror of another service. Closed, it has everything in its one file. */
function settle(settings: Settings, path: string, dataDir: string): void {
  openMirrorStore({ ...mirrorOf(settings), path, dataDir, holder: holder('sources adopt') }).close();
}

/** Everything but locks, what tells of a service, and folders of other mirrors. */
function entriesOf(folder: string, names: readonly string[]): string[] {
  return readdirSync(folder).filter((name) => {
    if (names.includes(name) || name === 'service.json' || /\.lock(\.holder|-journal)?$/.test(name))
      return false;
    return name === 'backup' || !existsSync(join(folder, name, 'mirror.db'));
  });
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    const hint =
      errnoOf(error) === 'EXDEV' ? 'It is on another disk: move the folder there by hand first.' : undefined;
    throw new AppError('storage', `${from} could not be moved: ${messageOf(error)}`, {
      cause: error,
      ...(hint && { hint }),
    });
  }
}
