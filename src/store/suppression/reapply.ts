import { type Db, noteUnclean, type OpenOptions } from '../db.ts';
import type { Walk } from '../erasure/types.ts';
import { senderLockPath, takeLock } from '../lock.ts';
import type { Erasures } from '../recovery-log.ts';
import { scalar } from '../sql.ts';
import { adoptKey, type Hash, keyFileOf } from './key.ts';
import { currentList } from './list.ts';
import { personEraser } from './person.ts';
import { type RowErasers, rowErasers } from './rows.ts';

/** Those of the erasures that this mirror does not know; null where it knows them all. */
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

/** Erases people again, by hash and number, in one walk inside the caller's transaction: nobody may read the mirror before it is done. */
export function reapplyErasures(db: Db, options: OpenOptions, missing: Erasures, at: string): void {
  const { keyCheck, hashes, users } = missing;
  const hash: Hash = keyCheck === null ? () => '' : adoptKey(db, keyFileOf(options), keyCheck);
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
  eraseIfIdle(options.path, sending, rows, at);
  noteUnclean(db);
}

function suppressAll(db: Db, { hashes, users }: Erasures): void {
  const addHash = db.prepare('INSERT INTO suppressions (hash, since) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const addUser = db.prepare(`
    INSERT INTO suppressed_users (user_id, hash) VALUES (?, ?) ON CONFLICT DO UPDATE SET hash = excluded.hash`);
  for (const { hash, since } of hashes) addHash.run(hash, since);
  for (const { user_id, hash } of users) addUser.run(user_id, hash);
}

/** Returns the people's rows of the outbox that the mirror says are being sent. */
function walkAll(db: Db, person: Parameters<ReturnType<typeof personEraser>>[0], at: string): number[] {
  const eraseStep = personEraser(db);
  const sending: number[] = [];
  for (let walk: Walk | null = { place: 0, after: -1 }; walk !== null; ) {
    const step = eraseStep(person, walk, at);
    sending.push(...step.underWay);
    walk = step.next;
  }
  return sending;
}

/** Where nobody has the sender's lock nobody sends: what an older copy says about it was true when the copy was made. */
function eraseIfIdle(path: string, sending: readonly number[], rows: RowErasers, at: string): void {
  if (sending.length === 0) return;
  const lock = takeLock(senderLockPath(path), `process ${process.pid}, since ${at}`);
  if (!lock.ok) return;
  for (const id of sending) rows.outbox(id, at);
  lock.release();
}
