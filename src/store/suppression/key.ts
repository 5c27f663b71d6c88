import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emailKey } from '../../base/email.ts';
import { AppError } from '../../base/errors.ts';
import type { Db, OpenOptions } from '../db.ts';
import { dataFolderOf } from '../recovery-log.ts';

export type Hash = (email: string) => string;

/** In the data folder: whoever has only the mirror's file cannot try addresses against its list. */
export function keyFileOf(options: OpenOptions): string {
  return join(dataFolderOf(options), 'suppression.key');
}

/** The key of a list that is not empty. A lost key is said at once: without it people would come back unnoticed. */
export function readKey(db: Db, file: string): Hash {
  if (!existsSync(file)) throw lost(file, 'is missing');
  const hash = hasher(readFileSync(file, 'utf8').trim());
  if (storedCheck(db) !== hash(CHECK)) throw lost(file, 'is another one');
  return hash;
}

/** The key of the list as it is; null while there is none. */
export function storedKey(db: Db, file: string): Hash | null {
  return storedCheck(db) === undefined ? null : readKey(db, file);
}

/** The same, where a list that is still empty gets its key. To be called inside a transaction that writes. */
export function readOrMakeKey(db: Db, file: string): Hash {
  if (storedCheck(db) !== undefined) return readKey(db, file);
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
  const hash = hasher(readFileSync(file, 'utf8').trim());
  db.prepare("INSERT INTO meta (key, value) VALUES ('suppression_check', ?)").run(hash(CHECK));
  return hash;
}

/**
 * The key of the data folder, for a mirror that lacks erasures made under it. Where the mirror's own list was made under another key,
 * that key was given up after the mirror was copied, and its hashes say nothing any more.
 */
export function adoptKey(db: Db, file: string, check: string): Hash {
  if (!existsSync(file)) throw lost(file, 'is missing');
  const hash = hasher(readFileSync(file, 'utf8').trim());
  if (hash(CHECK) !== check) throw lost(file, 'is another one');
  if (storedCheck(db) !== check) db.prepare('DELETE FROM suppressions').run();
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('suppression_check', ?)").run(check);
  return hash;
}

/** Hashed like an address, so that the right key can be told from any other. */
const CHECK = 'check';

/** What tells the key of this mirror's list; null while the list has none. */
export function keyCheckOf(db: Db): string | null {
  return storedCheck(db) ?? null;
}

function storedCheck(db: Db): string | undefined {
  return db.prepare<[], string>("SELECT value FROM meta WHERE key = 'suppression_check'").pluck().get();
}

function hasher(key: string): Hash {
  return (email) => createHmac('sha256', key).update(emailKey(email)).digest('base64url');
}

function lost(file: string, how: string): AppError {
  return new AppError(
    'usage',
    `the key of the suppression list, ${file}, ${how}: people who were erased would come back`,
    {
      hint: 'Bring the file back from a copy of the data folder. If it is lost, "feedback-mirror erase --new-key" starts a new list.',
    },
  );
}
