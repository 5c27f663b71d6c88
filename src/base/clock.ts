import { performance } from 'node:perf_hooks';

/** Time as an argument, so that tests never sleep and never race. */
export interface Clock {
  /** Milliseconds since the epoch, for what is stored or shown. Somebody may set this clock, in either direction, at any moment. */
  now(): number;
  /** Milliseconds since some moment of this process. This clock cannot be set: durations inside a process are measured with it. */
  monotonic(): number;
  /** Milliseconds for which this process had nothing to do. Time without a processor is none of them, and neither is the work of others in it. */
  idle(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node turns a longer delay into one of a millisecond. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

interface Sleeper {
  at: number;
  wake(): void;
}

/** Everything that sleeps in this process waits for one timer. The first to wake up comes last. */
const sleepers: Sleeper[] = [];
let timer: NodeJS.Timeout | undefined;

function setTimer(): void {
  clearTimeout(timer);
  const first = sleepers.at(-1);
  timer = first && setTimeout(wakeUp, Math.min(Math.max(first.at - performance.now(), 0), LONGEST_DELAY_MS));
}

function wakeUp(): void {
  const now = performance.now();
  for (let first = sleepers.at(-1); first && first.at <= now; first = sleepers.at(-1)) {
    sleepers.pop();
    first.wake();
  }
  setTimer();
}

function add(sleeper: Sleeper): void {
  const after = sleepers.findLastIndex(({ at }) => at > sleeper.at);
  sleepers.splice(after + 1, 0, sleeper);
  if (after + 2 === sleepers.length) setTimer();
}

function remove(sleeper: Sleeper): void {
  const index = sleepers.indexOf(sleeper);
  if (index < 0) return;
  sleepers.splice(index, 1);
  if (index === sleepers.length) setTimer();
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  idle: () => performance.eventLoopUtilization().idle,
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { at: performance.now() + Math.max(ms, 0), wake: resolve };
    const stop = (): void => {
      remove(sleeper);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop);
    add(sleeper);
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  },
};

/** Time servers move a clock by less than this in one step, and two times that differ by less count as one. */
export const CLOCK_STEP_MS = 10_000;

/**
 * A stored moment that is known to be over, or null. One that has not come yet was written while the clock was ahead, so it is not known
 * how long ago that was: nothing counts as fresh because of it.
 */
export function pastOrNull(at: number | null, now: number): number | null {
  return at === null || at > now + CLOCK_STEP_MS ? null : Math.min(at, now);
}

/**
 * Whether the time has come for something that was put off until a stored moment. A moment further away than the longest wait that
 * anybody asks for was written while the clock was ahead: it counts as come.
 */
export function isDue(at: number, now: number, longestWaitMs: number): boolean {
  return at <= now || at > now + longestWaitMs + CLOCK_STEP_MS;
}

/** The stored form of a moment: ISO 8601, UTC, milliseconds. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
