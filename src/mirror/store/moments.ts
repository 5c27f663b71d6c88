/** The moments of a page. */
export interface Moments {
  /** When it was received: the time of what is new in it. */
  at: string;
  /** When the upstream had it so: earlier, where a cache in between kept it, or a walk that was interrupted shows what was so then. */
  shownAt: string;
  /** When it is written. */
  now: string;
}

/**
 * Whether something was seen after what the page shows, which must not overwrite it then. A time that has not come yet was written while
 * the clock was ahead, before anything we see now.
 */
export function isLate(seenAt: string, { shownAt, now }: Moments): boolean {
  return shownAt < seenAt && seenAt <= now;
}
