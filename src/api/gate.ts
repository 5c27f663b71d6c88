import type { Clock } from '../base/clock.ts';
import { Failure } from './failure.ts';

/** Closed while the upstream wants nobody to call: shared by everything that talks to it. */
export interface Gate {
  closeUntil(time: number): void;
  /** When it opens, on our clock; null when it is open. */
  closedUntil(now: number): number | null;
  /** Resolves when the gate is open; fails at once when that is further away than `patienceMs`. */
  pass(clock: Clock, patienceMs: number, signal?: AbortSignal): Promise<void>;
}

export function createGate(opensAt = 0): Gate {
  let until = opensAt;
  const closedUntil = (now: number): number | null => (until > now ? until : null);
  return {
    closeUntil(time) {
      until = Math.max(until, time);
    },
    closedUntil,
    async pass(clock, patienceMs, signal) {
      for (let opens = closedUntil(clock.now()); opens !== null; opens = closedUntil(clock.now())) {
        const wait = opens - clock.now();
        if (wait > patienceMs) throw throttled(opens);
        await clock.sleep(wait, signal);
      }
    },
  };
}

export function throttled(until: number, httpStatus: number | null = null): Failure {
  const moment = new Date(until).toISOString();
  return new Failure('throttled', `the upstream asked us not to call before ${moment}`, {
    httpStatus,
    waitMs: 0,
    hint: `Try again after ${moment}.`,
  });
}
