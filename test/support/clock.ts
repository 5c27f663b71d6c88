import type { Clock } from '../../src/base/clock.ts';

/** A clock that only moves when told to, or when someone sleeps on it: a sleep of an hour takes no time. */
export interface FakeClock extends Clock {
  advance(ms: number): void;
  /** As if somebody had set the clock: no time passes. */
  set(now: number): void;
  /** Every sleep asked for, in order. */
  readonly slept: number[];
}

export function fakeClock(start = Date.parse('2026-01-01T00:00:00.000Z')): FakeClock {
  let now = start;
  let passed = 0;
  const advance = (ms: number): void => {
    now += ms;
    passed += ms;
  };
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    monotonic: () => passed,
    advance,
    set(time) {
      now = time;
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      advance(ms);
      await Promise.resolve();
    },
  };
}
