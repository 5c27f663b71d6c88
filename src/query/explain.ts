import { AppError } from '../base/errors.ts';
import { nearest } from '../text/text.ts';
import { HIDDEN_TABLES, INSIDE_TABLES, PUBLIC_TABLES } from './schema-words.ts';
import type { QueryRefusal } from './wire.ts';

/** Where the tables can be seen; a page that shows them itself says so instead. */
export const SCHEMA_HINT = '"feedback-mirror query --schema" lists tables and columns.';

const DOCTOR = 'Run "feedback-mirror doctor".';

/** The refusal as one sentence that says what is wrong, where, and what to do. */
export function explainRefusal({ reason, message }: QueryRefusal, sql: string): AppError {
  const usage = (what: string, hint: string): AppError => new AppError('usage', what, { hint });
  switch (reason) {
    case 'empty':
      return usage('there is no statement', SCHEMA_HINT);
    case 'several':
      return usage('one statement at a time: there is more after the first', 'Run each on its own.');
    case 'forbidden':
      return usage(message, forbiddenHint(message));
    case 'unreadable':
      return usage(`the mirror cannot be opened: ${message}`, DOCTOR);
    case 'storage':
      return new AppError('storage', `the mirror is damaged, or its disk fails: ${message}`, {
        hint: DOCTOR,
      });
    case 'sqlite':
      return usage(`${sentence(message)}${placeOf(message, sql)}`, hintFor(message));
  }
}

function forbiddenHint(message: string): string {
  const table = /^the table (\S+)/.exec(message)?.[1]?.toLowerCase();
  if (table === undefined)
    return 'For anything else, run "feedback-mirror backup copy.db" and open the copy with sqlite3.';
  return Object.hasOwn(HIDDEN_TABLES, table)
    ? `It holds ${HIDDEN_TABLES[table]}. ${SCHEMA_HINT}`
    : SCHEMA_HINT;
}

function sentence(message: string): string {
  return message === 'string or blob too big' ? 'a value grew beyond 32 MiB' : message;
}

/** Line and column, where the word that SQLite stumbled over stands only once. */
function placeOf(message: string, sql: string): string {
  const word =
    /near "(.+)": syntax error/s.exec(message)?.[1] ?? /unrecognized token: "(.+)"/s.exec(message)?.[1];
  if (word === undefined) return '';
  const at = sql.indexOf(word);
  if (at < 0 || sql.includes(word, at + 1)) return '';
  const before = sql.slice(0, at).split('\n');
  return ` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`;
}

/** A name of one or two letters is near to every other. */
const SHORTEST_NAME = 3;

function hintFor(message: string): string {
  const missing = /no such (table|column|function): (.+)/.exec(message);
  const [, what, name = ''] = missing ?? [];
  const bare = name.split('.').at(-1) ?? '';
  const known = what === 'table' ? TABLE_NAMES : what === 'column' ? COLUMN_NAMES : [];
  const nearby = bare.length < SHORTEST_NAME ? null : nearest(bare, known);
  // It may be the name of another table's column, or of one that is not shown here.
  const near = nearby?.toLowerCase() === bare.toLowerCase() ? null : nearby;
  const quoted = what === 'column' && /^"/.test(bare) ? ' A text stands in single quotes.' : '';
  return `${near === null ? '' : `Did you mean ${near}? `}${SCHEMA_HINT}${quoted}`;
}

const TABLE_NAMES = [...PUBLIC_TABLES.map(({ name }) => name), ...Object.keys(INSIDE_TABLES)];
const COLUMN_NAMES = [...new Set(PUBLIC_TABLES.flatMap(({ columns }) => Object.keys(columns)))];
