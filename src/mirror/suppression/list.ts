import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { countRows, keptUntilWritten, readMeta, scalar, writeMeta } from '../../db/sql.ts';
import { emailKey } from '../../text/email.ts';
import type { UnreadableList } from '../decide/types.ts';
import { dataFolderOf } from '../log/recovery-log.ts';
import { KEY_HINT } from './key-text.ts';
import { type Scrubber, scrubber } from './words.ts';

/** Who must not come back, as a connection last read it. */
export interface CurrentList {
  ids: Set<number>;
  /** The hash of an address on the list; undefined for any other. */
  hashOf(email: string): string | undefined;
  scrub: Scrubber;
}

/** A post in the name of an erased person brings new data about them. A person decides about it. */
export const SUPPRESSED =
  'is for a customer who was erased; "feedback-mirror erase --email … --lift" ends that';

export function suppressedPerson(): AppError {
  return new AppError('usage', 'this post is for a customer who was erased; nothing was taken in', {
    hint: 'If they agree to be known again, "feedback-mirror erase --email … --lift" ends it.',
  });
}

/** The present list, or null if it is empty. Read again only after another connection has written. */
export function suppressionList(db: Db, options: OpenOptions): () => CurrentList | null {
  const isUsed = scalar(db)<[], number>(`
    SELECT EXISTS (SELECT 1 FROM suppressions) OR EXISTS (SELECT 1 FROM suppressed_users)`);
  const hashes = scalar(db)<[], string>('SELECT hash FROM suppressions');
  const users = scalar(db)<[], number>('SELECT user_id FROM suppressed_users');
  return keptUntilWritten(db, () => {
    if (!isUsed.get()) return null;
    return currentList(readableKey(db, options, hashes.all()), new Set(hashes.all()), users.all());
  });
}

/** A list of numbers alone needs no key. It stands so after the key was replaced. */
function readableKey(db: Db, options: OpenOptions, hashes: readonly string[]): AddressHash {
  return hashes.length === 0 ? () => '' : readKey(db, keyFileOf(options));
}

/** The same few thousand people write most rows: each address is hashed once. */
const REMEMBERED = 20_000;

export function currentList(
  hash: AddressHash,
  hashes: ReadonlySet<string>,
  users: readonly number[],
): CurrentList {
  const verdicts = new Map<string, string | undefined>();
  const hashOf = (email: string): string | undefined => {
    if (verdicts.has(email)) return verdicts.get(email);
    const made = hash(email);
    if (verdicts.size >= REMEMBERED) verdicts.clear();
    verdicts.set(email, hashes.has(made) ? made : undefined);
    return verdicts.get(email);
  };
  const ids = new Set(users);
  const scrub = scrubber(
    (email) => hashOf(email) !== undefined,
    (id) => ids.has(id),
  );
  return { ids, hashOf, scrub };
}

export type AddressHash = (email: string) => string;

/** The key is in the data folder, so that a program with the mirror's file alone cannot try addresses against the list. */
export function keyFileOf(options: OpenOptions): string {
  return join(dataFolderOf(options), 'suppression.key');
}

/** The key of a list that is not empty. Fails if the key is lost: without it erased people would come back unnoticed. */
export function readKey(db: Db, file: string): AddressHash {
  return keyIn(file, readMeta(db, KEY_CHECK));
}

function keyIn(file: string, check: string | undefined): AddressHash {
  const fault = faultOf(file, check);
  if (fault !== null) throw lost(file, fault);
  return hasherIn(file);
}

function faultOf(file: string, check: string | undefined): 'is missing' | 'is another one' | null {
  if (!existsSync(file)) return 'is missing';
  return hasherIn(file)(CHECK) === check ? null : 'is another one';
}

/** Null while the list is empty or can be read. */
export function unreadableList(db: Db, options: OpenOptions): UnreadableList | null {
  const erasures = countRows(db, 'suppressions');
  const keyFile = keyFileOf(options);
  const fault = erasures === 0 ? null : faultOf(keyFile, readMeta(db, KEY_CHECK));
  return fault === null ? null : { erasures, keyFile, fault };
}

/** The present key of the list, or null. */
export function storedKey(db: Db, file: string): AddressHash | null {
  return readMeta(db, KEY_CHECK) === undefined ? null : readKey(db, file);
}

/** The present key. An empty list gets one. To be called inside a transaction that writes. */
export function readOrMakeKey(db: Db, file: string): AddressHash {
  if (readMeta(db, KEY_CHECK) !== undefined) return readKey(db, file);
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
  const hash = hasherIn(file);
  writeMeta(db, KEY_CHECK, hash(CHECK));
  return hash;
}

/** The key of the data folder, for a mirror that lacks erasures made under it. Hashes under another key were given up, and say nothing any more. */
export function adoptKey(db: Db, file: string, check: string): AddressHash {
  const hash = keyIn(file, check);
  if (readMeta(db, KEY_CHECK) !== check) db.prepare('DELETE FROM suppressions').run();
  writeMeta(db, KEY_CHECK, check);
  return hash;
}

/** This text is hashed like an address. Its hash tells the right key from any other. */
const CHECK = 'check';
export const KEY_CHECK = 'suppression_check';

/** The check value of the key of this mirror's list; null while the list has none. */
export function keyCheckOf(db: Db): string | null {
  return readMeta(db, KEY_CHECK) ?? null;
}

function hasherIn(file: string): AddressHash {
  const key = readFileSync(file, 'utf8').trim();
  return (email) => createHmac('sha256', key).update(emailKey(email)).digest('base64url');
}

function lost(file: string, how: string): AppError {
  const what = `the key of the suppression list, ${file}, ${how}: people who were erased would come back`;
  return new AppError('usage', what, { hint: KEY_HINT });
}
