export interface Moments {
  /** When the page was received. New rows get this time. */
  at: string;
  /** When the upstream had the page in this form. A page from a cache is older than its receipt. */
  shownAt: string;
  /** When the page is written. */
  now: string;
}

/**
 * Whether something was seen after the moment that a page shows. Then the page must not overwrite it. A time in the future was written
 * while the clock was ahead, so it counts as earlier.
 */
export function isLate(seenAt: string, { shownAt, now }: Moments): boolean {
  return shownAt < seenAt && seenAt <= now;
}
