import type { Clock } from '../base/clock.ts';
import { Failure } from './failure.ts';
import type { Outage } from './outage.ts';

/** Closed while the upstream wants nobody to call, or does not answer: shared by everything that talks to it. */
export interface Gate {
  closeUntil(time: number): void;
  /** When it opens, on our clock; null when it is open. */
  closedUntil(now: number): number | null;
  /** Resolves when the gate is open; fails at once when that is further away than `patienceMs`. */
  pass(clock: Clock, patienceMs: number, signal?: AbortSignal): Promise<void>;
  /** Until when an outage alone keeps it closed: nobody was asked to wait then, it is only of no use to call. */
  outageUntil(now: number): number | null;
  /** What one request came to: an answer, or a sign that nobody is there. */
  learn(status: number | null, now: number): void;
}

/** Where the moment is kept for other processes and for after a restart. */
export interface GateMemory {
  read(): number;
  write(until: number): void;
}

/** Longer than any wait we take an upstream's word for: beyond it the clock was set back, and the gate would never open. */
const LONGEST_MS = 2 * 3_600_000;

export function createGate(
  opensAt = 0,
  { memory, outage }: { memory?: GateMemory; outage?: Outage } = {},
): Gate {
  let own = opensAt;
  const askedUntil = (now: number): number => {
    const until = Math.max(own, memory?.read() ?? 0);
    return memory !== undefined && until > now + LONGEST_MS ? 0 : until;
  };
  const outageUntil = (now: number): number | null => {
    const until = outage?.until() ?? 0;
    return until > now && askedUntil(now) <= now ? until : null;
  };
  const closedUntil = (now: number): number | null => {
    const until = Math.max(askedUntil(now), outage?.until() ?? 0);
    return until > now ? until : null;
  };
  return {
    closeUntil(time) {
      own = Math.max(own, time);
      if (memory !== undefined && memory.read() < time) memory.write(time);
    },
    closedUntil,
    outageUntil,
    learn: (status, now) => outage?.learn(status, now),
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
