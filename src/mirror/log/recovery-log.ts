import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../base/errors.ts';
import { createPrivately, isThere, makeFolder } from '../../base/files.ts';
import { boundLog, type Db, logAhead, type OpenOptions } from '../../db/open.ts';
import { immediate, readMeta, scalar, writeMeta } from '../../db/sql.ts';
import type { NewRow } from '../../outbox/decide/types.ts';

/** Who was erased, without telling who it was. */
export interface Erasures {
  /** Tells the key under which the hashes were made; null where there are none. */
  keyCheck: string | null;
  hashes: { hash: string; since: string }[];
  users: { user_id: number; hash: string }[];
}

const SCHEMA = `
  CREATE TABLE heads (mirror_id TEXT PRIMARY KEY, head TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE claims (source_key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE erasures (hash TEXT PRIMARY KEY, since TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE erased_users (user_id INTEGER PRIMARY KEY, hash TEXT NOT NULL) STRICT;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA user_version = 1;`;

/** The log is in the data folder, never beside a mirror that is elsewhere: a person who puts the mirror back must not put the log back too. */
export function dataFolderOf({ path, dataDir }: Pick<OpenOptions, 'path' | 'dataDir'>): string {
  return dataDir ?? dirname(path);
}

export function openRecoveryLog(options: OpenOptions): RecoveryLog {
  const path = logPath(options);
  makeFolder(dirname(path));
  createPrivately(path);
  return opened(path, () => {
    const db = new Database(path, { timeout: BUSY_MS });
    logAhead(db);
    // A claim is recorded before its first byte leaves; one flush for each, as for the claim itself.
    db.pragma('synchronous = FULL');
    boundLog(db, 250);
    db.transaction(() => {
      if (db.pragma('user_version', { simple: true }) === 0) db.exec(SCHEMA);
    }).immediate();
    return db;
  });
}

/** For those who only read; null where the data folder remembers nothing. */
export function readRecoveryLog(options: OpenOptions): RecoveryLog | null {
  const path = logPath(options);
  if (!isThere(path)) return null;
  return opened(path, () => {
    const db = new Database(path, { readonly: true, timeout: BUSY_MS });
    if (db.pragma('user_version', { simple: true }) !== 0) return db;
    db.close();
    return null;
  });
}

const BUSY_MS = 5000;

function logPath(options: OpenOptions): string {
  return join(dataFolderOf(options), 'recovery.db');
}

function opened<D extends Db | null>(path: string, open: () => D): D extends null ? null : RecoveryLog;
function opened(path: string, open: () => Db | null): RecoveryLog | null {
  try {
    const db = open();
    return db && recoveryLog(db);
  } catch (error) {
    if (!(error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code))) throw error;
    throw new AppError('storage', `${path} is damaged: what was sent and erased cannot be told from it`, {
      cause: error,
      hint: 'Move it away. The mirror then counts as an older copy, and people erased since its last backup have to be erased again.',
    });
  }
}

interface Claimed {
  mirrorId: string;
  head: string;
  row: Pick<NewRow, 'source_key' | 'content_hash'>;
}

export type RecoveryLog = ReturnType<typeof recoveryLog>;

/**
 * What the data folder remembers outside of the mirror's file. A mirror that was put back to an earlier state cannot know what it
 * did afterwards; this file does: the last claim of each mirror, the rows that were claimed, and the people who were erased.
 */
function recoveryLog(db: Db) {
  const readHead = scalar(db)<[string], string>('SELECT head FROM heads WHERE mirror_id = ?');
  const writeHead = db.prepare(`
    INSERT INTO heads VALUES (?, ?) ON CONFLICT DO UPDATE SET head = excluded.head`);
  const writeClaim = db.prepare('INSERT INTO claims VALUES (?) ON CONFLICT DO NOTHING');
  const isClaimed = db.prepare('SELECT 1 FROM claims WHERE source_key = ?');
  const setHead = (mirrorId: string, head: string): void => void writeHead.run(mirrorId, head);
  return {
    /** The token of the last claim of this mirror; null where the data folder does not know the mirror. */
    head: (mirrorId: string): string | null => readHead.get(mirrorId) ?? null,
    setHead,
    /** A claim, on disk when this returns: the new head, and the key and the words by which the same source row is recognised. */
    recordClaim: immediate(db, ({ mirrorId, head, row }: Claimed): void => {
      setHead(mirrorId, head);
      writeClaim.run(keyHash(row.source_key));
      writeClaim.run(wordsHash(row));
    }),
    /** A row of a file also by its words: the file may have other columns by now, or call the board otherwise. */
    wasClaimed: (row: Claimed['row']): boolean =>
      isClaimed.get(keyHash(row.source_key)) !== undefined ||
      (/^(row|key):/.test(row.source_key) && isClaimed.get(wordsHash(row)) !== undefined),
    erasures: (): Erasures => ({
      keyCheck: readMeta(db, 'key_check') ?? null,
      hashes: db.prepare<[], Erasures['hashes'][number]>('SELECT hash, since FROM erasures').all(),
      users: db.prepare<[], Erasures['users'][number]>('SELECT user_id, hash FROM erased_users').all(),
    }),
    addErasures: immediate(db, ({ keyCheck, hashes, users }: Erasures): void => {
      const addHash = db.prepare('INSERT INTO erasures VALUES (?, ?) ON CONFLICT DO NOTHING');
      const addUser = db.prepare(`
        INSERT INTO erased_users VALUES (?, ?) ON CONFLICT DO UPDATE SET hash = excluded.hash`);
      if (keyCheck !== null) writeMeta(db, 'key_check', keyCheck);
      for (const { hash: made, since } of hashes) addHash.run(made, since);
      for (const { user_id, hash: made } of users) addUser.run(user_id, made);
    }),
    removeErasure: immediate(db, (made: string): void => {
      db.prepare('DELETE FROM erasures WHERE hash = ?').run(made);
      db.prepare('DELETE FROM erased_users WHERE hash = ?').run(made);
    }),
    /** Forgets the hashes, for when their key is lost; users known by number stay. */
    removeHashes: immediate(db, (): void => {
      db.exec("DELETE FROM erasures; DELETE FROM meta WHERE key = 'key_check'");
    }),
    close: (): void => void db.close(),
  };
}

/** Half a digest tells a billion keys apart; a key itself may hold a person's address. */
function keyHash(sourceKey: string): Buffer {
  return hash('sha256', sourceKey, 'buffer').subarray(0, 16);
}

function wordsHash({ content_hash }: Claimed['row']): Buffer {
  return keyHash(`words:${content_hash}`);
}
