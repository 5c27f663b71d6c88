import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';

/** A wrong token is answered late, and later each time; one address must not slow down another. */
export interface Guesses {
  /** Delays the answer to a wrong token, at most until its client has gone. False if too many answers wait already. */
  wrong(address: string, response?: Pick<ServerResponse, 'once'>): Promise<boolean>;
}

export const TOO_MANY_GUESSES = {
  status: 429,
  detail:
    'Too many wrong tokens wait for their answer. Try again in a few seconds; the right token is always let in.',
  headers: { 'retry-after': '5' },
};

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 16_000;
const FORGIVEN_MS = 60_000;
const MOST_ADDRESSES = 1000;
/** Over all addresses: each keeps a request in memory. */
const MOST_WAITING = 64;

/** The token itself is compared first and never waits: guessing must not lock its owner out, also not from the same address. */
export function slowGuesses(clock: Clock): Guesses {
  const wrong = new Map<string, { times: number; at: number }>();
  let waiting = 0;
  const delayOf = (address: string): number => {
    const now = clock.now();
    const before = wrong.get(address);
    const times = before && Math.abs(now - before.at) < FORGIVEN_MS ? before.times + 1 : 1;
    wrong.delete(address);
    wrong.set(address, { times, at: now });
    const [oldest] = wrong.keys();
    if (wrong.size > MOST_ADDRESSES && oldest !== undefined) wrong.delete(oldest);
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(times - 1, 10));
  };
  return {
    async wrong(address, response) {
      const delay = delayOf(address);
      if (waiting >= MOST_WAITING) return false;
      waiting += 1;
      const gone = new AbortController();
      response?.once('close', () => gone.abort());
      await clock.sleep(delay, gone.signal).catch(() => undefined);
      waiting -= 1;
      return true;
    },
  };
}
