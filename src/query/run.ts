import { type ChildProcess, spawn } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { dirname, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { AppError } from '../base/errors.ts';
import { createLine } from '../base/line.ts';
import { ownFile } from '../base/program.ts';
import { explainRefusal } from './explain.ts';
import type { ShownAs } from './shown.ts';
import { type Stopper, stopper } from './stop.ts';
import type { SourceFile } from './together.ts';
import { encodeFrame, FRAMES_FD, type Frame, frames, type More, type SqlValue } from './wire.ts';

export type { More, SqlValue } from './wire.ts';

export interface QueryRequest {
  /** The file of the mirror, or those of several sources, whose tables then have a column `source`. */
  path: string | readonly SourceFile[];
  sql: string;
  /** The time limit of the statement. Time in which the reader takes no rows does not count. */
  limitMs?: number;
  maxRows?: number;
  /** Of all values together. */
  maxBytes?: number;
  /** Of one text, which is cut to so many letters before it is counted. */
  maxText?: number;
  maxMemoryBytes?: number;
  /** How long rows may wait to be taken: a statement under way keeps the write-ahead log from being emptied. */
  stallMs?: number;
  /** How customers' texts and people are shown; as they are unless given. */
  shown?: ShownAs | null;
}

/** First the columns, then rows in batches, at last whether there would have been more. */
export type QueryPart = Exclude<Frame, { kind: 'started' | 'refused' }>;

const MIB = 1024 * 1024;

const QUERY_DEFAULTS = {
  limitMs: 5000,
  maxRows: 10_000,
  maxBytes: 256 * MIB,
  maxText: Number.POSITIVE_INFINITY,
  maxMemoryBytes: 512 * MIB,
  stallMs: 600_000,
  shown: null,
} as const;

/**
 * Runs one statement in a process of its own, which is killed when this generator ends, for whatever reason. A statement cannot be
 * stopped from inside: neither of the two SQLites here has a way to interrupt it, and a thread cannot be ended while it runs.
 */
export async function* runQuery(
  request: QueryRequest,
  signal?: AbortSignal,
): AsyncGenerator<QueryPart, void, undefined> {
  signal?.throwIfAborted();
  const asked = { ...QUERY_DEFAULTS, ...request };
  refuseBroken(asked.sql);
  const child = start();
  const stop = stopper(child.process, asked, signal);
  try {
    const { sql, maxRows, maxBytes, maxText, maxMemoryBytes, shown } = asked;
    const mirror = typeof asked.path === 'string' ? resolve(asked.path) : asked.path.map(resolved);
    child.input.write(encodeFrame({ mirror, sql, maxRows, maxBytes, maxText, maxMemoryBytes, shown }));
    yield* parts(child, stop, sql);
  } finally {
    stop.end();
  }
}

async function* parts(child: Child, stop: Stopper, sql: string): AsyncGenerator<QueryPart, void, undefined> {
  stop.starting();
  for await (const frame of frames(child.output)) {
    if (frame.kind === 'refused') throw explainRefusal(frame.refusal, sql);
    if (frame.kind !== 'started') {
      stop.waiting();
      yield frame;
      if (frame.kind === 'end') return;
    }
    stop.working();
  }
  throw await stop.why();
}

function resolved({ name, path }: SourceFile): SourceFile {
  return { name, path: resolve(path) };
}

/** A statement ends for SQLite at the first NUL; what stands behind it must not go unseen. */
function refuseBroken(sql: string): void {
  if (sql.includes('\0')) throw new AppError('usage', 'the statement holds a NUL character');
}

interface Child {
  process: ChildProcess;
  input: Writable;
  output: Readable;
}

const CHILD = fileURLToPath(ownFile('./child.ts', import.meta.url));

/** It gets no setting and no secret of this process: only what its clock needs, and where compiled code is kept. */
function start(): Child {
  const { TZ } = process.env;
  const cache = getCompileCacheDir();
  const env = { ...(TZ && { TZ }), ...(cache && { NODE_COMPILE_CACHE: dirname(cache) }) };
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD], {
    cwd: '/',
    env,
    // Frames have a pipe of their own: on stdout Node switches to writes that do not block.
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  // A child that is gone already needs no task.
  child.stdin?.on('error', () => undefined);
  return { process: child, input: child.stdin as Writable, output: child.stdio[FRAMES_FD] as Readable };
}

interface QueryAnswer {
  columns: string[];
  rows: SqlValue[][];
  more: More;
}

/** The whole answer at once, for those who show it whole. */
export async function collectRows(parts: AsyncIterable<QueryPart>): Promise<QueryAnswer> {
  const answer: QueryAnswer = { columns: [], rows: [], more: null };
  for await (const part of parts) {
    if (part.kind === 'columns') answer.columns = part.columns;
    else if (part.kind === 'rows') answer.rows.push(...part.rows);
    else answer.more = part.more;
  }
  return answer;
}

type RunQuery = (request: QueryRequest, signal?: AbortSignal) => AsyncGenerator<QueryPart, void, undefined>;

/** Statements that wait for a slot; each is a request that is kept open. */
const MOST_WAITING = 20;

/** Runs at most `atOnce` statements at the same time; the others wait in order, and those beyond a limit are refused. */
export function limitQueries(atOnce: number, mostWaiting = MOST_WAITING): RunQuery {
  const line = createLine(atOnce, mostWaiting, () => tooManyWaiting(mostWaiting));
  return async function* (request, signal) {
    await line.enter(signal);
    try {
      yield* runQuery(request, signal);
    } finally {
      line.leave();
    }
  };
}

function tooManyWaiting(most: number): AppError {
  return new AppError('busy', `${most} statements are waiting already`, {
    hint: 'Try again in a few seconds.',
  });
}
