import { senderLockPath, takeLock } from '../../db/lock.ts';
import { type Db, noteUnclean, type OpenOptions } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import type { Erasures } from '../log/recovery-log.ts';
import { type AddressHash, adoptKey, currentList, keyFileOf } from './list.ts';
import { type ErasureWalk, type Person, personEraser } from './person.ts';
import { rowErasers } from './rows.ts';

/** The erasures that this mirror does not know; null where it knows all of them. */
export function missingErasures(db: Db, all: Erasures): Erasures | null {
  if (all.hashes.length + all.users.length === 0) return null;
  const known = new Set(scalar(db)<[], string>('SELECT hash FROM suppressions').all());
  const users = new Set(scalar(db)<[], number>('SELECT user_id FROM suppressed_users').all());
  const missing = {
    keyCheck: all.keyCheck,
    hashes: all.hashes.filter(({ hash }) => !known.has(hash)),
    users: all.users.filter(({ user_id }) => !users.has(user_id)),
  };
  return missing.hashes.length + missing.users.length > 0 ? missing : null;
}

/** Erases people again, by hash and number, in one walk inside the caller's transaction: the mirror must not be read before it is done. */
export function reapplyErasures(db: Db, options: OpenOptions, missing: Erasures, at: string): void {
  const { keyCheck, hashes, users } = missing;
  const hash: AddressHash = keyCheck === null ? () => '' : adoptKey(db, keyFileOf(options), keyCheck);
  const list = currentList(hash, new Set(hashes.map((each) => each.hash)), []);
  const isMeant = (email: string): boolean => list.hashOf(email) !== undefined;
  const found = db
    .prepare<[], { id: number; email: string }>('SELECT id, email FROM users WHERE email IS NOT NULL')
    .all()
    .flatMap(({ id, email }) => ({ user_id: id, hash: list.hashOf(email) ?? null }))
    .filter((user): user is Erasures['users'][number] => user.hash !== null);
  const people = [...users, ...found];
  suppressAll(db, { ...missing, users: people });
  const rows = rowErasers(db);
  for (const { user_id } of people) rows.user(user_id, at);
  const sending = walkAll(db, { isMeant, users: people.map(({ user_id }) => user_id) }, at);
  eraseOrphans(db, { path: options.path, holder: `process ${process.pid}` }, sending, at);
  noteUnclean(db);
}

/** Puts people on the list; returns how many of the hashes were not on it. */
export function suppressAll(db: Db, { hashes, users }: Erasures): number {
  const addHash = db.prepare('INSERT INTO suppressions (hash, since) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const addUser = db.prepare(`
    INSERT INTO suppressed_users (user_id, hash) VALUES (?, ?) ON CONFLICT DO UPDATE SET hash = excluded.hash`);
  for (const { user_id, hash } of users) addUser.run(user_id, hash);
  return hashes.filter(({ hash, since }) => addHash.run(hash, since).changes === 1).length;
}

/** Returns the rows of these people in the outbox whose state is `sending`. */
function walkAll(db: Db, person: Person, at: string): number[] {
  const eraseStep = personEraser(db);
  const sending: number[] = [];
  for (let walk: ErasureWalk | null = { place: 0, after: -1 }; walk !== null; ) {
    const step = eraseStep(person, walk, at);
    sending.push(...step.underWay);
    walk = step.next;
  }
  return sending;
}

/**
 * Erases those of the rows that are said to be on their way; returns how many. A process that gets the sender's lock knows that no other sends:
 * what still says so was left behind, or was true when an older copy was made.
 */
export function eraseOrphans(
  db: Db,
  { path, holder }: { path: string; holder: string },
  ids: readonly number[],
  at: string,
): number {
  if (ids.length === 0) return 0;
  const lock = takeLock(senderLockPath(path), `${holder}, since ${at}`);
  if (!lock.ok) return 0;
  try {
    const sending = scalar(db)<[string], number>(`
      SELECT id FROM outbox WHERE state = 'sending' AND id IN (SELECT value FROM json_each(?))`);
    const orphans = sending.all(JSON.stringify(ids));
    const rows = rowErasers(db);
    for (const id of orphans) rows.outbox(id, at);
    return orphans.length;
  } finally {
    lock.release();
  }
}
