export interface RetryPolicy {
  attempts: number;
  firstDelayMs: number;
  maxDelayMs: number;
  /** The longest wait an upstream may ask of a read; beyond it the read fails and says until when. */
  maxWaitMs: number;
}

export const RETRY_DEFAULTS: RetryPolicy = {
  attempts: 5,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
  maxWaitMs: 120_000,
};

/**
 * The wait after the nth failure, doubling up to the cap. Half of it is random: enough to spread clients that failed
 * together, while a retry never follows at once.
 */
export function backoffMs(policy: RetryPolicy, failures: number, random: () => number): number {
  const ceiling = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (failures - 1));
  return Math.round(ceiling / 2 + (ceiling / 2) * random());
}

/** Statuses that a read may meet again with another result. */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** The longest wait we take an upstream's word for. */
export const RETRY_AFTER_CAP_MS = 3_600_000;
/** Beyond a day the header is a mistake (often a timestamp in the wrong unit), not a wish. */
const ABSURD_MS = 86_400_000;

export type Header = string | string[] | undefined;

/** How long an answer asks us to wait, in milliseconds; null where it does not, or not credibly. */
export function waitAsked(status: number, headers: Record<string, Header>, now: number): number | null {
  if (status !== 429 && status !== 503) return null;
  return retryAfterMs(headers['retry-after'], headers.date, now);
}

/**
 * How long to wait by a `Retry-After` header, or null where it says nothing we can trust: then our own backoff holds.
 * A date is read against the answer's own `Date`, so that a wrong clock on either side does not matter.
 */
export function retryAfterMs(header: Header, date: Header, now: number): number | null {
  const waits = [header]
    .flat()
    .map((one) => secondsOf(one) ?? untilDate(one, httpDate(date) ?? now))
    .filter((wait) => wait !== null && wait > 0 && wait <= ABSURD_MS);
  // Of several the longest: a server and a proxy before it may each have said one.
  return waits.length === 0 ? null : Math.min(Math.max(...waits.map(Number)), RETRY_AFTER_CAP_MS);
}

const TIME = String.raw`\d\d:\d\d:\d\d`;
/** As servers must write it, and the two older forms that must still be read; the last has no zone in it. */
const HTTP_DATE = new RegExp(
  `^(?:[A-Z][a-z]{2}, \\d\\d [A-Z][a-z]{2} \\d{4} ${TIME} GMT|[A-Z][a-z]{5,8}, \\d\\d-[A-Z][a-z]{2}-\\d\\d ${TIME} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${TIME} \\d{4})$`,
);

export function httpDate(header: Header): number | null {
  if (typeof header !== 'string' || !HTTP_DATE.test(header)) return null;
  const time = Date.parse(header.endsWith('GMT') ? header : `${header} GMT`);
  return Number.isNaN(time) ? null : time;
}

export function ageOf(header: Header): number {
  return secondsOf(header) ?? 0;
}

function secondsOf(header: Header): number | null {
  const isSeconds = typeof header === 'string' && /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(header);
  return isSeconds ? Math.ceil(Number(header) * 1000) : null;
}

function untilDate(header: Header, now: number): number | null {
  const date = httpDate(header);
  return date === null ? null : date - now;
}
