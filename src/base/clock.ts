import { setTimeout as delay } from 'node:timers/promises';

/** Time as an argument, so that tests never sleep and never race. */
export interface Clock {
  /** Milliseconds since the epoch, for what is stored or shown. Somebody may set this clock, in either direction, at any moment. */
  now(): number;
  /** Milliseconds since some moment of this process. This clock cannot be set: durations inside a process are measured with it. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node turns a longer delay into one of a millisecond. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    try {
      let left = Math.max(ms, 0);
      do {
        await delay(Math.min(left, LONGEST_DELAY_MS), undefined, signal ? { signal } : {});
        left -= LONGEST_DELAY_MS;
      } while (left > 0);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
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
