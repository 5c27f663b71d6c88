import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';

/** Windows shorter than this cost more than they even out. */
const SHORTEST_WINDOW_MS = 100;
/** Times with fractions are rounded by less. */
const ROUNDING_MS = 1;

/**
 * How many posts leave a minute. It stands in the file, so whatever process sends keeps to it: each post uses up the time until the next
 * one may leave. The pace is even: a minute's worth of posts is not sent in the first second of it.
 */
export function paceOf(db: Db) {
  const usedUp = scalar(db)<[], number>("SELECT CAST(value AS REAL) FROM meta WHERE key = 'push_used_until'");
  const note = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('push_used_until', ?)");
  const usedUntil = (perMinute: number, now: number): number => {
    const until = usedUp.get() ?? 0;
    // No post uses up more than a window: a time further away was written by a clock that was ahead, or for a slower pace.
    return until > now + windowOf(perMinute) + ROUNDING_MS ? now : Math.max(until, now);
  };
  return {
    /** When the next post may leave; null where it may now. */
    nextSendAt(perMinute: number, now: number): number | null {
      const until = usedUntil(perMinute, now);
      const isFull = until - now > windowOf(perMinute) - intervalOf(perMinute);
      return isFull ? Math.ceil(until) : null;
    },
    noteSend: (perMinute: number, now: number): void =>
      void note.run(String(usedUntil(perMinute, now) + intervalOf(perMinute))),
  };
}

function intervalOf(perMinute: number): number {
  return 60_000 / perMinute;
}

function windowOf(perMinute: number): number {
  return Math.max(SHORTEST_WINDOW_MS, intervalOf(perMinute));
}
