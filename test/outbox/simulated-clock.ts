import type { Clock } from '../../src/base/clock.ts';

/** Time that passes when someone sleeps or works. Whoever else is alive gets a turn during each sleep. */
export interface SimulatedClock extends Clock {
  advance(ms: number): void;
  /** What goes on in the world besides the sleeper. */
  meanwhile: () => Promise<void>;
}

export function simulatedClock(start = Date.parse('2026-01-01T00:00:00.000Z')): SimulatedClock {
  let now = start;
  const clock: SimulatedClock = {
    now: () => now,
    monotonic: () => now,
    advance(ms) {
      now += ms;
    },
    meanwhile: async () => {},
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      now += ms;
      await clock.meanwhile();
    },
  };
  return clock;
}
