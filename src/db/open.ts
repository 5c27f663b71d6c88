import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { AppError, storageError } from '../base/errors.ts';
import { createPrivately, isThere, makeFolder, refuseForAnybody } from '../base/files.ts';
import { printable } from '../text/text.ts';
import { prepareWhenUsed } from './lazy.ts';
import { isBusy } from './lock.ts';
import { keepCopy, migrate, migrations, refuseUnknown, versionOf } from './migrate.ts';
import { readMeta, writeMeta } from './sql.ts';

export type Db = Database.Database;

/** 'FBMR', written by the schema. */
const APPLICATION_ID = 0x46424d52;
const BUSY_MS = 5000;
const BUSY_STEP_MS = 20;

export interface OpenOptions {
  path: string;
  /** The base URL this mirror belongs to. */
  upstream: string;
  /** Where the key of the suppression list and the recovery log are kept; beside the mirror unless given. */
  dataDir?: string;
  /** How long a post may take to be listed by the upstream: an older copy waits so long before it looks for what it may have sent. */
  settleMs?: number;
}

export interface StoreOptions extends OpenOptions {
  /** How much of the file is kept in memory; 32 MB unless given. */
  cacheKb?: number | undefined;
  /** Said to another process that finds a lock taken: `process 4711 (sync)`. */
  holder: string;
}

/** Opens the file for writing; a new one is created, a foreign or mismatched one is refused before anything is written. */
export function openForWriting({ path, upstream, dataDir = dirname(path) }: OpenOptions): Db {
  refuseOpenFolders(path, dataDir);
  makeFolder(dirname(path));
  if (isThere(path)) openChecked(path, upstream).db.close();
  createPrivately(path);
  let db: Db | undefined;
  try {
    db = prepareWhenUsed(new Database(path, { timeout: BUSY_MS }));
    prepare(db, upstream, dataDir);
    return db;
  } catch (error) {
    db?.close();
    throw storageError(error, path) ?? error;
  }
}

function prepare(db: Db, upstream: string, dataDir: string): void {
  logAhead(db);
  // A page and its checkpoint commit together, so losing the last ones to a power cut only means reading them again.
  // The outbox, where a commit is a promise, opens its own connection with FULL.
  db.pragma('synchronous = NORMAL');
  boundLog(db, 1000);
  db.pragma('cache_size = -32000');
  // What is deleted or overwritten becomes zeros. It costs a sweep nothing that could be measured.
  db.pragma('secure_delete = ON');
  migrate(db, migrations(), (from, to) => keepOnce(db, dataDir, from, to));
  claim(db, upstream);
}

const COPIED_FOR = 'schema_copied_for';

/** One copy for each upgrade: a mirror that another process is bringing up to date, or has left half-way, was copied before its first step. */
function keepOnce(db: Db, dataDir: string, from: number, to: number): void {
  if (readMeta(db, COPIED_FOR) === String(to)) return;
  const copy = keepCopy(db, dataDir, from);
  writeMeta(db, COPIED_FOR, String(to));
  tellMigration(db, copy, from, to);
}

/** Written to stderr at once: a large mirror takes long, and any command may be the first one after an upgrade. */
function tellMigration(db: Db, copy: string, from: number, to: number): void {
  process.stderr.write(
    `${printable(`The mirror ${db.name} has schema ${from} and is brought to schema ${to}. ${copy} is a copy of it as it was.`)}\n`,
  );
}

/**
 * The write-ahead log is emptied from so many pages of 4 KB on, and what a large transaction or a long read made of it is given back
 * afterwards: SQLite alone would keep the room for good.
 */
export function boundLog(db: Pick<Db, 'pragma'>, pages: number): void {
  db.pragma(`wal_autocheckpoint = ${pages}`);
  db.pragma(`journal_size_limit = ${pages * 4096}`);
}

/**
 * The first switch to the write-ahead log needs the file for itself, and gives up at once where other statements wait; where a program
 * still reads a file that was overwritten under it, only after as long as any statement waits.
 */
export function logAhead(db: Pick<Db, 'pragma'>, waitMs = BUSY_MS): void {
  for (const end = performance.now() + waitMs; ; ) {
    try {
      db.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= end) throw error;
    }
    pauseThread();
  }
}

function pauseThread(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_STEP_MS);
}

/** A mirror whose tables are not those that this program reads. */
export class OlderSchema extends AppError {
  constructor(path: string) {
    super('usage', `the mirror ${path} was written by an older version`, {
      hint: 'Any other command, such as "feedback-mirror status", brings it up to date and keeps a copy of it as it was.',
    });
  }
}

/** Opens a mirror of any schema version for reading only. */
export function openAsItIs({ path, upstream }: OpenOptions): Db {
  if (!isThere(path))
    throw new AppError('usage', `there is no file ${path}`, { hint: 'Give the path of a backup.' });
  const { db, version } = openChecked(path, upstream);
  if (version > 0) return db;
  db.close();
  throw new AppError('usage', `${path} is empty`, { hint: 'Give the path of a backup.' });
}

/** Opens an existing file for reading only: no write reaches it through this handle. */
export function openForReading({ path, upstream, dataDir = dirname(path) }: OpenOptions): Db {
  refuseOpenFolders(path, dataDir);
  if (!isThere(path)) throw noMirror(path);
  const { db, version } = openChecked(path, upstream);
  if (version === (migrations().at(-1)?.version ?? 0)) {
    db.pragma('query_only = 1');
    return db;
  }
  db.close();
  throw version === 0 ? noMirror(path) : new OlderSchema(path);
}

function refuseOpenFolders(path: string, dataDir: string): void {
  for (const folder of [dirname(path), dataDir]) refuseForAnybody(folder);
}

function noMirror(path: string): AppError {
  return new AppError('usage', `there is no mirror at ${path} yet`, {
    hint: 'Run "feedback-mirror sync" first.',
  });
}

/** Refuses a file that is not this upstream's mirror, without being able to change it; tells the version of its schema. */
function openChecked(path: string, upstream: string): { db: Db; version: number } {
  let db: Db | undefined;
  try {
    db = prepareWhenUsed(new Database(path, { readonly: true, timeout: BUSY_MS }));
    // In one transaction: the process that is just creating the mirror must not be seen half-way.
    return { db, version: db.transaction(checkBelongs)(db, path, upstream) };
  } catch (error) {
    db?.close();
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const isOther = error instanceof Database.SqliteError && error.code === 'SQLITE_NOTADB';
    if (!isFolder && !isOther) throw storageError(error, path) ?? error;
    throw new AppError('usage', `${path} is ${isFolder ? 'a folder' : 'not an SQLite database'}`, {
      cause: error,
      hint: 'Point MIRROR_PATH elsewhere, or restore a backup.',
    });
  }
}

function checkBelongs(db: Db, path: string, upstream: string): number {
  const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
  if (isEmpty) return 0;
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID)
    throw new AppError('usage', `${path} is an SQLite database of another program`, {
      hint: 'Point MIRROR_PATH elsewhere.',
    });
  refuseUnknown(db);
  refuseOtherUpstream(db, path, upstream);
  return versionOf(db);
}

function refuseOtherUpstream(db: Db, path: string, upstream: string): void {
  const owner = readMeta(db, 'upstream');
  if (owner === undefined || owner === upstream) return;
  throw new AppError(
    'usage',
    `the mirror ${path} belongs to ${owner}, not to ${upstream}; nothing was written`,
    { hint: 'Set DATA_DIR to a folder of its own for each upstream.' },
  );
}

/** Only the first process writes the upstream. A process that looked before that is refused here. */
function claim(db: Db, upstream: string): void {
  if (readMeta(db, 'upstream') === undefined)
    db.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('upstream', ?)").run(upstream);
  refuseOtherUpstream(db, db.name, upstream);
}

/**
 * SQLite moves rows between pages and leaves the old copies in the unused part of a page, secure_delete or not: 0.5 % of the pages in a
 * trial. Only rewriting the file takes them out; this mark says that it is due, also after a crash.
 */
export const UNCLEAN = 'unclean';

export function noteUnclean(db: Db): void {
  writeMeta(db, UNCLEAN, randomUUID());
}

/** Says that the full-text indexes hold words of texts that were edited since. */
const LEFT_WORDS = 'left_words';

export function noteLeftWords(db: Db): void {
  writeMeta(db, LEFT_WORDS, '1');
}

/** Merged into one piece, an index holds nothing but the words of the texts as they are. */
function dropLeftWords(db: Db): void {
  if (readMeta(db, LEFT_WORDS) === undefined) return;
  db.transaction(() => {
    for (const index of ['posts_text', 'comments_text'])
      db.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`);
    db.prepare('DELETE FROM meta WHERE key = ?').run(LEFT_WORDS);
  }).immediate();
}

/**
 * Empties the write-ahead log if no connection reads from it just now. SQLite would wait for readers with the lock of writers in its hand;
 * the copy in PostgreSQL reads through many turns of a process whose writers stand still meanwhile, so that neither would get on.
 * What takes time is done first, without that lock.
 */
export function emptyLog(db: Db): { isEmpty: boolean; checkpointed: number } {
  const [passive] = db.pragma('wal_checkpoint(PASSIVE)') as { checkpointed: number }[];
  const waitMs = db.pragma('busy_timeout', { simple: true });
  db.pragma('busy_timeout = 0');
  const [last] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  db.pragma(`busy_timeout = ${waitMs}`);
  return { isEmpty: last?.busy === 0, checkpointed: Math.max(0, passive?.checkpointed ?? 0) };
}

interface CompactOptions {
  /** How long a moment without readers is waited for. */
  patienceMs?: number;
  pause?: () => void;
}

/** Rewrites the file and empties the write-ahead log. False if another connection was reading, so that the log kept its content. */
export function compact(db: Db, { patienceMs = 0, pause = pauseThread }: CompactOptions = {}): boolean {
  const mark = readMeta(db, UNCLEAN);
  dropLeftWords(db);
  db.exec('VACUUM');
  for (const end = performance.now() + patienceMs; !emptyLog(db).isEmpty; pause())
    if (performance.now() >= end) return false;
  // Whatever was erased meanwhile has put another mark there.
  db.prepare('DELETE FROM meta WHERE key = ? AND value = ?').run(UNCLEAN, mark ?? '');
  return true;
}
