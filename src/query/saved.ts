import { iso } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Db, OpenOptions } from '../db/open.ts';
import { immediate, scalar } from '../db/sql.ts';
import { openMirror } from '../mirror/file/open.ts';

export type SavedWords<K extends string> = Record<K | 'name', string>;
export type SavedItem<K extends string> = SavedWords<K> & {
  id: number;
  created_at: string;
  changed_at: string;
};
export type SavedQuery = SavedItem<'sql'>;

/** A table of items: its column beside the name, and what both are called. */
interface Kind<K extends string> {
  table: string;
  column: K;
  item: string;
  text: string;
  longest: number;
}

const QUERIES: Kind<'sql'> = {
  table: 'saved_queries',
  column: 'sql',
  item: 'query',
  text: 'a statement',
  longest: 50_000,
};
const VIEWS: Kind<'address'> = {
  table: 'saved_views',
  column: 'address',
  item: 'view',
  text: 'an address',
  longest: 4000,
};

const MOST_ITEMS = 500;
const LONGEST_NAME = 100;

export type SavedItems = ReturnType<typeof openSaved>;
export type SavedList<K extends string> = ReturnType<typeof shelfOf<K>>;

/** What people keep under a name, in the mirror's own file, so that everybody who uses it has it. */
export function openSaved(options: OpenOptions) {
  const db = openMirror(options);
  db.pragma('cache_size = -500');
  return { queries: shelfOf(db, QUERIES), views: shelfOf(db, VIEWS), close: (): void => void db.close() };
}

function shelfOf<K extends string>(db: Db, kind: Kind<K>) {
  const { table, column, item } = kind;
  type Item = SavedItem<K>;
  const list = db.prepare<[], Item>(`SELECT * FROM ${table} ORDER BY name COLLATE NOCASE, id`);
  const find = db.prepare<[number], Item>(`SELECT * FROM ${table} WHERE id = ?`);
  const insert = db.prepare<[string, string, string, string], Item>(`
    INSERT INTO ${table} (name, ${column}, created_at, changed_at) VALUES (?, ?, ?, ?) RETURNING *`);
  const update = db.prepare<[string, string, string, number], Item>(`
    UPDATE ${table} SET name = ?, ${column} = ?, changed_at = ? WHERE id = ? RETURNING *`);
  const remove = db.prepare<[number]>(`DELETE FROM ${table} WHERE id = ?`);
  const others = scalar(db)<[string, number], number>(`
    SELECT id FROM ${table} WHERE name = ? COLLATE NOCASE AND id <> ? LIMIT 1`);
  const refuseTaken = (name: string, exceptFor: number): void => {
    if (others.get(name, exceptFor) === undefined) return;
    throw new AppError('usage', `there is a saved ${item} "${name}" already`, { hint: 'Take another name.' });
  };

  const save = immediate(db, (words: SavedWords<K>, now: number): Item => {
    const { name, text } = checked(words, kind);
    refuseTaken(name, 0);
    if (list.all().length >= MOST_ITEMS)
      throw new AppError('usage', `there are ${MOST_ITEMS} of them already`, {
        hint: 'Delete one that nobody needs any more.',
      });
    const at = iso(now);
    return insert.get(name, text, at, at) as Item;
  });
  const change = immediate(db, (id: number, words: Partial<SavedWords<K>>, now: number): Item | null => {
    const before = find.get(id);
    if (!before) return null;
    const { name, text } = checked({ ...before, ...words }, kind);
    refuseTaken(name, id);
    return update.get(name, text, iso(now), id) ?? null;
  });
  return {
    /** By name. */
    list: (): Item[] => list.all(),
    save,
    /** Another name, another text, or both; null where there is no such item. */
    change,
    /** False where it was gone already. */
    remove: (id: number): boolean => remove.run(id).changes > 0,
  };
}

function checked<K extends string>(words: SavedWords<K>, { column, item, text: what, longest }: Kind<K>) {
  const found = { name: words.name.trim(), text: words[column].trim() };
  for (const [part, text, most] of [
    ['a name', found.name, LONGEST_NAME],
    [what, found.text, longest],
  ] as const) {
    if (text === '') throw new AppError('usage', `a saved ${item} needs ${part}`);
    if (text.length > most)
      throw new AppError('usage', `${part} can have ${most.toLocaleString('en')} characters at most`);
    if (!text.isWellFormed() || text.includes('\0'))
      throw new AppError('usage', `${part} can only hold characters that can be written down`);
  }
  return found;
}
