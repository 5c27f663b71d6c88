import Database from 'better-sqlite3';
import { AppError } from '../base/errors.ts';
import { migrate } from '../db/migrate.ts';
import { nearest } from '../text/text.ts';
import { INSIDE_TABLES, PUBLIC_TABLES, type TableWords } from './schema-words.ts';

/** A table that people may read: what it is, and the words and the type of each column. */
export interface ReadableTable extends TableWords {
  types: Readonly<Record<string, string>>;
}

/** What there is to ask; one table of it, or all. It needs no mirror: an empty one, made in memory, has the same columns. */
export function schemaOf(table: string | null): readonly ReadableTable[] {
  const readable = readableTables();
  if (table === null) return readable;
  const found = readable.filter(({ name }) => name === table.toLowerCase());
  if (found.length > 0) return found;
  const names = readable.map(({ name }) => name);
  const near = nearest(table, names);
  throw new AppError('usage', `there is no table ${table}`, {
    hint: near === null ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
  });
}

let tables: readonly ReadableTable[] | undefined;

function readableTables(): readonly ReadableTable[] {
  if (tables) return tables;
  const db = new Database(':memory:');
  try {
    migrate(db);
    const inside = Object.entries(INSIDE_TABLES).map(([name, line]) => ({ name, line, columns: {} }));
    tables = [...PUBLIC_TABLES, ...inside].map((words) => withTypes(db, words));
    return tables;
  } finally {
    db.close();
  }
}

/** A view or the text index has no type of its own where a column is worked out; all of those are texts. */
function withTypes(db: Database.Database, { name, line, columns }: TableWords): ReadableTable {
  const found = db
    .prepare<[string, string], { name: string; type: string }>(
      `SELECT c.name, iif(t.type = 'table', c.type, iif(c.type IN ('', 'BLOB'), 'TEXT', c.type)) AS type
         FROM pragma_table_info(?) c, pragma_table_list(?) t WHERE t.schema = 'main'`,
    )
    .all(name, name);
  const described = columns as Record<string, string>;
  return {
    name,
    line,
    columns: Object.fromEntries(found.map((column) => [column.name, described[column.name] ?? ''])),
    types: Object.fromEntries(found.map((column) => [column.name, column.type])),
  };
}
