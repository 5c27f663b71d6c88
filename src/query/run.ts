import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '../base/errors.ts';
import { explainRefusal } from './explain.ts';
import { encode, type Frame, frames, type More, TOO_MUCH_MEMORY, type Value } from './wire.ts';

export type { More, Value } from './wire.ts';

export interface QueryRequest {
  /** The mirror. */
  path: string;
  /** One statement that reads. */
  sql: string;
  /** What the statement itself may take; the time in which nobody takes the rows does not count. */
  limitMs?: number;
  maxRows?: number;
  /** Of all values together. */
  maxBytes?: number;
  /** Of the process in which the statement runs. */
  maxMemoryBytes?: number;
  /** How long rows may wait to be taken: a statement under way keeps the write-ahead log from being emptied. */
  stallMs?: number;
}

/** First the columns, then rows in batches, at last whether there would have been more. */
export type QueryPart = Exclude<Frame, { kind: 'started' | 'refused' }>;

const MIB = 1024 * 1024;

export const QUERY_DEFAULTS = {
  limitMs: 5000,
  maxRows: 10_000,
  maxBytes: 256 * MIB,
  maxMemoryBytes: 512 * MIB,
  stallMs: 600_000,
} as const;

/** A new process on a machine that is busy; the statement's own time begins after that. */
const START_MS = 20_000;

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
  const stop = stopper(child, asked, signal);
  try {
    const { sql, maxRows, maxBytes, maxMemoryBytes } = asked;
    child.stdin.on('error', () => undefined);
    child.stdin.write(encode({ path: resolve(asked.path), sql, maxRows, maxBytes, maxMemoryBytes }));
    yield* parts(child, stop, sql);
  } finally {
    stop.end();
  }
}

async function* parts(child: Child, stop: Stopper, sql: string): AsyncGenerator<QueryPart, void, undefined> {
  stop.starting();
  for await (const frame of frames(child.stdout as AsyncIterable<Buffer>)) {
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

/** A statement ends for SQLite at the first NUL; what stands behind it must not go unseen. */
function refuseBroken(sql: string): void {
  if (sql.includes('\0')) throw new AppError('usage', 'the statement holds a NUL character');
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

const CHILD = new URL('./child.ts', import.meta.url).pathname;

/** It gets no setting and no secret of this process: only what its clock needs, and where compiled code is kept. */
function start(): Child {
  const { TZ } = process.env;
  const cache = getCompileCacheDir();
  const env = { ...(TZ && { TZ }), ...(cache && { NODE_COMPILE_CACHE: cache }) };
  return spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--max-old-space-size=256', CHILD],
    {
      cwd: '/',
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
}

/** Ends the child at the first of its limits, and knows afterwards which one that was. */
interface Stopper {
  starting(): void;
  working(): void;
  /** For whoever takes the rows. */
  waiting(): void;
  end(): void;
  why(): Promise<unknown>;
}

type Limits = Required<Pick<QueryRequest, 'limitMs' | 'maxMemoryBytes' | 'stallMs'>>;

function stopper(child: Child, { limitMs, maxMemoryBytes, stallMs }: Limits, signal?: AbortSignal): Stopper {
  let reason: unknown = null;
  let [left, since] = [limitMs, 0];
  let isWorking = false;
  let timer: NodeJS.Timeout | undefined;
  const exit = once(child, 'exit').catch((error: unknown) => [null, null, error]);
  const kill = (why: unknown): void => {
    reason ??= why;
    child.kill('SIGKILL');
  };
  const within = (ms: number, error: () => AppError): void => {
    clearTimeout(timer);
    if (isWorking) left -= performance.now() - since;
    [isWorking, since] = [false, performance.now()];
    timer = setTimeout(() => kill(error()), Math.max(ms, 0));
  };
  const onAbort = (): void => kill(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    starting: () => within(START_MS, notStarted),
    working() {
      within(left, () => tooLong(limitMs));
      isWorking = true;
    },
    waiting: () => within(stallMs, () => notTaken(stallMs)),
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      child.kill('SIGKILL');
    },
    async why() {
      const [code, killedBy, failure] = (await exit) as [number | null, string | null, unknown];
      if (reason !== null) return reason;
      return killedBy === TOO_MUCH_MEMORY ? tooMuch(maxMemoryBytes) : died(code, killedBy, failure);
    },
  };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toLocaleString('en')} s`;
}

function tooLong(limitMs: number): AppError {
  return new AppError('partial', `the statement was stopped after ${seconds(limitMs)}, its limit`, {
    hint: 'Ask for less, or allow more time; EXPLAIN QUERY PLAN before the statement shows where it scans whole tables.',
  });
}

function tooMuch(maxMemoryBytes: number): AppError {
  return new AppError(
    'partial',
    `the statement was stopped at its limit of ${maxMemoryBytes / MIB} MiB of memory`,
    {
      hint: 'Sort or group fewer columns, or fewer rows.',
    },
  );
}

function notTaken(stallMs: number): AppError {
  return new AppError(
    'partial',
    `the statement was stopped because nobody took its rows for ${seconds(stallMs)}`,
  );
}

function notStarted(): AppError {
  return new AppError('busy', `the process for the statement did not start within ${seconds(START_MS)}`, {
    hint: 'The machine seems to be overloaded; try again.',
  });
}

function died(code: number | null, signal: string | null, cause: unknown): AppError {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  return new AppError('internal', `the process of the statement ended ${how}`, { cause });
}

export interface QueryAnswer {
  columns: string[];
  rows: Value[][];
  more: More;
}

/** The whole answer at once, for those who show it whole. */
export async function collect(parts: AsyncIterable<QueryPart>): Promise<QueryAnswer> {
  const answer: QueryAnswer = { columns: [], rows: [], more: null };
  for await (const part of parts) {
    if (part.kind === 'columns') answer.columns = part.columns;
    else if (part.kind === 'rows') answer.rows.push(...part.rows);
    else answer.more = part.more;
  }
  return answer;
}
