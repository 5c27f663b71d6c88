import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../config/load.ts';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import { makeFolder } from '../base/files.ts';
import { eraseExpired, type RetentionResult } from '../erasure/retention.ts';
import { type ErasureStore, openErasureStore } from '../erasure/store/store.ts';
import { openMirrorStore } from '../mirror/store/store.ts';
import { type Backup, backUp, keepBackup, keptBackup } from '../upkeep/backup.ts';
import { runFileTask } from '../upkeep/file-tasks.ts';
import type { HousekeepingRequest } from '../upkeep/housekeeping.ts';
import { holder, mirrorOf } from './place.ts';

/** What of an open app upkeep needs. */
interface Keeper {
  settings: Settings;
  clock: Clock;
}

/** One piece of housekeeping on the mirror's file. */
export async function doMirrorHousekeeping(
  { settings, clock }: Keeper,
  step: HousekeepingRequest['step'],
  signal?: AbortSignal,
): Promise<number> {
  const when = { now: clock.now(), changesKeepMs: settings.changesKeep };
  return await runFileTask({ task: 'housekeeping', ...mirrorOf(settings), step, ...when }, signal);
}

/** Rebuilds the packed columns of reports from the rows of the mirror, and finishes its indexes. */
export async function rebuildSums(settings: Settings, signal: AbortSignal): Promise<void> {
  const store = openMirrorStore({ ...mirrorOf(settings), holder: holder('doctor') });
  try {
    store.forgetColumns();
    while (store.index()) {
      signal.throwIfAborted();
      await new Promise(setImmediate);
    }
  } finally {
    store.close();
  }
}

/** Erasing people and old rows from the mirror, and rewriting its file afterwards. */
export interface Erasure {
  store: ErasureStore;
  /** False if another process kept reading or writing: erased text may still be in unused pages of the file. */
  compact(signal: AbortSignal): Promise<boolean>;
}

export function openErasure(settings: Settings, purpose: string): Erasure {
  makeFolder(settings.dataDir);
  const mirror = mirrorOf(settings);
  return {
    store: openErasureStore({ ...mirror, holder: holder(purpose) }),
    async compact(signal) {
      try {
        return (await runFileTask({ task: 'compact', ...mirror }, signal)).isClean;
      } catch (error) {
        if (codeOf(error) === 'busy') return false;
        throw error;
      }
    },
  };
}

/** Erases the deleted rows whose time is up, for the housekeeping of the service. */
export async function eraseExpiredRows(
  { settings, clock }: Keeper,
  signal: AbortSignal,
): Promise<RetentionResult> {
  const { store, compact } = openErasure(settings, 'retention');
  try {
    return await eraseExpired(store, { keepMs: settings.retentionDeleted, clock, signal, compact });
  } finally {
    await store.close();
  }
}

export async function backUpMirror(settings: Settings, to: string, signal?: AbortSignal): Promise<Backup> {
  return await backUp(mirrorOf(settings), to, signal);
}

/** Renews the one checked copy that the service keeps in the data folder. */
export async function keepMirrorBackup(settings: Settings, signal?: AbortSignal): Promise<Backup> {
  return await keepBackup(mirrorOf(settings), join(settings.dataDir, 'backup'), signal);
}

/** After an erasure: a copy from before it must not stay. False where there was none. */
export async function renewMirrorBackup(settings: Settings, signal?: AbortSignal): Promise<boolean> {
  const old = keptBackup(join(settings.dataDir, 'backup'));
  if (!existsSync(old)) return false;
  rmSync(old);
  await keepMirrorBackup(settings, signal);
  return true;
}

/** What the service keeps on disk: how old its copies are, and how large its files. Null and left out where there is none. */
export function keptFiles({ dataDir, exportDir, mirrorPath }: Settings): {
  backupAt: number | null;
  exportAt: number | null;
  sizes: { file: string; bytes: number }[];
} {
  const found = (path: string) => statSync(path, { throwIfNoEntry: false });
  const paths = { mirror: mirrorPath, wal: `${mirrorPath}-wal`, queue: join(dataDir, 'queue.db') };
  return {
    backupAt: found(keptBackup(join(dataDir, 'backup')))?.mtimeMs ?? null,
    exportAt: found(join(exportDir, 'latest.json'))?.mtimeMs ?? null,
    sizes: Object.entries(paths).flatMap(([file, path]) => {
      const there = found(path);
      return there ? [{ file, bytes: there.size }] : [];
    }),
  };
}
