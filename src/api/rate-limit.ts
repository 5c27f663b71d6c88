import { type Clock, isDue, pastOrNull } from '../base/clock.ts';
import { Failure } from './failure.ts';
import { RETRY_AFTER_CAP_MS } from './retry.ts';

/** Services limit reads and creates apart: DRF by throttle scopes, others by path. */
const CALL_KINDS = ['reads', 'creates'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** When the upstream may be called: shared by everything that talks to it. */
export interface RateLimit {
  /** The upstream refused calls of these kinds until then. */
  closeUntil(time: number, kinds?: readonly CallKind[]): void;
  /** Until when no call of this kind may go out, because the upstream or the circuit breaker says so; null where it may. Creates unless given. */
  closedUntil(now: number, kind?: CallKind): number | null;
  /** Resolves when a read may go out. Rejects without waiting if that is later than `maxWaitMs`. */
  pass(maxWaitMs: number, signal?: AbortSignal): Promise<void>;
  /** Until when the circuit breaker alone keeps creates back: the upstream does not answer, and has asked for no wait. */
  outageUntil(now: number): number | null;
  /** No create goes out for so long: something before the service answers in its place. */
  holdCreates(ms: number): void;
  /** Takes the status of a request, or null where no answer came, and why. The reason is repeated while no request may go out. */
  record(status: number | null, trouble?: string): void;
  /** Since when, on the monotonic clock, no request was answered, and why the last was not; null where it was, or the upstream asked us to wait. */
  unanswered(): { since: number; why: string } | null;
}

/** What the upstream asked for, as times that other processes can read, also after a restart. */
export interface Closing {
  askedAt: number;
  until: number;
}

export interface RateLimitStore {
  read(kind: CallKind): Closing | null;
  write(kind: CallKind, closing: Closing): void;
}

/**
 * A process waits on the monotonic clock, whatever the other one does meanwhile. What another process wrote down is translated once,
 * when it is first read.
 */
export function createRateLimit(
  clock: Clock,
  { store, breaker }: { store?: RateLimitStore; breaker?: CircuitBreaker } = {},
): RateLimit {
  const gates = { reads: newGate(), creates: newGate() };
  let heldUntil = Number.NEGATIVE_INFINITY;
  let unanswered: { since: number; why: string } | null = null;
  const askedWait = (kind: CallKind): number => {
    const gate = gates[kind];
    const closing = store?.read(kind) ?? null;
    if (closing !== null && closing.until !== gate.seen) {
      gate.seen = closing.until;
      gate.opensAt = Math.max(gate.opensAt, clock.monotonic() + leftOf(closing, clock.now()));
    }
    return gate.opensAt - clock.monotonic();
  };
  const outageWait = (kind: CallKind): number =>
    Math.max(breaker?.until() ?? 0, kind === 'creates' ? heldUntil : 0) - clock.monotonic();
  const after = (wait: number, now: number): number | null => (wait > 0 ? now + Math.ceil(wait) : null);
  const closedUntil = (now: number, kind: CallKind = 'creates'): number | null =>
    after(Math.max(askedWait(kind), outageWait(kind)), now);
  return {
    closeUntil(time, kinds = CALL_KINDS) {
      const now = clock.now();
      unanswered = null;
      for (const kind of kinds) {
        gates[kind].opensAt = Math.max(gates[kind].opensAt, clock.monotonic() + time - now);
        gates[kind].seen = time;
        store?.write(kind, { askedAt: now, until: time });
      }
    },
    closedUntil,
    outageUntil: (now) => (askedWait('creates') > 0 ? null : after(outageWait('creates'), now)),
    holdCreates(ms) {
      heldUntil = Math.max(heldUntil, clock.monotonic() + ms);
    },
    record(status, trouble) {
      breaker?.record(status, clock.monotonic());
      const why = trouble ?? (status === null || status >= 500 ? `the upstream answered ${status}` : null);
      unanswered = why === null ? null : { since: unanswered?.since ?? clock.monotonic(), why };
    },
    unanswered: () => unanswered,
    async pass(maxWaitMs, signal) {
      for (let opens = closedUntil(0, 'reads'); opens !== null; opens = closedUntil(0, 'reads')) {
        if (opens > maxWaitMs)
          throw askedWait('reads') > 0
            ? throttledFailure(clock.now() + opens)
            : new Failure('unreachable', unanswered?.why ?? 'the upstream does not answer');
        await clock.sleep(opens, signal);
      }
    },
  };
}

function newGate(): { opensAt: number; seen: number } {
  return { opensAt: Number.NEGATIVE_INFINITY, seen: Number.NaN };
}

/** How much of a wait that was written down is left; nothing where the clock was set in between. */
function leftOf({ askedAt, until }: Closing, now: number): number {
  if (pastOrNull(askedAt, now) === null || isDue(until, now, RETRY_AFTER_CAP_MS)) return 0;
  return until - now;
}

export function throttledFailure(until: number, httpStatus: number | null = null): Failure {
  const moment = new Date(until).toISOString();
  return new Failure('throttled', `the upstream asked us not to call before ${moment}`, {
    httpStatus,
    waitMs: 0,
    hint: `Try again after ${moment}.`,
  });
}

/** Counts failures in a row over every request of this process: an outage is met by all, so all wait together. */
interface CircuitBreaker {
  /** When the next request is worth trying, on the monotonic clock; zero, or a moment that has passed, while there is no outage. */
  until(): number;
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
    record(status, now) {
      if (status !== null && status < 500) {
        failures = 0;
        until = 0;
        return;
      }
      // What was under way when the wait began says nothing new about the time after it: neither this wait nor the next is longer for it.
      if (now < until) return;
      failures += 1;
      if (failures < BREAKER_THRESHOLD) return;
      const doublings = Math.min(failures - BREAKER_THRESHOLD, 16);
      const ceiling = Math.min(BREAKER_MAX_MS, BREAKER_FIRST_MS * 2 ** doublings);
      until = now + ceiling / 2 + (random() * ceiling) / 2;
    },
  };
}
