import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AskMirror } from '../../app/queries.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { SCHEMA_HINT } from '../../query/explain.ts';
import { collectRows, type More, type QueryPart, type SqlValue } from '../../query/run.ts';
import { type ReadableTable, schemaOf } from '../../query/schema.ts';
import { bytesText, csvLine, numberText } from '../../query/text.ts';
import { sendFile } from '../server/replies.ts';
import { textIn } from './parameters.ts';
import { spoolIn } from './spool.ts';

interface SqlDeps {
  ask: AskMirror;
  clock: Clock;
  /** Where a file waits for its client. */
  folder: string;
}

/** Rows of a page. A file has as many rows as the command gives. */
const PAGE_ROWS = 1000;
const PAGE_BYTES = 4 * 1024 * 1024;
const FILE_ROWS = 100_000;
const FILE_BYTES = 64 * 1024 * 1024;

export interface SqlAnswer {
  columns: string[];
  rows: Cell[][];
  more: More;
  ms: number;
}

/** Numbers that JSON or a browser would change, and bytes, are texts here. */
export type Cell = string | number | null;

export interface SqlInfo {
  tables: readonly ReadableTable[];
  limits: { page: number; file: number };
}

/** `/data/query`: SQL from people, with the limits of the command. */
export function addSql(app: FastifyInstance, { ask, clock, folder }: SqlDeps): void {
  const spool = spoolIn(folder);
  app.get(
    '/data/query',
    async (): Promise<SqlInfo> => ({ tables: schemaOf(null), limits: { page: PAGE_ROWS, file: FILE_ROWS } }),
  );
  app.post('/data/query', async ({ body }, reply): Promise<SqlAnswer> => {
    const began = clock.now();
    const request = { sql: statementOf(body), maxRows: PAGE_ROWS, maxBytes: PAGE_BYTES };
    const { columns, rows, more } = await inWords(
      collectRows(untilClosed(reply, (gone) => ask(request, gone))),
    );
    return { columns, rows: rows.map((row) => row.map(cellOf)), more, ms: clock.now() - began };
  });
  app.post('/data/query.csv', async ({ body }, reply) => {
    const request = { sql: statementOf(body), maxRows: FILE_ROWS, maxBytes: FILE_BYTES };
    const parts = untilClosed(reply, (gone) => ask(request, gone));
    return sendFile(reply, 'answer.csv', await inWords(spool(reply, csvText(parts))));
  });
}

function statementOf(body: unknown): string {
  const sql = textIn(body, 'sql');
  if (sql !== null && sql.trim() !== '') return sql;
  throw new AppError('usage', 'there is no statement', { hint: 'Write one, or take one of the examples.' });
}

/** The command's own words, but for the hint to it: the page shows the tables. */
async function inWords<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof AppError) || !error.hint?.includes(SCHEMA_HINT)) throw error;
    const hint = error.hint.replace(SCHEMA_HINT, 'The tables and their columns stand beside the statement.');
    throw new AppError(error.code, error.message, { hint, cause: error });
  }
}

/**
 * A statement that ends with its response, whichever way that ends: sent, cancelled, not read, or never begun. Ending it is not left
 * to the stream that reads it, because a generator that has not started runs none of its own clean-up.
 */
function untilClosed({ raw }: FastifyReply, begin: (gone: AbortSignal) => Parts): Parts {
  const gone = new AbortController();
  const parts = begin(gone.signal);
  const end = (): void => {
    gone.abort(new AppError('interrupted', 'the client closed the connection'));
    parts.return().catch(() => undefined);
  };
  if (raw.closed) end();
  else raw.once('close', end);
  return parts;
}

type Parts = AsyncGenerator<QueryPart, void, undefined>;

function cellOf(value: SqlValue): Cell {
  if (typeof value === 'bigint') return numberText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : numberText(value);
  return value instanceof Uint8Array ? bytesText(value) : value;
}

async function* csvText(parts: Parts): AsyncGenerator<string, void, undefined> {
  for await (const part of parts) {
    if (part.kind === 'columns') yield `${csvLine(part.columns)}\r\n`;
    else if (part.kind === 'rows') yield part.rows.map((row) => `${csvLine(row)}\r\n`).join('');
    else if (part.more === 'bytes')
      throw new AppError('partial', 'the answer is larger than a file may be', {
        hint: 'Ask for fewer rows or columns.',
      });
  }
}
