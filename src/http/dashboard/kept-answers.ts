import type { Clock } from '../../base/clock.ts';

export interface KeptOptions<T> {
  compute(key: string): Promise<T>;
  /** Another number whenever the mirror has changed. */
  version(): number;
  clock: Clock;
}

export interface Kept<T> {
  value: T;
  /** When it was computed, in milliseconds since the epoch. */
  at: number;
}

/** An answer moves on with the time although nothing changes: periods end now. */
const FRESH_MS = 60_000;
/** How long somebody waits for the newest figures when the last ones are at hand. */
const PATIENCE_MS = 200;
/** Beyond this the last ones are no answer any more. */
const OLDEST_MS = 15 * 60_000;
const MOST_KEYS = 40;
/** At most one part in so many of a thread's time: for a page that is open while the mirror changes, and for one that nobody looks at. */
const REST = { asked: 10, warmed: 50 };

interface Entry<T> extends Kept<T> {
  /** The same on the monotonic clock. */
  began: number;
  version: number;
  tookMs: number;
}

/**
 * Answers that take long in a large mirror, kept for whoever asks next. In a small one everybody gets the newest; where that takes
 * longer than people like to wait, they get the last one at once, with its age, and the newest is under way.
 */
export function keepAnswers<T>({ compute, version, clock }: KeptOptions<T>) {
  const kept = new Map<string, Entry<T>>();
  const underWay = new Map<string, Promise<Entry<T>>>();

  const isFresh = (entry: Entry<T>): boolean =>
    entry.version === version() && clock.monotonic() - entry.began < FRESH_MS;
  const isSettled = (entry: Entry<T>, rest: number): boolean =>
    isFresh(entry) || clock.monotonic() - entry.began < entry.tookMs * rest;
  const renew = (key: string): Promise<Entry<T>> => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const started = work(key).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
  const work = async (key: string): Promise<Entry<T>> => {
    // Noted before: what is written meanwhile makes the answer an old one.
    const [at, began, seen] = [clock.now(), clock.monotonic(), version()];
    const value = await compute(key);
    const entry = { value, at, began, version: seen, tookMs: clock.monotonic() - began };
    kept.delete(key);
    kept.set(key, entry);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEYS && oldest !== undefined) kept.delete(oldest);
    return entry;
  };

  return {
    async ask(key: string): Promise<Kept<T>> {
      const last = kept.get(key);
      if (last && isSettled(last, REST.asked)) return last;
      const newest = renew(key);
      if (!last || clock.monotonic() - last.began > OLDEST_MS) return await newest;
      const patience = new AbortController();
      const wait = clock.sleep(PATIENCE_MS, patience.signal).then(
        () => last,
        () => last,
      );
      // What fails late is tried again with the next question; what fails soon is said.
      newest.catch(() => undefined);
      try {
        return await Promise.race([newest, wait]);
      } finally {
        patience.abort();
      }
    },
    /** To be called now and then: has the answer ready before anybody asks. */
    async warm(key: string): Promise<void> {
      const last = kept.get(key);
      if (!last || !isSettled(last, REST.warmed)) await renew(key);
    },
  };
}
