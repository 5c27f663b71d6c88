import { AppError, messageOf } from '../../base/errors.ts';
import { isBusy } from '../../db/lock.ts';
import {
  compact,
  type Db,
  OlderSchema,
  type OpenOptions,
  openForReading,
  openForWriting,
} from '../../db/open.ts';
import { closeAfter } from '../../db/sql.ts';
import { openRecoveryLog } from '../log/recovery-log.ts';
import { applyMissingErasures, bringUpToDate, lacksErasures } from './older-copy.ts';

/** The mirror for writing. An older copy is brought up to what the data folder knows before anybody gets to see it. */
export function openMirror(options: OpenOptions): Db {
  const db = openForWriting(options);
  try {
    const { erased } = closeAfter(openRecoveryLog(options), (log) => bringUpToDate(db, log, options));
    if (erased) compactIfIdle(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The mirror for reading only. People who were erased since an older copy was made are erased from it before the first read. */
export function openMirrorReadOnly(options: OpenOptions): Db {
  const db = openMigrated(options);
  try {
    if (!lacksErasures(db, options)) return db;
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  eraseBeforeReading(options);
  return openForReading(options);
}

/** The first command after an upgrade may be one that only reads. */
function openMigrated(options: OpenOptions): Db {
  try {
    return openForReading(options);
  } catch (error) {
    if (!(error instanceof OlderSchema)) throw error;
  }
  openForWriting(options).close();
  return openForReading(options);
}

function eraseBeforeReading(options: OpenOptions): void {
  let db: Db | undefined;
  try {
    db = openForWriting(options);
    applyMissingErasures(db, options);
    compactIfIdle(db);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError(
      'usage',
      `${options.path} is an older copy that holds people who were erased since, and they cannot be erased from it: ${messageOf(error)}`,
      { cause: error, hint: 'Give this program the right to write to it, or read another copy.' },
    );
  } finally {
    db?.close();
  }
}

/** If another process has the file open, the housekeeping of the night rewrites it. */
function compactIfIdle(db: Db): void {
  try {
    compact(db);
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}
