import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { createRedactor, hideAddresses, visible } from '../text/redact.ts';
import { PUBLIC_TABLES } from './schema-words.ts';

/** How a program is shown the mirror whose statements an assistant writes. */
export interface ShownAs {
  /** What pseudonyms are made with; null where names and addresses may be seen. */
  key: Uint8Array | null;
  /** Whether the comments that only the team sees may be read. */
  isInternal: boolean;
}

/**
 * Views in front of the tables of a mirror, by the same names, in a connection that has nothing else. Whatever a statement does with a
 * text, it has the shown one in hand: there is nothing to be taken apart, compared or guessed at behind it. A guard alone would not do:
 * SQLite does not ask it for the columns that a NATURAL or FULL JOIN compares and gives out. So the mirror itself is attached under a name that
 * no statement can know, and each name in it means a view. The innermost views have such names too: SQLite tells the guard the name of
 * a view or, just so, of a part that the statement named itself.
 */
export function createShownViews(db: DatabaseSync, path: string, { key, isInternal }: ShownAs): ShownViews {
  const secret = randomBytes(16).toString('hex');
  const [mirror, prefix] = [`mirror_${secret}`, `shown_${secret}_`];
  const url = pathToFileURL(path);
  url.search = '?mode=ro';
  db.prepare(`ATTACH ? AS ${mirror}`).run(url.href);
  defineFunctions(db, key);
  const columns = db.prepare('SELECT name, type FROM pragma_table_info(?, ?)');
  for (const table of TABLES) {
    const found = columns.all(table, mirror) as unknown as [name: string, type: string][];
    const shown = found.map(([name, type]) => `${expression(table, name, type)} AS "${name}"`);
    const which = isInternal ? 'true' : (PUBLIC[table]?.(mirror) ?? 'true');
    db.exec(`CREATE TEMP VIEW ${prefix}${table} AS SELECT ${shown.join(', ')} FROM ${mirror}.${table} WHERE ${which};
             CREATE TEMP VIEW ${table} AS SELECT * FROM ${prefix}${table}`);
  }
  return { prefix, names: new Set([...TABLES, ...standInFrontOfOthers(db, mirror)]) };
}

/** Makes the mirror's own views again: their statements name tables, and those names are the views above. Other tables show no row. */
function standInFrontOfOthers(db: DatabaseSync, mirror: string): string[] {
  // An index before the tables it is kept in: until a view stands in front of it, SQLite keeps their names for itself. VACUUM turns them round.
  const others = db.prepare(
    `SELECT name, type, sql FROM ${mirror}.sqlite_schema WHERE type IN ('table', 'view') ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC`,
  );
  const named: string[] = [];
  for (const [name, type, sql] of others.all() as unknown as [name: string, type: string, sql: string][]) {
    if ((TABLES as readonly string[]).includes(name) || name.startsWith('sqlite_')) continue;
    if (type === 'view') named.push(name);
    db.exec(
      type === 'view'
        ? sql.replace(/^CREATE VIEW/, 'CREATE TEMP VIEW')
        : `CREATE TEMP VIEW "${name}" AS SELECT NULL AS hidden WHERE false`,
    );
  }
  return named;
}

/** No view can hide the tables of SQLite itself, and its statistics hold samples of columns. */
export function namesInternalTables(sql: string): boolean {
  return /sqlite_(?!version)/i.test(sql);
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
  'segments',
  'people_segments',
  'told_people',
  'outbox',
  'outbox_attempts',
  'batches',
  'sync_runs',
] as const;

/** Of these only the team sees some rows: what a comment said while it was public is not shown once it is internal. */
const PUBLIC: Partial<Record<(typeof TABLES)[number], (mirror: string) => string>> = {
  comments: () => 'NOT internal',
  comment_versions: (mirror) =>
    `NOT internal AND comment_id IN (SELECT id FROM ${mirror}.comments WHERE NOT internal)`,
};

/** What there is to ask in this mode. The index of words and rows as they came would tell what the views leave out. */
export const SHOWN_TABLES = PUBLIC_TABLES.filter(
  ({ name }) => !['posts_text', 'comments_text', 'quarantine', 'outbox_edits'].includes(name),
);

export const SHOWN_FUNCTIONS = [
  'shown_text',
  'shown_email',
  'shown_name',
  'shown_json',
  'shown_handed_in',
] as const;

function defineFunctions(db: DatabaseSync, key: Uint8Array | null): void {
  const redactor = key && createRedactor(key);
  const text = (given: unknown): string => {
    const seen = visible(String(given));
    return redactor ? redactor.text(seen) : seen;
  };
  const on = <T>(value: unknown, show: () => T): T | null => (value === null ? null : show());
  const [textName, emailName, nameName, jsonName, handedInName] = SHOWN_FUNCTIONS;
  const options = { deterministic: true };
  db.function(textName, options, (given) => on(given, () => text(given)));
  db.function(emailName, options, (given) =>
    on(given === '' ? null : given, () => (redactor ? redactor.email(String(given)) : text(given))),
  );
  db.function(nameName, options, (given, person) =>
    on(given, () => (redactor ? redactor.person(String(person ?? given)) : text(given))),
  );
  db.function(handedInName, options, (given) =>
    on(given, () => (redactor ? hideAddresses(visible(String(given))) : text(given))),
  );
  db.function(jsonName, options, (given) =>
    on(given, () => (redactor ? redactor.json(visible(String(given)), false) : text(given))),
  );
}

/** Columns that are shown as they are: times, and words that the program itself chose. */
const OURS = /^(created|registered|state|kind|outcome|resource|mode|batch)$|_at$/;
/** Named by the owner of the service and by no customer; joined to every post, they would cost a second in a large mirror. */
const OWNERS = ['boards', 'statuses'];
/** Texts that were handed in to be sent, perhaps by the caller: a pseudonym in them would tell the caller whose it is. */
const HANDED_IN = ['outbox', 'outbox_attempts', 'batches'];
/** Whatever else the upstream sent, and what is made of hidden texts. */
const LEFT_OUT = ['extra', 'source_key', 'content_hash', 'imported_by', 'told_by'];
const NAMES: Readonly<Record<string, string>> = {
  'users.name': "'user:' || id",
  'users.alias': "'user:' || id",
  'outbox.full_name': 'email',
  'segments.company': 'company',
  'segments.domain': "'@' || domain",
};

function expression(table: string, column: string, type: string): string {
  if (LEFT_OUT.includes(column)) return 'NULL';
  if (type !== 'TEXT' || OURS.test(column) || OWNERS.includes(table)) return column;
  const person = NAMES[`${table}.${column}`];
  if (person !== undefined) return `shown_name(${column}, ${person})`;
  if (column === 'email') return 'shown_email(email)';
  // Of a comment: JSON, in which there may be people.
  if (column === 'status') return 'shown_json(status)';
  return `${HANDED_IN.includes(table) ? 'shown_handed_in' : 'shown_text'}(${column})`;
}
