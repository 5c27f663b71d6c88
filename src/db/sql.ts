import type { Database } from 'better-sqlite3';

/** Statements that give the first column of each row, and not the row: `scalar(db)<[id: number], string>('SELECT …')`. */
export function scalar(db: Database) {
  return <P extends unknown[] | object, V>(sql: string) => db.prepare<P, V>(sql).pluck();
}

/** Work over a connection of its own, which is closed afterwards. */
export function closeAfter<D extends { close(): unknown }, T>(opened: D, work: (opened: D) => T): T {
  try {
    return work(opened);
  } finally {
    opened.close();
  }
}

/** The work as one transaction that has the write lock from its beginning: no upgrade of a lock can fail half-way. */
export function immediate<A extends unknown[], R>(db: Database, work: (...args: A) => R): (...args: A) => R {
  const run = db.transaction(work);
  return (...args) => run.immediate(...args) as R;
}

/** Returns a number that changes with every write of another connection. */
export function dataVersion(db: Database): () => number {
  const version = scalar(db)<[], number>('PRAGMA data_version');
  return () => version.get() ?? 0;
}

/** Keeps what was read until another connection writes. */
export function keptUntilWritten<T>(db: Database, read: () => T): () => T {
  const version = dataVersion(db);
  let kept: { version: number; value: T } | undefined;
  return () => {
    const current = version();
    if (kept?.version !== current) kept = { version: current, value: read() };
    return kept.value;
  };
}

/** For walks in small steps: the last key of the so many rows after one; null where there are none. */
export function chunkEnd(db: Database, table: string, key = 'id') {
  return scalar(db)<[after: number, rows: number], number | null>(`
    SELECT max(${key}) FROM (SELECT ${key} FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ?)`);
}

export function countRows(db: Database, table: string): number {
  return scalar(db)<[], number>(`SELECT count(*) FROM ${table}`).get() ?? 0;
}

/** The number of rows of the main tables. */
export function rowsOf(db: Database) {
  return {
    posts: countRows(db, 'posts'),
    comments: countRows(db, 'comments'),
    users: countRows(db, 'users'),
    outbox: countRows(db, 'outbox'),
  };
}

/** What is broken in a file, which is read whole; null where nothing is. */
export function damageIn(db: Database): string | null {
  const verdict = String(db.pragma('integrity_check(1)', { simple: true }));
  if (verdict !== 'ok') return verdict;
  const orphans = db.pragma('foreign_key_check') as unknown[];
  return orphans.length > 0 ? 'rows refer to rows that are not there' : null;
}

/** A database and the files that SQLite keeps beside it. */
export function filesOf(path: string): string[] {
  return ['', '-wal', '-shm', '-journal'].map((rest) => path + rest);
}

export function sqliteVersion(db: Database): string {
  return scalar(db)<[], string>('SELECT sqlite_version()').get() ?? '';
}

/** Notes that the program keeps about a mirror, in its file. */
export function readMeta(db: Database, key: string): string | undefined {
  return scalar(db)<[string], string>('SELECT value FROM meta WHERE key = ?').get(key);
}

export function writeMeta(db: Database, key: string, value: string): void {
  db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(key, value);
}

export function dropMeta(db: Database, ...keys: string[]): void {
  const drop = db.prepare('DELETE FROM meta WHERE key = ?');
  for (const key of keys) drop.run(key);
}
