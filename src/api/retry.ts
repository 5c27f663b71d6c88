export interface RetryPolicy {
  /** How often a read is tried in all. */
  attempts: number;
  firstDelayMs: number;
  maxDelayMs: number;
  /** The longest wait an upstream may ask of a read; beyond it the read fails and says until when. */
  patienceMs: number;
}

export const RETRY_DEFAULTS: RetryPolicy = {
  attempts: 5,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
  patienceMs: 120_000,
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

/** Statuses whose `Retry-After` is heard. */
export function hearsRetryAfter(status: number): boolean {
  return status === 429 || status === 503;
}
