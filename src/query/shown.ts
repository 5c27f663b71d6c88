import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { createRedactor, visible } from '../base/redact.ts';
import { PUBLIC_TABLES } from './schema-words.ts';

/** How a program is shown the mirror whose statements an assistant writes. */
export interface Shown {
  /** What pseudonyms are made with; null where names and addresses may be seen. */
  key: Uint8Array | null;
  /** Whether the comments that only the team sees may be read. */
  isInternal: boolean;
}

/**
 * Views that stand in front of the tables, by the same names. Whatever a statement does with a text, it has the shown one in hand: there
 * is nothing to be taken apart, compared or guessed at behind it. The tables themselves are read by the innermost views alone, and those
 * have names that no statement can know: SQLite tells the guard the name of a view or, just so, of a part that the statement named.
 */
export function standInFront(db: DatabaseSync, { key, isInternal }: Shown): ShownViews {
  const prefix = `shown_${randomBytes(16).toString('hex')}_`;
  defineFunctions(db, key);
  const columns = db.prepare('SELECT name, type FROM pragma_table_info(?)');
  for (const table of TABLES) {
    const found = columns.all(table) as unknown as [name: string, type: string][];
    const shown = found.map(([name, type]) => `${expression(table, name, type, isInternal)} AS "${name}"`);
    db.exec(`CREATE TEMP VIEW ${prefix}${table} AS SELECT ${shown.join(', ')} FROM main.${table};
             CREATE TEMP VIEW ${table} AS SELECT * FROM ${prefix}${table}`);
  }
  // Their statements name tables, and in the temporary schema those names are the views above.
  const views = db.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'").all();
  for (const [, sql] of views as unknown as [name: string, sql: string][])
    db.exec(sql.replace(/^CREATE VIEW/, 'CREATE TEMP VIEW'));
  const names = (views as unknown as [name: string][]).map(([name]) => name);
  return { prefix, names: new Set([...TABLES, ...names]) };
}

/** What the guard has to know of them. */
export interface ShownViews {
  prefix: string;
  names: ReadonlySet<string>;
}

const TABLES = [
  'posts',
  'comments',
  'users',
  'boards',
  'statuses',
  'post_versions',
  'comment_versions',
  'commented_posts',
  'same_posts',
  'outbox',
  'outbox_attempts',
  'batches',
  'sync_runs',
] as const;

/** What there is to ask in this mode. The index of words and rows as they came would tell what the views leave out. */
export const SHOWN_TABLES = PUBLIC_TABLES.filter(
  ({ name }) => !['posts_text', 'comments_text', 'quarantine', 'outbox_edits'].includes(name),
);

export const SHOWN_FUNCTIONS = ['shown_text', 'shown_email', 'shown_name'] as const;

function defineFunctions(db: DatabaseSync, key: Uint8Array | null): void {
  const redactor = key && createRedactor(key);
  const text = (given: unknown): string => {
    const seen = visible(String(given));
    return redactor ? redactor.text(seen) : seen;
  };
  const on = <T>(value: unknown, show: () => T): T | null => (value === null ? null : show());
  const [textName, emailName, nameName] = SHOWN_FUNCTIONS;
  const options = { deterministic: true };
  db.function(textName, options, (given) => on(given, () => text(given)));
  db.function(emailName, options, (given) =>
    on(given, () => (redactor ? redactor.email(String(given)) : text(given))),
  );
  db.function(nameName, options, (given, person) =>
    on(given, () => (redactor ? redactor.person(String(person ?? given)) : text(given))),
  );
}

/** Without need of a look: numbers, times, and words that the program itself chose. */
const OURS = /^(created|registered|state|kind|outcome|resource|mode|batch)$|_at$/;
/** Named by the owner of the service and by no customer; joined to every post, they would cost a second in a large mirror. */
const OWNERS = ['boards', 'statuses'];
/** Whatever else the upstream sent, and what is made of hidden texts. */
const LEFT_OUT = ['extra', 'source_key', 'content_hash'];
const NAMES: Readonly<Record<string, string>> = {
  'users.name': "'user:' || id",
  'users.alias': "'user:' || id",
  'outbox.full_name': 'email',
};

function expression(table: string, column: string, type: string, isInternal: boolean): string {
  if (LEFT_OUT.includes(column)) return 'NULL';
  if (type !== 'TEXT' || OURS.test(column) || OWNERS.includes(table)) return column;
  const person = NAMES[`${table}.${column}`];
  if (person !== undefined) return `shown_name(${column}, ${person})`;
  if (column === 'email') return 'shown_email(email)';
  const isComment = column === 'content' && table.startsWith('comment');
  return isComment && !isInternal ? 'iif(internal, NULL, shown_text(content))' : `shown_text(${column})`;
}
