import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import type { ColumnType, PublishedCell } from '../base/postgres.ts';

/**
 * What pg's connection does beyond its types. pg-copy-streams wraps the same four calls in Node streams; rows come from an iterator
 * and go to a function here, and so the streams would be one more package for nothing.
 */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(why: string): void;
  readonly stream: Duplex;
}

/** A statement under way, as pg's client calls it back. */
abstract class CopyStatement {
  readonly #text: string;
  readonly #ended = Promise.withResolvers<void>();
  protected failure: Error | null = null;

  constructor(text: string) {
    this.#text = text;
    // The caller awaits `run`. An earlier rejection would be unhandled.
    this.#ended.promise.catch(() => undefined);
  }

  async run(client: pg.ClientBase): Promise<void> {
    client.query(this as unknown as pg.Submittable);
    await this.#ended.promise;
  }

  submit(connection: unknown): void {
    (connection as CopyConnection).query(this.#text);
  }

  handleError(error: Error): void {
    this.failure ??= error;
    this.#ended.reject(this.failure);
  }

  handleReadyForQuery(): void {
    if (this.failure) this.#ended.reject(this.failure);
    else this.#ended.resolve();
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleCopyInResponse(_connection: unknown): void {}
  handleCopyData(_message: unknown): void {}
}

class CopyIn extends CopyStatement {
  readonly #chunks: Iterable<string>;
  readonly #stop = new AbortController();
  #sending: Promise<void> | null = null;

  constructor(text: string, chunks: Iterable<string>) {
    super(text);
    this.#chunks = chunks;
  }

  /** Ends when no statement reads the rows any more: SQLite does not close a connection that is being read. */
  override async run(client: pg.ClientBase): Promise<void> {
    try {
      await super.run(client);
    } finally {
      await this.#sending;
    }
  }

  override handleError(error: Error): void {
    super.handleError(error);
    this.#stop.abort();
  }

  override handleCopyInResponse(connection: unknown): void {
    this.#sending = this.#send(connection as CopyConnection);
  }

  async #send(connection: CopyConnection): Promise<void> {
    const { signal } = this.#stop;
    try {
      for (const chunk of this.#chunks) {
        // PostgreSQL has refused, or the session has ended: the rest of the rows is not sent.
        signal.throwIfAborted();
        connection.sendCopyFromChunk(Buffer.from(chunk));
        if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain', { signal });
        else await turn();
      }
      connection.endCopyFrom();
    } catch (error) {
      if (signal.aborted) return;
      this.failure ??= error instanceof Error ? error : new Error(String(error));
      connection.sendCopyFail('the rows could not be read');
    }
  }
}

class CopyOut extends CopyStatement {
  readonly #take: (line: string) => void;

  constructor(text: string, take: (line: string) => void) {
    super(text);
    this.#take = take;
  }

  /** PostgreSQL sends a row a message. The rows are taken in as they come, and meanwhile nothing more is read from the socket. */
  override handleCopyData(message: unknown): void {
    if (this.failure) return;
    try {
      this.#take((message as { chunk: Buffer }).chunk.toString('utf8').slice(0, -1));
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
    }
  }
}

export async function copyIn(
  client: pg.ClientBase,
  target: string,
  types: readonly ColumnType[],
  rows: Iterable<readonly PublishedCell[]>,
): Promise<number> {
  let count = 0;
  function* counted(): Generator<readonly PublishedCell[]> {
    for (const row of rows) {
      count++;
      yield row;
    }
  }
  await new CopyIn(`COPY ${target} FROM STDIN`, copyChunks(counted(), types)).run(client);
  return count;
}

export async function copyOut(
  client: pg.ClientBase,
  query: string,
  types: readonly ColumnType[],
  take: (row: PublishedCell[]) => void,
): Promise<void> {
  await new CopyOut(`COPY (${query}) TO STDOUT`, (line) => take(decodeRow(line, types))).run(client);
}

/** Characters sent at once: a few milliseconds of work between two turns of the event loop. */
const CHUNK = 128 * 1024;

/** COPY's text format, in chunks. */
export function* copyChunks(
  rows: Iterable<readonly PublishedCell[]>,
  types: readonly ColumnType[],
): Generator<string> {
  let chunk = '';
  for (const row of rows) {
    for (let i = 0; i < row.length; i++)
      chunk += (i === 0 ? '' : '\t') + encodeCell(row[i] ?? null, types[i]);
    chunk += '\n';
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** Times and booleans need nothing: PostgreSQL reads `2026-11-16T01:02:03.456Z` and `0` as what they are. */
function encodeCell(cell: PublishedCell, type: ColumnType | undefined): string {
  if (cell === null) return '\\N';
  if (typeof cell === 'number') return String(cell);
  if (type === 'timestamptz') return cell.startsWith('0000-') ? `0001${cell.slice(4)} BC` : cell;
  const text =
    type === 'jsonb' ? cell.replaceAll(JSON_NUL, (nul) => nul.replace('\\u0000', '\\ufffd')) : cell;
  return SPECIAL.test(text) ? text.replace(EACH_SPECIAL, (one) => ESCAPES[one] ?? one) : text;
}

const SPECIAL = /[\\\t\n\r\0]/;
const EACH_SPECIAL = /[\\\t\n\r\0]/g;
/** A NUL that is escaped itself: an even number of backslashes stands before it. */
const JSON_NUL = /(?<!\\)(?:\\\\)*\\u0000/g;
/** A NUL is the one character that PostgreSQL does not hold. */
const ESCAPES: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\ufffd',
};
const UNESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function decodeRow(line: string, types: readonly ColumnType[]): PublishedCell[] {
  const cells = line.split('\t');
  return types.map((type, i) => {
    const cell = cells[i] ?? '\\N';
    return cell === '\\N' ? null : decodeCell(cell, type);
  });
}

function decodeCell(cell: string, type: ColumnType): PublishedCell {
  if (type === 'bigint' || type === 'double precision') return Number(cell);
  if (type === 'boolean') return cell === 't' ? 1 : 0;
  if (type === 'timestamptz') return isoTime(cell);
  return cell.includes('\\') ? cell.replace(/\\(.)/g, (_, one: string) => UNESCAPES[one] ?? one) : cell;
}

/** `2026-11-16 01:02:03.4+00`, as PostgreSQL shows a time in UTC, in our spelling. */
function isoTime(shown: string): string {
  const [, date = '', time = '', fraction = ''] = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00/.exec(shown) ?? [];
  const day = shown.endsWith(' BC') ? `0000${date.slice(4)}` : date;
  return `${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}
