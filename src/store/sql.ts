import type { Database } from 'better-sqlite3';

/** Statements that give the first column of each row, and not the row: `scalar(db)<[id: number], string>('SELECT …')`. */
export function scalar(db: Database) {
  return <P extends unknown[] | object, V>(sql: string) => db.prepare<P, V>(sql).pluck();
}

export function countRows(db: Database, table: string): number {
  return scalar(db)<[], number>(`SELECT count(*) FROM ${table}`).get() ?? 0;
}

/** How much a copy of the mirror holds. */
export function rowsOf(db: Database) {
  return {
    posts: countRows(db, 'posts'),
    comments: countRows(db, 'comments'),
    users: countRows(db, 'users'),
    outbox: countRows(db, 'outbox'),
  };
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
