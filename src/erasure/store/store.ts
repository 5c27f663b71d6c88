import { iso } from '../../base/clock.ts';
import { type Db, noteUnclean, type OpenOptions, type StoreOptions, UNCLEAN } from '../../db/open.ts';
import { closeAfter, dropMeta, readMeta, scalar } from '../../db/sql.ts';
import { openMirror } from '../../mirror/file/open.ts';
import { openRecoveryLog, type RecoveryLog } from '../../mirror/log/recovery-log.ts';
import {
  type AddressHash,
  KEY_CHECK,
  keyCheckOf,
  keyFileOf,
  readKey,
  readOrMakeKey,
  storedKey,
} from '../../mirror/suppression/list.ts';
import {
  type ErasureStep,
  type ErasureWalk,
  type Person,
  personEraser,
} from '../../mirror/suppression/person.ts';
import { eraseOrphans, suppressAll } from '../../mirror/suppression/reapply.ts';
import { rowErasers } from '../../mirror/suppression/rows.ts';
import { ERASED } from '../../mirror/suppression/words.ts';
import { emailKey, isAddress } from '../../text/email.ts';
import { type ExpiredCounts, expiry, type RetireWalk } from './expire.ts';

/** An address, or the upstream's number of a user who has none. */
export type PersonKey = string | number;

export interface FoundPerson extends Person {
  /** The address, also where a user who has one was asked for by number. */
  whom: PersonKey;
  isSuppressed: boolean;
  /** How many users have something left to erase. */
  namedUsers: number;
  /** Texts that show the person in a file; none where only a number is known. */
  needles: string[];
}

interface Suppressed extends Person {
  /** Tells one erasure from another without telling whose it was. */
  hash: string;
  /** False when the address was on the list already. */
  isNew: boolean;
  /** How many users had something left to erase. */
  erasedUsers: number;
}

export type ErasureStore = ReturnType<typeof openErasureStore>;

/**
 * What erasing means here, whole:
 *
 * A person is every user of the mirror with the address, in any spelling. Erased are that user's address, name, alias and
 * undocumented fields, and the title, text, link and undocumented fields of each post and comment of theirs, also of one that the service
 * gave to somebody else as long as it has the words that it had under their name: in the tables, in the history, in the short forms
 * beside comments, in the full-text index, in the quarantine and in the outbox. Ids, authorship, boards, states, votes and times stay, so
 * that counts and references hold. The address itself is taken out of what anybody else wrote, names of boards and states included; a
 * name in somebody else's text stays, because the text does not say whose it is, but in JSON it goes where it stands beside the address or the
 * user's number.
 *
 * From then on a keyed hash of the address and the user's number keep later pages from bringing any of it back.
 *
 * Over a connection of its own: every other one notices that something was written behind its back.
 */
export function openErasureStore(options: StoreOptions) {
  const db = openMirror(options);
  // A person who was told that they are erased stays so after a power cut.
  db.pragma('synchronous = FULL');
  const commit = <T>(work: () => T): T => db.transaction(work).immediate();
  const eraseStep = personEraser(db);
  const startOr = (walk: ErasureWalk | null): ErasureWalk => walk ?? { place: 0, after: -1 };
  const { expire, retire } = expiry(db);
  const list = suppressing(db, options);
  const unknownAuthors = scalar(db)<[], number>(`
    SELECT count(*) FROM post_versions
     WHERE creator_id IS NULL AND (title NOT IN ('', '${ERASED}') OR content NOT IN ('', '${ERASED}'))`);
  return {
    /** Who that is here; changes nothing. */
    find: list.find,
    /** Adds a person to the list and erases their users. Later pages do not bring them back. */
    suppress: (whom: PersonKey, now: number): Suppressed => commit(() => list.suppress(whom, iso(now))),
    /** Removes a person from the list. False if they were not on it. */
    lift: (whom: PersonKey): boolean => commit(() => list.lift(whom)),
    /** Forgets the hashes, for when their key is lost; returns how many. People known by number stay on the list. */
    newKey: (): number => commit(list.newKey),
    /** The next piece of what is left of a person; start with null. */
    erase: (person: Person, walk: ErasureWalk | null, now: number): ErasureStep =>
      commit(() => noting(db, eraseStep(person, startOr(walk), iso(now)))),
    /** The same piece, undone before anybody sees it: what `erase` would do. */
    preview: (person: Person, walk: ErasureWalk | null, now: number): ErasureStep =>
      undone(db, () => eraseStep(person, startOr(walk), iso(now))),
    /** Erases those of the person's rows in `sending` that a dead sender left behind; none while a sender lives. Returns how many. */
    eraseOrphans: (ids: readonly number[], now: number): number =>
      commit(() => eraseOrphans(db, options, ids, iso(now))),
    /** Erases some of the rows that were deleted before the given moment; true while there may be more. */
    expire: (before: number, now: number): { counts: ExpiredCounts; more: boolean } =>
      commit(() => noting(db, expire(iso(before), iso(now)))),
    /** The next piece of looking for authors of whom nothing is left; start with null, which is also where it ends. */
    retire: (walk: RetireWalk | null, now: number) => commit(() => retire(walk, iso(now))),
    /** How many old versions of posts have words, and do not say whose. */
    unknownAuthors: (): number => unknownAuthors.get() ?? 0,
    /** Whether something was erased of which copies may still lie in unused parts of the file. */
    isUnclean: (): boolean => readMeta(db, UNCLEAN) !== undefined,
    close: (): void => void db.close(),
  };
}

function undone<T>(db: Db, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    return work();
  } finally {
    db.exec('ROLLBACK');
  }
}

function noting<T extends { counts: object }>(db: Db, step: T): T {
  if (Object.values(step.counts).some((n) => n > 0)) noteUnclean(db);
  return step;
}

/** What changes the list is written into the data folder's log before it is committed here: a crash between the two is caught up with. */
function suppressing(db: Db, options: OpenOptions) {
  const keyFile = keyFileOf(options);
  const logged = (work: (log: RecoveryLog) => void): void => closeAfter(openRecoveryLog(options), work);
  const remove = db.prepare('DELETE FROM suppressions WHERE hash = ?');
  const removeUsers = db.prepare('DELETE FROM suppressed_users WHERE hash = ?');
  const find = personFinder(db);
  const rows = rowErasers(db);
  return {
    find: (whom: PersonKey): FoundPerson => find(whom, storedKey(db, keyFile)),
    suppress(asked: PersonKey, at: string): Suppressed {
      const key = readOrMakeKey(db, keyFile);
      const { whom, users, isMeant } = find(asked, key);
      const hash = key(subjectOf(whom));
      const listed = users.map((user_id) => ({ user_id, hash }));
      const erasures = { keyCheck: keyCheckOf(db), hashes: [{ hash, since: at }], users: listed };
      const isNew = suppressAll(db, erasures) === 1;
      logged((log) => log.addErasures(erasures));
      const erasedUsers = users.filter((id) => rows.user(id, at)).length;
      noteUnclean(db);
      return { isMeant, users, hash, isNew, erasedUsers };
    },
    lift(whom: PersonKey): boolean {
      if (db.prepare('SELECT 1 FROM suppressions').get() === undefined) return false;
      const hash = readKey(db, keyFile)(subjectOf(whom));
      removeUsers.run(hash);
      logged((log) => log.removeErasure(hash));
      return remove.run(hash).changes === 1;
    },
    newKey(): number {
      logged((log) => log.removeHashes());
      dropMeta(db, KEY_CHECK);
      return db.prepare('DELETE FROM suppressions').run().changes;
    },
  };
}

/** What is hashed for the list; no address looks like a number of ours. */
function subjectOf(whom: PersonKey): string {
  return typeof whom === 'number' ? `user:${whom}` : whom;
}

interface UserRow {
  id: number;
  email: string | null;
  name: string | null;
  alias: string | null;
  is_named: number;
}

function personFinder(db: Db): (whom: PersonKey, key: AddressHash | null) => FoundPerson {
  const columns = 'id, email, name, alias, coalesce(email, name, alias, extra) IS NOT NULL AS is_named';
  const byId = db.prepare<[number], UserRow>(`SELECT ${columns} FROM users WHERE id = ?`);
  const addressed = db.prepare<[], UserRow>(`SELECT ${columns} FROM users WHERE email IS NOT NULL`);
  const known = scalar(db)<[string], number>('SELECT user_id FROM suppressed_users WHERE hash = ?');
  const listed = db.prepare('SELECT 1 FROM suppressions WHERE hash = ?');
  const listedUser = db.prepare('SELECT 1 FROM suppressed_users WHERE user_id = ?');
  return (asked, key) => {
    const row = typeof asked === 'number' ? byId.get(asked) : undefined;
    const whom = row?.email && isAddress(row.email) ? row.email : asked;
    const email = typeof whom === 'string' ? emailKey(whom) : null;
    const hash = key?.(subjectOf(whom)) ?? '';
    const isMeant = (other: string): boolean => email !== null && emailKey(other) === email;
    // By our own comparison of addresses, which an index does not know.
    const found = email === null ? [row] : addressed.all().filter((user) => isMeant(user.email ?? ''));
    const present = found.filter((user) => user !== undefined);
    const users = [...new Set([...known.all(hash), ...present.map(({ id }) => id)])];
    const isSuppressed =
      listed.get(hash) !== undefined || (typeof whom === 'number' && listedUser.get(whom) !== undefined);
    const namedUsers = present.filter(({ is_named }) => is_named === 1).length;
    const needles = email === null ? [row?.name, row?.alias].filter((name) => name != null) : [email];
    return { whom, users, isMeant, isSuppressed, namedUsers, needles };
  };
}
