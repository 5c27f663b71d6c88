import { createRequire } from 'node:module';
import * as builtIn from 'node:sqlite';
import { HIDDEN_TABLES, INSIDE_TABLES, PUBLIC_TABLES } from './schema-words.ts';
import { SHOWN_FUNCTIONS, type ShownViews } from './shown.ts';
import { NO_ENGINE } from './wire.ts';

/**
 * An SQLite that asks before it does anything, and has limits: Node's own from 24.15 and 25.8 on. Before that the same as a package, which a
 * plain install leaves out; without it no statement of a person runs.
 */
const engine: typeof builtIn = hasLimits() ? builtIn : substitute();

export const { DatabaseSync, constants } = engine;

/** What SQLite took as the first statement of a text; the package keeps the whole text as the source. */
export function firstStatementOf(statement: builtIn.StatementSync): string {
  return engine === builtIn ? statement.sourceSQL : statement.expandedSQL;
}

/** Node has got the limits last: an SQLite with limits also has the authorizer and the defensive mode. */
function hasLimits(): boolean {
  const db = new builtIn.DatabaseSync(':memory:');
  const found = 'limits' in db;
  db.close();
  return found;
}

function substitute(): typeof builtIn {
  try {
    return createRequire(import.meta.url)('@photostructure/sqlite') as typeof builtIn;
  } catch {
    process.exit(NO_ENGINE);
  }
}

/** SQLite asks this for every single thing a statement would do, while it is compiled and while it runs. */
type Authorizer = (
  action: number,
  first: string | null,
  second: string | null,
  database: string | null,
  view: string | null,
) => number;

interface Guard {
  authorize: Authorizer;
  /** What was refused first, as a clause; null when nothing was. */
  refused(): string | null;
}

/** Everything that is not on a list is refused, also what a later SQLite can do. Where views stand in front of the tables, only they may be read. */
export function createSqlGuard(views: ShownViews | null): Guard {
  let refused: string | null = null;
  return {
    authorize(action, first, second, database, view) {
      const [what, which] = [first ?? '', second ?? ''];
      const isOurs = views !== null && (view?.startsWith(views.prefix) ?? false);
      if (isOurs && isForViews(action, which)) return constants.SQLITE_OK;
      const clause =
        views !== null && isNamed(action, which)
          ? behindViews(action, what, database === 'temp' ? views : null)
          : objection(action, what, which);
      if (clause === null) return constants.SQLITE_OK;
      refused ??= clause;
      return constants.SQLITE_DENY;
    },
    refused: () => refused,
  };
}

function objection(action: number, first: string, second: string): string | null {
  switch (action) {
    case constants.SQLITE_SELECT:
    case constants.SQLITE_RECURSIVE:
      return null;
    case constants.SQLITE_READ:
      return mayRead(first.toLowerCase(), second) ? null : `the table ${first} is not for reading here`;
    case constants.SQLITE_FUNCTION:
      return FUNCTIONS.has(second.toLowerCase()) ? null : `the function ${second} is not allowed here`;
    case constants.SQLITE_PRAGMA:
      return PRAGMAS.has(first.toLowerCase()) ? null : `PRAGMA ${first} is not allowed here`;
    default:
      return 'only reading is allowed here';
  }
}

/** What the innermost views do themselves. */
function isForViews(action: number, which: string): boolean {
  const isOwnFunction = (SHOWN_FUNCTIONS as readonly string[]).includes(which);
  return action === constants.SQLITE_READ || (action === constants.SQLITE_FUNCTION && isOwnFunction);
}

/** Reads of a column, and pragmas, which would tell the names of the innermost views. */
function isNamed(action: number, column: string): boolean {
  return (action === constants.SQLITE_READ && column !== '') || action === constants.SQLITE_PRAGMA;
}

function behindViews(action: number, name: string, views: ShownViews | null): string | null {
  if (action === constants.SQLITE_PRAGMA) return `PRAGMA ${name} is not allowed here`;
  const table = name.toLowerCase();
  const isShown = views !== null && (views.names.has(table) || table.startsWith(views.prefix));
  return isShown || table === 'json_each' || table === 'json_tree'
    ? null
    : `the table ${name} is not for reading here`;
}

/** Without a column only the rows are counted, and the name may be one that the statement itself gave to a part of it. */
function mayRead(table: string, column: string): boolean {
  return column === '' ? !Object.hasOwn(HIDDEN_TABLES, table) : READABLE.has(table);
}

/** Each of these only reads, whatever its argument; the full-text index asks for data_version by itself. */
const PRAGMAS = new Set([
  'table_info',
  'table_xinfo',
  'table_list',
  'index_list',
  'index_info',
  'index_xinfo',
  'foreign_key_list',
  'function_list',
  'data_version',
]);

const READABLE = new Set([
  ...PUBLIC_TABLES.map(({ name }) => name),
  ...Object.keys(INSIDE_TABLES),
  ...['posts_text', 'comments_text'].flatMap((index) =>
    ['data', 'idx', 'docsize', 'config', 'content'].map((part) => `${index}_${part}`),
  ),
  'sqlite_master',
  'json_each',
  'json_tree',
  ...[...PRAGMAS].map((name) => `pragma_${name}`),
]);

/** Of what SQLite brings along, what computes and nothing else: no load_extension, sqlite_log, fts3_tokenizer, rtreecheck. */
const FUNCTIONS = new Set(
  `-> ->> abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling char coalesce concat concat_ws cos cosh count cume_dist
  current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format glob group_concat hex
  highlight if ifnull iif instr json json_array json_array_insert json_array_length json_error_position json_extract
  json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set
  json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert
  jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead length like likelihood likely ln log
  log10 log2 lower ltrim match max median min mod nth_value ntile nullif octet_length percent_rank percentile percentile_cont
  percentile_disc pi pow power printf quote radians random randomblob rank replace round row_number rtrim sign sin sinh snippet
  sqlite_version sqrt strftime string_agg substr substring sum tan tanh time timediff total trim trunc typeof unhex unicode unistr
  unistr_quote unixepoch unlikely upper zeroblob`.split(/\s+/),
);
