import type { Clock } from '../../src/base/clock.ts';

/** A clock that only moves when told to, or when someone sleeps on it: a sleep of an hour takes no time. */
export interface FakeClock extends Clock {
  advance(ms: number): void;
  /** As if somebody had set the clock: no time passes. */
  set(now: number): void;
  /** Every sleep asked for, in order. */
  readonly slept: number[];
  /** What goes on in the world besides the sleeper, during each sleep. */
  meanwhile: () => Promise<void>;
}

export function fakeClock(start = Date.parse('2026-01-01T00:00:00.000Z')): FakeClock {
  let now = start;
  let passed = 0;
  const advance = (ms: number): void => {
    now += ms;
    passed += ms;
  };
  const slept: number[] = [];
  const clock: FakeClock = {
    slept,
    meanwhile: () => Promise.resolve(),
    now: () => now,
    monotonic: () => passed,
    idle: () => passed,
    advance,
    set(time) {
      now = time;
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      advance(ms);
      await clock.meanwhile();
    },
  };
  return clock;
}

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
    idle: () => now,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onAbort = (): void => {
        sleepers = sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      // A listener that stays is gone past whenever another is added: with thousands of sleeps on one signal that took seconds.
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper = { at: now + ms, wake };
      sleepers.push(sleeper);
      signal?.addEventListener('abort', onAbort);
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

/** The wall clock of this process as if somebody had set it: `Date` tells the machine's time plus an offset. Timers are left alone, as they are when a real clock is set. */
export interface ShiftedDate {
  shift(ms: number): void;
  restore(): void;
}

export function shiftDate(): ShiftedDate {
  const RealDate = Date;
  let offset = 0;
  globalThis.Date = class extends RealDate {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(RealDate.now() + offset);
      else super(...(given as [number]));
    }

    static override now(): number {
      return RealDate.now() + offset;
    }
  } as DateConstructor;
  return {
    shift(ms) {
      offset = ms;
    },
    restore() {
      globalThis.Date = RealDate;
    },
  };
}
