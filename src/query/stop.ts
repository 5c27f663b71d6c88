import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { AppError } from '../base/errors.ts';
import { installHint } from '../base/program.ts';
import { durationText } from '../text/text.ts';
import { NO_ENGINE, TOO_MUCH_MEMORY } from './wire.ts';

const MIB = 1024 * 1024;

/** A new process on a machine that is busy; the statement's own time begins after that. */
const START_MS = 20_000;

/** Node turns a longer delay into one of a millisecond. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

interface Limits {
  limitMs: number;
  maxMemoryBytes: number;
  stallMs: number;
}

export type Stopper = ReturnType<typeof stopper>;

/** Ends the child at the first of its limits, and knows afterwards which one that was. */
export function stopper(
  child: ChildProcess,
  { limitMs, maxMemoryBytes, stallMs }: Limits,
  signal?: AbortSignal,
) {
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
    timer = setTimeout(() => kill(error()), Math.min(Math.max(ms, 0), LONGEST_DELAY_MS));
  };
  const onAbort = (): void => kill(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    starting: (): void => void within(START_MS, notStarted),
    /** The statement's own time runs only from here to the next of the other calls. */
    working(): void {
      within(left, () => tooLong(limitMs));
      isWorking = true;
    },
    /** While the reader takes rows. */
    waiting: (): void => void within(stallMs, () => notTaken(stallMs)),
    end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      child.kill('SIGKILL');
    },
    async why(): Promise<unknown> {
      const [code, killedBy, failure] = (await exit) as [number | null, string | null, unknown];
      if (reason !== null) return reason;
      if (code === NO_ENGINE) return noEngine();
      // SIGABRT is how the JavaScript engine ends when its own memory is used up.
      return killedBy === TOO_MUCH_MEMORY || killedBy === 'SIGABRT'
        ? tooMuch(maxMemoryBytes)
        : died(code, killedBy, failure);
    },
  };
}

function noEngine(): AppError {
  const what =
    'SQL of your own needs the SQLite of Node 24 from 24.15 on, or of Node 25.8 or newer, which can refuse whatever is not reading';
  return new AppError('usage', `${what}; this is Node ${process.versions.node}`, {
    hint: `Run it with such a Node, or install that SQLite on its own. ${installHint('@photostructure/sqlite')}`,
  });
}

function tooLong(limitMs: number): AppError {
  return new AppError('partial', `the statement was stopped after ${durationText(limitMs)}, its limit`, {
    hint: 'Ask for less, or allow more time; EXPLAIN QUERY PLAN before the statement shows where it scans whole tables.',
  });
}

function tooMuch(maxMemoryBytes: number): AppError {
  const limit = `${maxMemoryBytes / MIB} MiB of memory`;
  return new AppError('partial', `the statement was stopped at its limit of ${limit}`, {
    hint: 'Sort or group fewer columns, or fewer rows.',
  });
}

function notTaken(stallMs: number): AppError {
  const time = durationText(stallMs);
  return new AppError('partial', `the statement was stopped because nobody took its rows for ${time}`);
}

function notStarted(): AppError {
  const time = durationText(START_MS);
  return new AppError('busy', `the process for the statement did not start within ${time}`, {
    hint: 'The machine seems to be overloaded; try again.',
  });
}

function died(code: number | null, signal: string | null, cause: unknown): AppError {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  return new AppError('internal', `the process of the statement ended ${how}`, { cause });
}
