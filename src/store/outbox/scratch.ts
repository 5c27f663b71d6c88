import Database from 'better-sqlite3';

export type Scratch = ReturnType<typeof openScratch>;

/** A memory for large sets that spills to a private, unnamed file instead of filling the process: gone when it is closed. */
export function openScratch() {
  // An empty name is SQLite's own temporary database: deleted from the folder as soon as it is opened.
  const db = new Database('');
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -8000');
  db.exec(`CREATE TABLE seen (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key))
           STRICT, WITHOUT ROWID`);
  const find = db
    .prepare<[string, string], string>('SELECT value FROM seen WHERE kind = ? AND key = ?')
    .pluck();
  const add = db.prepare('INSERT INTO seen (kind, key, value) VALUES (?, ?, ?)');
  const remember = db.transaction((kind: string, pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([key, value]) => {
      const before = find.get(kind, key) ?? null;
      if (before === null) add.run(kind, key, value);
      return before;
    }),
  );
  return {
    /** Remembers a value under each key, unless there is one; returns what was there before, or null. */
    remember: (kind: string, pairs: readonly (readonly [key: string, value: string])[]) =>
      remember(kind, pairs),
    close: (): void => void db.close(),
  };
}
