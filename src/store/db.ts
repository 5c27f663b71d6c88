import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../base/errors.ts';
import { migrate } from './migrate.ts';

export type Db = Database.Database;

/** 'FBMR', written by the first migration. */
const APPLICATION_ID = 0x46424d52;
/** Below this version a bug in resetting the write-ahead log can corrupt a database. */
const OLDEST_SQLITE = [3, 51, 3] as const;
const BUSY_MS = 5000;

export interface OpenOptions {
  path: string;
  /** The base URL this mirror belongs to. */
  upstream: string;
}

/** Opens the mirror for writing; a new file is created, a foreign or mismatched one is refused before anything is written. */
export function openForWriting({ path, upstream }: OpenOptions): Db {
  refuseOldSqlite();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const isNew = !existsSync(path);
  if (!isNew) checkBelongs(path, upstream);
  const db = new Database(path, { timeout: BUSY_MS });
  if (isNew) chmodSync(path, 0o600);
  db.pragma('journal_mode = WAL');
  // A page and its checkpoint commit together, so losing the last ones to a power cut only means reading them again.
  // The outbox, where a commit is a promise, opens its own connection with FULL.
  db.pragma('synchronous = NORMAL');
  db.pragma('wal_autocheckpoint = 4000');
  db.pragma('cache_size = -32000');
  migrate(db);
  claim(db, upstream);
  return db;
}

/** Opens an existing mirror for reading only: no write reaches it through this handle. */
export function openForReading({ path, upstream }: OpenOptions): Db {
  refuseOldSqlite();
  if (!existsSync(path)) {
    throw new AppError('usage', `there is no mirror at ${path} yet`, {
      hint: 'Run "feedback-mirror sync" first.',
    });
  }
  checkBelongs(path, upstream);
  const db = new Database(path, { readonly: true, timeout: BUSY_MS });
  db.pragma('query_only = 1');
  return db;
}

function refuseOldSqlite(): void {
  const db = new Database(':memory:');
  const version = db.prepare('SELECT sqlite_version()').pluck().get() as string;
  db.close();
  if (isOlder(version.split('.').map(Number))) {
    throw new AppError(
      'usage',
      `SQLite ${version} can corrupt its write-ahead log; at least ${OLDEST_SQLITE.join('.')} is needed`,
      {
        hint: 'Run "npm ci" to install the version this program was made for.',
      },
    );
  }
}

export function isOlder(version: number[]): boolean {
  for (const [i, least] of OLDEST_SQLITE.entries()) {
    const part = version[i] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

function checkBelongs(path: string, upstream: string): void {
  const db = openToLook(path);
  try {
    const id = db.pragma('application_id', { simple: true });
    const empty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
    if (empty) return;
    if (id !== APPLICATION_ID)
      throw new AppError('usage', `${path} is an SQLite database of another program`, {
        hint: 'Point MIRROR_PATH elsewhere.',
      });
    refuseOtherUpstream(db, path, upstream);
  } finally {
    db.close();
  }
}

function openToLook(path: string): Db {
  try {
    const db = new Database(path, { readonly: true, timeout: BUSY_MS });
    db.pragma('schema_version');
    return db;
  } catch (error) {
    throw new AppError('usage', `${path} cannot be opened as an SQLite database`, {
      cause: error,
      hint: 'Point MIRROR_PATH elsewhere, or restore a backup.',
    });
  }
}

function refuseOtherUpstream(db: Db, path: string, upstream: string): void {
  const owner = db.prepare("SELECT value FROM meta WHERE key = 'upstream'").pluck().get() as
    | string
    | undefined;
  if (owner === undefined || owner === upstream) return;
  throw new AppError(
    'usage',
    `the mirror ${path} belongs to ${owner}, not to ${upstream}; nothing was written`,
    {
      hint: 'Set DATA_DIR to a folder of its own for each upstream.',
    },
  );
}

/** Only the first opener writes; every later one has been checked already. */
function claim(db: Db, upstream: string): void {
  const owner = db.prepare("SELECT value FROM meta WHERE key = 'upstream'").pluck().get();
  if (owner !== undefined) return;
  db.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('upstream', ?)").run(upstream);
  refuseOtherUpstream(db, db.name, upstream);
}
