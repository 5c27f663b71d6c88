import { AppError } from '../base/errors.ts';
import type { Db, OpenOptions } from './db.ts';
import { openMirror } from './open.ts';

/** Statements that people keep, in the mirror's own file, so that everybody who uses it has them. */
export interface SavedQueries {
  /** By name. */
  list(): SavedQuery[];
  save(words: QueryWords, now: number): SavedQuery;
  /** Another name, another statement, or both; null where there is no such query. */
  change(id: number, words: Partial<QueryWords>, now: number): SavedQuery | null;
  /** False where it was gone already. */
  remove(id: number): boolean;
  close(): void;
}

export interface QueryWords {
  name: string;
  sql: string;
}

export interface SavedQuery extends QueryWords {
  id: number;
  created_at: string;
  changed_at: string;
}

const MOST_QUERIES = 500;
const LONGEST_NAME = 100;
const LONGEST_SQL = 50_000;

export function openSavedQueries(options: OpenOptions): SavedQueries {
  const db = openMirror(options);
  db.pragma('cache_size = -500');
  const list = db.prepare<[], SavedQuery>('SELECT * FROM saved_queries ORDER BY name COLLATE NOCASE, id');
  const find = db.prepare<[number], SavedQuery>('SELECT * FROM saved_queries WHERE id = ?');
  const insert = db.prepare<[string, string, string, string], SavedQuery>(
    'INSERT INTO saved_queries (name, sql, created_at, changed_at) VALUES (?, ?, ?, ?) RETURNING *',
  );
  const update = db.prepare<[string, string, string, number], SavedQuery>(
    'UPDATE saved_queries SET name = ?, sql = ?, changed_at = ? WHERE id = ? RETURNING *',
  );
  const remove = db.prepare<[number]>('DELETE FROM saved_queries WHERE id = ?');
  const refuseTaken = takenNames(db);

  const save = db.transaction((words: QueryWords, now: number): SavedQuery => {
    const { name, sql } = checked(words);
    refuseTaken(name, 0);
    if (list.all().length >= MOST_QUERIES)
      throw new AppError('usage', `there are ${MOST_QUERIES} saved queries already`, {
        hint: 'Delete one that nobody needs any more.',
      });
    const at = new Date(now).toISOString();
    return insert.get(name, sql, at, at) as SavedQuery;
  });
  const change = db.transaction((id: number, words: Partial<QueryWords>, now: number): SavedQuery | null => {
    const before = find.get(id);
    if (!before) return null;
    const { name, sql } = checked({ ...before, ...words });
    refuseTaken(name, id);
    return update.get(name, sql, new Date(now).toISOString(), id) ?? null;
  });
  return {
    list: () => list.all(),
    save: (words, now) => save.immediate(words, now),
    change: (id, words, now) => change.immediate(id, words, now),
    remove: (id) => remove.run(id).changes > 0,
    close: () => db.close(),
  };
}

function takenNames(db: Db): (name: string, exceptFor: number) => void {
  const others = db
    .prepare<[string, number], number>(
      'SELECT id FROM saved_queries WHERE name = ? COLLATE NOCASE AND id <> ? LIMIT 1',
    )
    .pluck();
  return (name, exceptFor) => {
    if (others.get(name, exceptFor) === undefined) return;
    throw new AppError('usage', `there is a saved query "${name}" already`, { hint: 'Take another name.' });
  };
}

function checked({ name, sql }: QueryWords): QueryWords {
  const words = { name: name.trim(), sql: sql.trim() };
  for (const [what, text, longest] of [
    ['a name', words.name, LONGEST_NAME],
    ['a statement', words.sql, LONGEST_SQL],
  ] as const) {
    if (text === '') throw new AppError('usage', `a saved query needs ${what}`);
    if (text.length > longest)
      throw new AppError('usage', `${what} can have ${longest.toLocaleString('en')} characters at most`);
    if (!text.isWellFormed() || text.includes('\0'))
      throw new AppError('usage', `${what} can only hold characters that can be written down`);
  }
  return words;
}
