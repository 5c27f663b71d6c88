import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { integer, oneOf, duration as parseDuration } from '../../config/parse.ts';
import { AppError } from '../base/errors.ts';
import type { More, SqlValue } from '../query/run.ts';
import type { ReadableTable } from '../query/schema.ts';
import { bytesText, csvLine, isSqlNumber, numberText } from '../query/text.ts';
import { counted, grouped } from '../text/text.ts';
import {
  type Context,
  EXIT_CODES,
  type Flags,
  openTogether,
  readFlag,
  type SourceContexts,
  sayIfElsewhere,
} from './context.ts';
import { cellLine, cut, draw } from './table.ts';

/** `schema` is true for every table. */
type QueryFlags = Flags<'format' | 'limit', 'raw' | 'all'> & {
  timeout: string;
  schema?: string | true;
};

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('query')
    .argument('[sql]', 'one statement that reads, or - for standard input')
    .description('ask the mirror in SQL; nothing can be changed this way')
    .option('--all', 'ask all sources of sources.yaml at once; every table has a column source then')
    .option('--format <format>', `${QUERY_FORMATS.join(', ')}; table unless given`)
    .option('--limit <rows>', 'rows to print at most, 0 for all; 1000 in a table, else 100000')
    .option('--timeout <duration>', 'how long the statement may work', '5s')
    .option('--raw', 'in csv, leave texts that a spreadsheet would take for formulas as they are')
    .option(
      '--schema [table]',
      'list the tables that can be read, with the type of each column and one line on it',
    )
    .addHelpText('after', HELP)
    .action((sql: string | undefined, flags: QueryFlags) =>
      query(openTogether(program, stop, flags), sql, flags),
    );
}

export const QUERY_FORMATS = ['table', 'csv', 'json', 'ndjson'] as const;

const HELP = `
The statement runs in a process of its own on a handle that cannot write, and is killed at its limit of time or memory;
then the exit code is 5, and what was printed is not all. It is also 5 where there are more rows than are printed
without --limit. Bytes are printed as x'0a1b', integers with all their digits.

Examples:
  feedback-mirror query 'SELECT board, count(*) FROM live_posts GROUP BY board'
  feedback-mirror query --format csv 'SELECT id, title, votes_count FROM live_posts' > posts.csv
  feedback-mirror query - < statement.sql
  feedback-mirror query --all 'SELECT source, count(*) FROM live_posts GROUP BY source'
  feedback-mirror query --schema posts`;

async function query(
  { contexts, isTogether }: SourceContexts,
  given: string | undefined,
  flags: QueryFlags,
): Promise<void> {
  const [context] = contexts as [Context];
  if (flags.schema !== undefined) return await showSchema(context, given, flags.schema);
  await sayIfElsewhere(contexts);
  const format =
    flags.format === undefined
      ? defaultFormat(context)
      : readFlag('--format', oneOf(...QUERY_FORMATS), flags.format);
  const limitMs = readFlag('--timeout', parseDuration, flags.timeout);
  if (limitMs === 0) throw new AppError('usage', '--timeout 0 leaves no time');
  const limits = limitsOf(format, flags.limit);
  const sql = await statement(context, given);
  const { openQueries, openQueriesTogether } = await import('../app/queries.ts');
  const print = format === 'table' ? context.print : context.printData;
  const printer = printerFor(format, { print, raw: flags.raw === true });
  const ask = isTogether
    ? openQueriesTogether(contexts.map(({ settings }) => settings))
    : openQueries(context.settings, 1);
  let more: More = null;
  let isWhole = false;
  try {
    for await (const part of ask({ sql, limitMs, ...limits }, context.signal)) {
      if (part.kind === 'columns') printer.columns(part.columns);
      else if (part.kind === 'rows') printer.rows(part.rows);
      else more = part.more;
    }
    isWhole = true;
  } finally {
    printer.end(isWhole);
  }
  const tell = format === 'table' ? context.print : context.say;
  for (const note of [...printer.notes(), ...moreNote(more, limits.maxRows)]) tell(note);
  // The limit left out rows. A program must not take the rest for all of them.
  if (more === 'bytes' || (more === 'rows' && flags.limit === undefined))
    process.exitCode = EXIT_CODES.partial;
}

/** Without a limit all rows are streamed. */
function limitsOf(format: string, limit: string | undefined): { maxRows: number; maxBytes?: number } {
  const asked = readFlag(
    '--limit',
    integer(0, 100_000_000),
    limit ?? (format === 'table' ? '1000' : '100000'),
  );
  if (asked > 0) return { maxRows: asked };
  return { maxRows: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };
}

function defaultFormat({ json }: Context): (typeof QUERY_FORMATS)[number] {
  return json ? 'json' : 'table';
}

function moreNote(more: More, maxRows: number): string[] {
  if (more === null) return [];
  const shown = more === 'rows' ? `the first ${grouped(maxRows)} rows` : 'the first 256 MiB';
  return [`These are ${shown}; there are more. --limit 0 prints all of them.`];
}

async function statement({ signal }: Context, given: string | undefined): Promise<string> {
  if (given === '-') return await text(addAbortSignal(signal, process.stdin));
  if (given !== undefined) return given;
  throw new AppError('usage', 'there is no statement', {
    hint: `For example: feedback-mirror query 'SELECT count(*) FROM live_posts'`,
  });
}

async function showSchema(context: Context, given: string | undefined, table: string | true): Promise<void> {
  if (given !== undefined)
    throw new AppError('usage', '--schema and a statement are two different questions');
  const { schemaOf } = await import('../query/schema.ts');
  const tables = schemaOf(table === true ? null : table);
  context.answer(tables, () => schemaText(tables));
}

interface Printer {
  columns(names: string[]): void;
  rows(rows: SqlValue[][]): void;
  /** The end of the output. An answer that was cut off gets no end, so that no reader takes it for the whole. */
  end(isWhole: boolean): void;
  notes(): string[];
}

interface Output {
  print(text: string): void;
  raw: boolean;
}

function printerFor(format: (typeof QUERY_FORMATS)[number], output: Output): Printer {
  return { table: tablePrinter, csv: csvPrinter, json: jsonPrinter, ndjson: ndjsonPrinter }[format](output);
}

const LONGEST_CELL = 80;

function tablePrinter({ print }: Output): Printer {
  let names: string[] = [];
  const all: SqlValue[][] = [];
  let hasCut = false;
  const cell = (value: SqlValue): string => {
    const text = cellText(value);
    const shown = cut(text, LONGEST_CELL);
    hasCut ||= shown !== text;
    return shown;
  };
  return {
    columns(given) {
      names = given;
    },
    rows: (rows) => void all.push(...rows),
    end(isWhole) {
      if (names.length === 0 || (!isWhole && all.length === 0)) return;
      const aligns = names.map((_, i) => (all.every((row) => isSqlNumber(row[i])) ? 'right' : 'left'));
      print(draw([names.map((name) => cut(name, LONGEST_CELL)), ...all.map((row) => row.map(cell))], aligns));
    },
    notes: () => [
      // People see the number of rows. A script that reads the table gets rows only.
      ...(process.stdout.isTTY ? [counted(all.length, 'row')] : []),
      ...(hasCut ? ['Long texts are cut here; --format json, ndjson and csv have them whole.'] : []),
    ],
  };
}

const VISIBLE: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** No character that moves the cursor or hides others, and no text that looks like something else. */
function cellText(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (isSqlNumber(value)) return numberText(value);
  if (typeof value !== 'string') return bytesText(value);
  if (value === 'NULL') return "'NULL'";
  return cellLine(value.replace(/[\n\r\t]/g, (sign) => VISIBLE[sign] ?? sign));
}

function csvPrinter({ print, raw }: Output): Printer {
  // print() adds the line feed.
  const line = (values: SqlValue[]): string => `${csvLine(values, raw)}\r`;
  return {
    columns: (names) => print(line(names)),
    rows: (rows) => print(rows.map(line).join('\n')),
    end: () => undefined,
    notes: () => [],
  };
}

function jsonPrinter({ print }: Output): Printer {
  let object: (row: SqlValue[]) => string = () => '{}';
  let separator = '';
  return {
    columns(names) {
      object = objectText(names);
      print('[');
    },
    rows(rows) {
      print(separator + rows.map(object).join(',\n'));
      separator = ',';
    },
    end(isWhole) {
      if (isWhole) print(']');
    },
    notes: () => [],
  };
}

function ndjsonPrinter({ print }: Output): Printer {
  let object: (row: SqlValue[]) => string = () => '{}';
  return {
    columns(names) {
      object = objectText(names);
    },
    rows: (rows) => print(rows.map(object).join('\n')),
    end: () => undefined,
    notes: () => [],
  };
}

/** Written by hand for the integers: JSON can hold all their digits, JavaScript's numbers cannot. */
function objectText(names: string[]): (row: SqlValue[]) => string {
  const keys = distinct(names).map((name) => JSON.stringify(name));
  return (row) => `{${keys.map((key, i) => `${key}:${jsonText(row[i] ?? null)}`).join(',')}}`;
}

function jsonText(value: SqlValue): string {
  if (value === null) return 'null';
  if (isSqlNumber(value)) return numberText(value);
  return JSON.stringify(typeof value === 'string' ? value : bytesText(value));
}

/** `a, a` becomes `a, a_2`: of two equal keys most readers drop one. */
function distinct(names: string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}

function schemaText(tables: readonly ReadableTable[]): string {
  return tables
    .map(({ name, line, columns, types }) => {
      const rows = Object.entries(columns).map(([column, words]) => [
        `  ${column}`,
        types[column] ?? '',
        words,
      ]);
      return `${name}: ${line}\n${draw(rows, ['left', 'left', 'left'])}`;
    })
    .join('\n\n');
}
