import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { integer, oneOf, type Parse, duration as parseDuration } from '../../config/parse.ts';
import { AppError, messageOf } from '../base/errors.ts';
import type { More } from '../query/run.ts';
import { type Context, openContext } from './context.ts';

interface Flags {
  file?: string;
  format?: string;
  limit?: string;
  timeout: string;
  raw?: true;
  /** True for every table. */
  schema?: string | true;
}

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('query')
    .argument('[sql]', 'one statement that reads, or - for standard input')
    .description('ask the mirror in SQL; nothing can be changed this way')
    .option('--file <path>', 'read the statement from a file')
    .option('--format <format>', `${FORMATS.join(', ')}; table unless given`)
    .option('--limit <rows>', 'rows to print at most; 1000 in a table, else 100000')
    .option('--timeout <duration>', 'how long the statement may work', '5s')
    .option('--raw', 'in csv, leave texts that a spreadsheet would take for formulas as they are')
    .option(
      '--schema [table]',
      'list the tables that can be read, with the type of each column and one line on it',
    )
    .addHelpText('after', HELP)
    .action((sql: string | undefined, flags: Flags) => query(openContext(program, stop), sql, flags));
}

const FORMATS = ['table', 'csv', 'json', 'ndjson'] as const;

const HELP = `
The statement runs in a process of its own on a handle that cannot write, and is killed at its limit of time or memory;
then the exit code is 5, and what was printed is not all. Bytes are printed as x'0a1b', integers with all their digits.

Examples:
  feedback-mirror query 'SELECT board, count(*) FROM live_posts GROUP BY board'
  feedback-mirror query --format csv 'SELECT id, title, votes_count FROM live_posts' > posts.csv
  echo 'SELECT * FROM boards' | feedback-mirror query -
  feedback-mirror query --schema posts`;

async function query(context: Context, given: string | undefined, flags: Flags): Promise<void> {
  if (flags.schema !== undefined) return await showSchema(context, given, flags.schema);
  const { printerFor } = await import('./query-text.ts');
  const format =
    flags.format === undefined ? defaultFormat(context) : read('--format', oneOf(...FORMATS), flags.format);
  const limitMs = read('--timeout', parseDuration, flags.timeout);
  if (limitMs === 0) throw new AppError('usage', '--timeout 0 leaves no time');
  const fallback = format === 'table' ? '1000' : '100000';
  const maxRows = read('--limit', integer(1, 100_000_000), flags.limit ?? fallback);
  const sql = await statement(context, given, flags);
  const { openQueries } = await import('../app/readers.ts');
  const print = format === 'table' ? context.print : context.printData;
  const printer = printerFor(format, { print, raw: flags.raw === true });
  const ask = openQueries(context.settings, 1);
  let more: More = null;
  let isWhole = false;
  try {
    for await (const part of ask({ sql, limitMs, maxRows }, context.signal)) {
      if (part.kind === 'columns') printer.columns(part.columns);
      else if (part.kind === 'rows') printer.rows(part.rows);
      else more = part.more;
    }
    isWhole = true;
  } finally {
    printer.end(isWhole);
  }
  for (const note of [...printer.notes(), ...moreNote(more, maxRows)]) context.say(note);
}

function defaultFormat({ json }: Context): (typeof FORMATS)[number] {
  return json ? 'json' : 'table';
}

function read<T>(flag: string, parse: Parse<T>, value: string): T {
  try {
    return parse(value);
  } catch (error) {
    throw new AppError('usage', `${flag} ${messageOf(error)}`);
  }
}

function moreNote(more: More, maxRows: number): string[] {
  if (more === null) return [];
  const shown = more === 'rows' ? `the first ${maxRows.toLocaleString('en')} rows` : 'the first 256 MiB';
  return [`These are ${shown}; there are more. See --limit, or let the statement itself ask for less.`];
}

async function statement({ signal }: Context, given: string | undefined, { file }: Flags): Promise<string> {
  if (given !== undefined && file !== undefined)
    throw new AppError('usage', 'give the statement or --file, not both');
  if (file !== undefined) return readStatement(file);
  if (given === '-') return await text(addAbortSignal(signal, process.stdin));
  if (given !== undefined) return given;
  throw new AppError('usage', 'there is no statement', {
    hint: `For example: feedback-mirror query 'SELECT count(*) FROM live_posts'`,
  });
}

function readStatement(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (cause) {
    throw new AppError('usage', `--file ${path} cannot be read (${(cause as NodeJS.ErrnoException).code})`, {
      cause,
    });
  }
}

async function showSchema(context: Context, given: string | undefined, table: string | true): Promise<void> {
  if (given !== undefined)
    throw new AppError('usage', '--schema and a statement are two different questions');
  const [{ schemaOf }, { schemaText }] = await Promise.all([
    import('../query/schema.ts'),
    import('./query-text.ts'),
  ]);
  const tables = schemaOf(table === true ? null : table);
  context.print(context.json ? JSON.stringify(tables) : schemaText(tables));
}
