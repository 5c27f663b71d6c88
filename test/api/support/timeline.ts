import type { Clock } from '../../../src/base/clock.ts';

/**
 * A clock for many sleepers at once: time jumps to the earliest of them when everyone else waits.
 * `fakeClock` moves on for each sleep, which is right for one sleeper and wrong for a crowd.
 */
export interface Timeline extends Clock {
  /** Lets time pass up to the moment, waking sleepers in order. */
  runUntil(time: number): Promise<void>;
}

export function timeline(start = 0): Timeline {
  let now = start;
  let sleepers: { at: number; wake: () => void }[] = [];
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    monotonic: () => now,
    sleep(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const sleeper = { at: now + ms, wake: resolve };
      sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        sleepers = sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      });
      return promise;
    },
    async runUntil(time) {
      for (;;) {
        await settle();
        const next = Math.min(...sleepers.map(({ at }) => at));
        if (next > time) break;
        now = next;
        const due = sleepers.filter(({ at }) => at <= now);
        sleepers = sleepers.filter(({ at }) => at > now);
        for (const { wake } of due) wake();
      }
      now = time;
    },
  };
}
