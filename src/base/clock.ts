import { setTimeout as delay } from 'node:timers/promises';

/** Time as an argument, so that tests never sleep and never race. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node turns a longer delay into one of a millisecond. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      let left = Math.max(ms, 0);
      do {
        await delay(Math.min(left, LONGEST_DELAY_MS), undefined, signal ? { signal } : {});
        left -= LONGEST_DELAY_MS;
      } while (left > 0);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};
