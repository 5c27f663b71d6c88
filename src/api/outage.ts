/** Counts failures in a row over every request of this process: an outage is met by all, so all wait together. */
export interface Outage {
  /** When the next request is worth trying, on the monotonic clock; zero, or a moment that has passed, while there is no outage. */
  until(): number;
  learn(status: number | null, now: number): void;
}

export interface OutageOptions {
  random?: () => number;
  /** Failures in a row from which on everyone waits: one or two are bad luck, and a read tries those again by itself. */
  threshold?: number;
  firstMs?: number;
  maxMs?: number;
}

export function watchForOutage(options: OutageOptions = {}): Outage {
  const { random = Math.random, threshold = 3, firstMs = 1000, maxMs = 60_000 } = options;
  let failures = 0;
  let until = 0;
  return {
    until: () => until,
    learn(status, now) {
      if (status !== null && status < 500) {
        failures = 0;
        until = 0;
        return;
      }
      failures += 1;
      // What was under way when the wait began says nothing new about the time after it.
      if (failures < threshold || now < until) return;
      const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(failures - threshold, 16));
      until = now + ceiling / 2 + (random() * ceiling) / 2;
    },
  };
}
