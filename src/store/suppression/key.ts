import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emailKey } from '../../base/email.ts';
import { AppError } from '../../base/errors.ts';
import type { Db, OpenOptions } from '../db.ts';
import { dataFolderOf } from '../recovery-log.ts';
import { readMeta, writeMeta } from '../sql.ts';

export type Hash = (email: string) => string;

/** In the data folder: whoever has only the mirror's file cannot try addresses against its list. */
export function keyFileOf(options: OpenOptions): string {
  return join(dataFolderOf(options), 'suppression.key');
}

/** The key of a list that is not empty. A lost key is said at once: without it people would come back unnoticed. */
export function readKey(db: Db, file: string): Hash {
  return keyIn(file, readMeta(db, KEY_CHECK));
}

function keyIn(file: string, check: string | undefined): Hash {
  if (!existsSync(file)) throw lost(file, 'is missing');
  const hash = hasher(readFileSync(file, 'utf8').trim());
  if (hash(CHECK) !== check) throw lost(file, 'is another one');
  return hash;
}

/** The key of the list as it is; null while there is none. */
export function storedKey(db: Db, file: string): Hash | null {
  return readMeta(db, KEY_CHECK) === undefined ? null : readKey(db, file);
}

/** The same, where a list that is still empty gets its key. To be called inside a transaction that writes. */
export function readOrMakeKey(db: Db, file: string): Hash {
  if (readMeta(db, KEY_CHECK) !== undefined) return readKey(db, file);
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
  const hash = hasher(readFileSync(file, 'utf8').trim());
  writeMeta(db, KEY_CHECK, hash(CHECK));
  return hash;
}

/** The key of the data folder, for a mirror that lacks erasures made under it. Hashes under another key were given up, and say nothing any more. */
export function adoptKey(db: Db, file: string, check: string): Hash {
  const hash = keyIn(file, check);
  if (readMeta(db, KEY_CHECK) !== check) db.prepare('DELETE FROM suppressions').run();
  writeMeta(db, KEY_CHECK, check);
  return hash;
}

/** Hashed like an address, so that the right key can be told from any other. */
const CHECK = 'check';
export const KEY_CHECK = 'suppression_check';

/** What tells the key of this mirror's list; null while the list has none. */
export function keyCheckOf(db: Db): string | null {
  return readMeta(db, KEY_CHECK) ?? null;
}

function hasher(key: string): Hash {
  return (email) => createHmac('sha256', key).update(emailKey(email)).digest('base64url');
}

function lost(file: string, how: string): AppError {
  const what = `the key of the suppression list, ${file}, ${how}: people who were erased would come back`;
  const hint =
    'Bring the file back from a copy of the data folder. If it is lost, "feedback-mirror erase --new-key" starts a new list.';
  return new AppError('usage', what, { hint });
}
