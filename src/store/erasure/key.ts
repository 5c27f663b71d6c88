import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Db, OpenOptions } from '../db.ts';
import { normalised } from './words.ts';

export type Hash = (email: string) => string;

/** Beside the mirror unless said otherwise: whoever has only the file cannot try addresses against its list. */
export function keyFileOf({ path, keyFile }: OpenOptions): string {
  return keyFile ?? join(dirname(path), 'suppression.key');
}

/** The key of a list that is not empty. A lost key is said at once: without it people would come back unnoticed. */
export function readKey(db: Db, file: string): Hash {
  if (!existsSync(file)) throw lost(file, 'is missing');
  const hash = hasher(readFileSync(file, 'utf8').trim());
  if (storedCheck(db) !== hash(CHECK)) throw lost(file, 'is another one');
  return hash;
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

/** Hashed like an address, so that the right key can be told from any other. */
const CHECK = 'check';

function storedCheck(db: Db): string | undefined {
  return db.prepare<[], string>("SELECT value FROM meta WHERE key = 'suppression_check'").pluck().get();
}

function hasher(key: string): Hash {
  return (email) => createHmac('sha256', key).update(normalised(email)).digest('base64url');
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
