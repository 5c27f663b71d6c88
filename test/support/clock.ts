import type { Clock } from '../../src/base/clock.ts';

/** A clock that only moves when told to, or when someone sleeps on it: a sleep of an hour takes no time. */
export interface FakeClock extends Clock {
  advance(ms: number): void;
  /** Every sleep asked for, in order. */
  readonly slept: number[];
}

export function fakeClock(start = Date.parse('2026-01-01T00:00:00.000Z')): FakeClock {
  let now = start;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    advance(ms) {
      now += ms;
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
      await Promise.resolve();
    },
  };
}
