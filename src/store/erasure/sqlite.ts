import { emailKey } from '../../base/email.ts';
import type { Db, OpenOptions } from '../db.ts';
import { takeLock } from '../lock.ts';
import type { SqliteStoreOptions } from '../mirror/sqlite.ts';
import { openMirror } from '../open.ts';
import { senderLockPath } from '../outbox/sender-lock.ts';
import { openRecoveryLog, type RecoveryLog } from '../recovery-log.ts';
import { noteUnclean } from './compaction.ts';
import { expiry } from './expire.ts';
import { keyCheckOf, keyFileOf, readKey, readOrMakeKey } from './key.ts';
import { personEraser } from './person.ts';
import { rowErasers } from './rows.ts';
import type { ErasureStore, Suppressed } from './seam.ts';

/** Erasing in the mirror's file, over a connection of its own: every other one notices that something was written behind its back. */
export function openSqliteErasure(options: SqliteStoreOptions): ErasureStore {
  const db = openMirror(options);
  // Whoever was told that they are erased stays so after a power cut.
  db.pragma('synchronous = FULL');
  const wholly = <T>(work: () => T): Promise<T> => Promise.resolve(db.transaction(work).immediate());
  const eraseStep = personEraser(db);
  const { expire, retire } = expiry(db);
  const list = suppressing(db, options);
  return {
    suppress: async (email, now) => await wholly(() => list.suppress(emailKey(email), iso(now))),
    lift: async (email) => await wholly(() => list.lift(emailKey(email))),
    newKey: async () => await wholly(list.newKey),
    erase: async (person, walk, now) =>
      await wholly(() => noting(db, eraseStep(person, walk ?? { place: 0, after: -1 }, iso(now)))),
    eraseOrphans: async (ids, now) => await wholly(() => eraseOrphans(db, options, ids, iso(now))),
    expire: async (before, now) => await wholly(() => noting(db, expire(iso(before), iso(now)))),
    retire: async (walk, now) => await wholly(() => retire(walk, iso(now))),
    isUnclean: async () => db.prepare("SELECT 1 FROM meta WHERE key = 'unclean'").get() !== undefined,
    async close() {
      db.close();
    },
  };
}

function noting<T extends { counts: object }>(db: Db, step: T): T {
  if (Object.values(step.counts).some((n) => n > 0)) noteUnclean(db);
  return step;
}

/** What changes the list is written into the data folder's log before it is committed here: a crash between the two is caught up with. */
function suppressing(db: Db, options: OpenOptions) {
  const keyFile = keyFileOf(options);
  const logged = (work: (log: RecoveryLog) => void): void => {
    const log = openRecoveryLog(options);
    try {
      work(log);
    } finally {
      log.close();
    }
  };
  const add = db.prepare('INSERT INTO suppressions (hash, since) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const addUser = db.prepare(
    'INSERT INTO suppressed_users (user_id, hash) VALUES (?, ?) ON CONFLICT DO UPDATE SET hash = excluded.hash',
  );
  const remove = db.prepare('DELETE FROM suppressions WHERE hash = ?');
  const removeUsers = db.prepare('DELETE FROM suppressed_users WHERE hash = ?');
  const known = db.prepare<[string], number>('SELECT user_id FROM suppressed_users WHERE hash = ?').pluck();
  const people = db.prepare<[], { id: number; email: string }>(
    'SELECT id, email FROM users WHERE email IS NOT NULL',
  );
  const rows = rowErasers(db);
  return {
    suppress(email: string, at: string): Suppressed {
      const hash = readOrMakeKey(db, keyFile)(email);
      const isNew = add.run(hash, at).changes === 1;
      // By our own comparison of addresses, which an index does not know.
      const found = people.all().filter((user) => emailKey(user.email) === email);
      const users = [...new Set([...known.all(hash), ...found.map((user) => user.id)])];
      for (const id of users) addUser.run(id, hash);
      logged((log) =>
        log.addErasures({
          keyCheck: keyCheckOf(db),
          hashes: [{ hash, since: at }],
          users: users.map((user_id) => ({ user_id, hash })),
        }),
      );
      const erasedUsers = users.filter((id) => rows.user(id, at)).length;
      noteUnclean(db);
      const isMeant = (other: string): boolean => emailKey(other) === email;
      return { isMeant, users, hash, isNew, erasedUsers };
    },
    lift(email: string): boolean {
      if (db.prepare('SELECT 1 FROM suppressions').get() === undefined) return false;
      const hash = readKey(db, keyFile)(email);
      removeUsers.run(hash);
      logged((log) => log.removeErasure(hash));
      return remove.run(hash).changes === 1;
    },
    newKey(): number {
      logged((log) => log.removeHashes());
      db.prepare("DELETE FROM meta WHERE key = 'suppression_check'").run();
      return db.prepare('DELETE FROM suppressions').run().changes;
    },
  };
}

/** Whoever gets the sender's lock knows that nobody sends: what still says so was left behind. */
function eraseOrphans(db: Db, options: SqliteStoreOptions, ids: readonly number[], at: string): number {
  const lock = takeLock(senderLockPath(options.path), `${options.holder}, since ${at}`);
  if (!lock.ok) return 0;
  try {
    const orphans = db
      .prepare<[string], number>(
        "SELECT id FROM outbox WHERE state = 'sending' AND id IN (SELECT value FROM json_each(?))",
      )
      .pluck()
      .all(JSON.stringify(ids));
    const rows = rowErasers(db);
    for (const id of orphans) rows.outbox(id, at);
    return orphans.length;
  } finally {
    lock.release();
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
