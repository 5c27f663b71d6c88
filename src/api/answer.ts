import type { Secret } from '../base/secret.ts';
import { oneLine } from './failure.ts';
import type { Answer } from './request.ts';
import { hearsRetryAfter } from './retry.ts';
import { retryAfterMs } from './retry-after.ts';

/** How long this answer asks us to wait, in milliseconds; null where it does not, or not credibly. */
export function waitAsked({ status, headers }: Answer, now: number): number | null {
  return hearsRetryAfter(status) ? retryAfterMs(headers['retry-after'], headers.date, now) : null;
}

/** `the upstream answered 422: title is too long`, on one line, in the upstream's own words where it has any. */
export function explainAnswer({ status, body }: Answer, secret: Secret): string {
  const words = body.ok ? quote(body.text, secret) : '';
  return `the upstream answered ${status}${words === '' ? '' : `: ${words}`}`;
}

/** Masked before it is cut: half a token would no longer be recognised. */
export function quote(text: string, secret: Secret, limit = 300): string {
  return oneLine(secret.mask(text.slice(0, 20_000)), limit);
}
