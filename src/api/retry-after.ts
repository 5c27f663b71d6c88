/** The longest wait we take an upstream's word for. */
export const RETRY_AFTER_CAP_MS = 3_600_000;
/** Beyond a day the header is a mistake (often a timestamp in the wrong unit), not a wish. */
const ABSURD_MS = 86_400_000;

type Header = string | string[] | undefined;

const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/** Milliseconds since the epoch of an HTTP date as servers must write it, or null. */
export function httpDate(header: Header): number | null {
  if (typeof header !== 'string' || !HTTP_DATE.test(header)) return null;
  const time = Date.parse(header);
  return Number.isNaN(time) ? null : time;
}

/**
 * How long to wait by a `Retry-After` header, or null where it says nothing we can trust: then our own backoff holds.
 * A date is read against the answer's own `Date`, so that a wrong clock on either side does not matter.
 */
export function retryAfterMs(header: Header, date: Header, now: number): number | null {
  const wait = secondsOf(header) ?? untilDate(header, httpDate(date) ?? now);
  if (wait === null || wait <= 0 || wait > ABSURD_MS) return null;
  return Math.min(wait, RETRY_AFTER_CAP_MS);
}

function secondsOf(header: Header): number | null {
  return typeof header === 'string' && /^\s*\d{1,15}\s*$/.test(header) ? Number(header) * 1000 : null;
}

function untilDate(header: Header, now: number): number | null {
  const date = httpDate(header);
  return date === null ? null : date - now;
}
