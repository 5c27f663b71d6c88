import { type Clock, isDue, pastOrNull } from '../base/clock.ts';
import { Failure } from './failure.ts';
import { RETRY_AFTER_CAP_MS } from './retry.ts';

/** When the upstream may be called: shared by everything that talks to it. */
export interface RateLimit {
  closeUntil(time: number): void;
  /** Until when nobody may call, on our clock, by the upstream's own word or the circuit breaker's; null when calls may go out. */
  closedUntil(now: number): number | null;
  /** Resolves when a call may go out; fails at once when that is further away than `maxWaitMs`. */
  pass(maxWaitMs: number, signal?: AbortSignal): Promise<void>;
  /** Until when the circuit breaker alone keeps calls back: the upstream asked for nothing then, it only does not answer. */
  outageUntil(now: number): number | null;
  /** Whether requests have failed in a row, and none has been answered since. */
  isDoubtful(): boolean;
  /** What one request came to: a status, or null where no answer came. */
  record(status: number | null): void;
}

/** What the upstream asked for, as times that other processes can read, also after a restart. */
export interface Closing {
  askedAt: number;
  until: number;
}

export interface RateLimitStore {
  read(): Closing | null;
  write(closing: Closing): void;
}

/**
 * A process waits on the monotonic clock, whatever the other one does meanwhile. What another process wrote down is translated once,
 * when it is first read.
 */
export function createRateLimit(
  clock: Clock,
  { store, breaker }: { store?: RateLimitStore; breaker?: CircuitBreaker } = {},
): RateLimit {
  let opensAt = Number.NEGATIVE_INFINITY;
  let seen = Number.NaN;
  const askedWait = (): number => {
    const closing = store?.read() ?? null;
    if (closing !== null && closing.until !== seen) {
      seen = closing.until;
      opensAt = Math.max(opensAt, clock.monotonic() + leftOf(closing, clock.now()));
    }
    return opensAt - clock.monotonic();
  };
  const outageWait = (): number => (breaker?.until() ?? 0) - clock.monotonic();
  const after = (wait: number, now: number): number | null => (wait > 0 ? now + Math.ceil(wait) : null);
  const closedUntil = (now: number): number | null => after(Math.max(askedWait(), outageWait()), now);
  return {
    closeUntil(time) {
      const now = clock.now();
      opensAt = Math.max(opensAt, clock.monotonic() + time - now);
      seen = time;
      store?.write({ askedAt: now, until: time });
    },
    closedUntil,
    outageUntil: (now) => (askedWait() > 0 ? null : after(outageWait(), now)),
    isDoubtful: () => breaker?.isDoubtful() === true,
    record: (status) => breaker?.record(status, clock.monotonic()),
    async pass(maxWaitMs, signal) {
      for (let opens = closedUntil(0); opens !== null; opens = closedUntil(0)) {
        if (opens > maxWaitMs) throw throttled(clock.now() + opens);
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

/** Counts failures in a row over every request of this process: an outage is met by all, so all wait together. */
export interface CircuitBreaker {
  /** When the next request is worth trying, on the monotonic clock; zero, or a moment that has passed, while there is no outage. */
  until(): number;
  isDoubtful(): boolean;
  record(status: number | null, now: number): void;
}

/** One or two failures are bad luck, and a read tries those again by itself. */
const BREAKER_THRESHOLD = 3;
const BREAKER_FIRST_MS = 1000;
const BREAKER_MAX_MS = 60_000;

export function createCircuitBreaker({ random = Math.random } = {}): CircuitBreaker {
  let failures = 0;
  let until = 0;
  return {
    until: () => until,
    isDoubtful: () => failures >= BREAKER_THRESHOLD,
    record(status, now) {
      if (status !== null && status < 500) {
        failures = 0;
        until = 0;
        return;
      }
      failures += 1;
      // What was under way when the wait began says nothing new about the time after it.
      if (failures < BREAKER_THRESHOLD || now < until) return;
      const doublings = Math.min(failures - BREAKER_THRESHOLD, 16);
      const ceiling = Math.min(BREAKER_MAX_MS, BREAKER_FIRST_MS * 2 ** doublings);
      until = now + ceiling / 2 + (random() * ceiling) / 2;
    },
  };
}
