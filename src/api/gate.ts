import { type Clock, isDue, pastOrNull } from '../base/clock.ts';
import { Failure } from './failure.ts';
import type { Outage } from './outage.ts';
import { RETRY_AFTER_CAP_MS } from './retry-after.ts';

/** Closed while the upstream wants nobody to call, or does not answer: shared by everything that talks to it. */
export interface Gate {
  closeUntil(time: number): void;
  /** When it opens, on our clock; null when it is open. */
  closedUntil(now: number): number | null;
  /** Resolves when the gate is open; fails at once when that is further away than `patienceMs`. */
  pass(patienceMs: number, signal?: AbortSignal): Promise<void>;
  /** Until when an outage alone keeps it closed: nobody was asked to wait then, it is only of no use to call. */
  outageUntil(now: number): number | null;
  /** What one request came to: an answer, or a sign that nobody is there. */
  learn(status: number | null): void;
}

/** What the upstream asked for, as times that other processes can read, also after a restart. */
export interface Closing {
  askedAt: number;
  until: number;
}

export interface GateMemory {
  read(): Closing | null;
  write(closing: Closing): void;
}

/**
 * A process waits on the monotonic clock, whatever the other one does meanwhile. What another process wrote down is translated once,
 * when it is first read.
 */
export function createGate(
  clock: Clock,
  { memory, outage }: { memory?: GateMemory; outage?: Outage } = {},
): Gate {
  let opensAt = Number.NEGATIVE_INFINITY;
  let seen = Number.NaN;
  const askedWait = (): number => {
    const closing = memory?.read() ?? null;
    if (closing !== null && closing.until !== seen) {
      seen = closing.until;
      opensAt = Math.max(opensAt, clock.monotonic() + leftOf(closing, clock.now()));
    }
    return opensAt - clock.monotonic();
  };
  const outageWait = (): number => (outage?.until() ?? 0) - clock.monotonic();
  const after = (wait: number, now: number): number | null => (wait > 0 ? now + Math.ceil(wait) : null);
  const closedUntil = (now: number): number | null => after(Math.max(askedWait(), outageWait()), now);
  return {
    closeUntil(time) {
      const now = clock.now();
      opensAt = Math.max(opensAt, clock.monotonic() + time - now);
      seen = time;
      memory?.write({ askedAt: now, until: time });
    },
    closedUntil,
    outageUntil: (now) => (askedWait() > 0 ? null : after(outageWait(), now)),
    learn: (status) => outage?.learn(status, clock.monotonic()),
    async pass(patienceMs, signal) {
      for (let opens = closedUntil(0); opens !== null; opens = closedUntil(0)) {
        if (opens > patienceMs) throw throttled(clock.now() + opens);
        await clock.sleep(opens, signal);
      }
    },
  };
}

/** How much of a wait that was written down is left; nothing where the clock was set in between. */
function leftOf({ askedAt, until }: Closing, now: number): number {
  if (pastOrNull(askedAt, now) === null || isDue(until, now, RETRY_AFTER_CAP_MS)) return 0;
  return until - now;
}

export function throttled(until: number, httpStatus: number | null = null): Failure {
  const moment = new Date(until).toISOString();
  return new Failure('throttled', `the upstream asked us not to call before ${moment}`, {
    httpStatus,
    waitMs: 0,
    hint: `Try again after ${moment}.`,
  });
}
