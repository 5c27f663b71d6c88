import type { Clock } from '../base/clock.ts';

/**
 * Retries of the whole process against one another: without it, every reader of a failing upstream multiplies the load
 * by its number of attempts. First attempts pay in, retries pay out, so that retries stay a third of the traffic: enough for a
 * service that fails one request in five, whose pages each waited for a minute while it was a tenth. When
 * nothing is left, one retry a minute in all still finds out that the upstream is back.
 */
export interface RetryBudget {
  /** A request was tried for the first time. */
  deposit(): void;
  /** Resolves when one retry may go out. */
  take(clock: Clock, signal?: AbortSignal): Promise<void>;
  /** Retries that could go out at once. */
  balance(): number;
}

export interface BudgetOptions {
  /** What one first attempt pays in. */
  share?: number;
  start?: number;
  cap?: number;
  probeEveryMs?: number;
}

export function createRetryBudget(options: BudgetOptions = {}): RetryBudget {
  const { share = 1 / 3, start = 10, cap = 100, probeEveryMs = 60_000 } = options;
  let balance = start;
  let lastProbe = Number.NEGATIVE_INFINITY;

  /** Zero when a retry was granted, else how long until it is worth asking again. */
  const ask = (now: number): number => {
    if (balance >= 1) {
      balance -= 1;
      // The minute runs from the last retry of any kind: an emptied balance is not followed by a probe at once.
      lastProbe = now;
      return 0;
    }
    const wait = lastProbe + probeEveryMs - now;
    // A clock set back must not stop probing for as long as it went back.
    if (wait > 0 && wait <= probeEveryMs) return wait;
    lastProbe = now;
    return 0;
  };

  return {
    deposit() {
      balance = Math.min(cap, balance + share);
    },
    async take(clock, signal) {
      for (let wait = ask(clock.now()); wait > 0; wait = ask(clock.now())) await clock.sleep(wait, signal);
    },
    balance: () => balance,
  };
}
