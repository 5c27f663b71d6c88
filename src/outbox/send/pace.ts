import type { CreateOutcome } from '../../api/client.ts';
import type { OutboxContext } from './context.ts';

/** The present share of the pace, and the share from which on it grows slowly again. */
interface Share {
  now: number;
  safe: number;
}

const shares = new WeakMap<object, Share>();
const LEAST_SHARE = 1 / 64;
/** Each post that arrives raises the share: fast after an outage, slowly towards the rate at which the service refused. */
const WON_BACK = { fast: 1.5, slow: 1.03 };
const SLOW_DOWN = [429, 503];

/** How many posts may leave a minute just now. */
export function currentPace({ store, perMinute }: Pick<OutboxContext, 'store' | 'perMinute'>): number {
  return Math.max(1, perMinute * (shares.get(store)?.now ?? 1));
}

/** 429, 503 and refused connections halve the pace before they make rows unclear by the dozen. */
export function adaptPace({ store }: OutboxContext, outcome: CreateOutcome): void {
  const { now, safe } = shares.get(store) ?? { now: 1, safe: 1 };
  const isRefused = 'httpStatus' in outcome && SLOW_DOWN.includes(outcome.httpStatus ?? 0);
  const half = Math.max(LEAST_SHARE, now / 2);
  if (isRefused) shares.set(store, { now: half, safe: half });
  else if (outcome.outcome === 'not-sent') shares.set(store, { now: half, safe });
  else if (outcome.outcome === 'confirmed')
    shares.set(store, { now: Math.min(1, now * (now < safe ? WON_BACK.fast : WON_BACK.slow)), safe });
}
