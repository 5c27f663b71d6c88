import { AppError } from '../../src/base/errors.ts';
import type { Lock } from '../../src/db/lock.ts';
import type { StateCounts } from '../../src/outbox/decide/types.ts';
import type { OutboxContext } from '../../src/outbox/send/context.ts';
import { recoverOrphans } from '../../src/outbox/send/ended.ts';
import { highestListed } from '../../src/outbox/send/highest-listed.ts';
import { endPause } from '../../src/outbox/send/pause.ts';
import { push } from '../../src/outbox/send/push.ts';
import { reconcile } from '../../src/outbox/send/reconcile.ts';
import { reconcileAt } from '../../src/outbox/send/settle.ts';

export interface DriveOptions {
  batch: string | null;
  perMinute: number;
  /** How long it looks away: what is due is known, but not what another process does. */
  pollMs?: number;
}

const POLL_MS = 500;

/** The only sender, on a clock that does not run by itself, has nothing to look for meanwhile: half-seconds took most of its time. */
export const ALL = { batch: null, perMinute: 6000, pollMs: 10_000 };

/**
 * The sender of the service on the clock of a test, without the queue, which knows no other clock than the system's: sends and
 * reconciles until nothing is left to happen by itself, and only watches while another sender has the lock.
 */
export async function drive(context: OutboxContext, options: DriveOptions): Promise<StateCounts> {
  const { store, clock, signal } = context;
  for (;;) {
    const lock = store.lockSender();
    if (lock.ok) await sendUnderLock(context, options, lock);
    if (store.isOver(options.batch)) return store.counts(options.batch);
    await clock.sleep(options.pollMs ?? POLL_MS, signal);
  }
}

async function sendUnderLock(context: OutboxContext, options: DriveOptions, lock: Lock): Promise<void> {
  try {
    recoverOrphans(context);
    await endPause(context);
    if (!context.store.isOver(options.batch)) await highestListed(context);
    await sendAll(context, options);
  } finally {
    lock.release();
  }
}

async function sendAll(context: OutboxContext, options: DriveOptions): Promise<void> {
  const { batch, perMinute, pollMs = POLL_MS } = options;
  const { store, clock, signal } = context;
  let sentAt = Number.NEGATIVE_INFINITY;
  while (!store.isOver(batch)) {
    signal.throwIfAborted();
    const now = clock.now();
    const { ready, unclear, at } = store.due(now, 1, batch);
    const settledAt = unclear && reconcileAt(unclear, ready.length > 0);
    const closedUntil = context.gate.closedUntil(now);
    if (closedUntil !== null) await clock.sleep(until(now, now + pollMs, closedUntil), signal);
    else if (settledAt !== null && settledAt <= now) await reconcile(context);
    else if (ready[0] !== undefined) {
      const wait = Math.max(0, sentAt + 60_000 / perMinute - now);
      sentAt = now + wait;
      await clock.sleep(wait, signal);
      await push(context, ready[0]);
    } else await clock.sleep(until(now, now + pollMs, at, settledAt), signal);
    if (store.paused() !== null) throw new AppError('unauthorised', 'the token was refused');
  }
}

/** Until the first of these moments. */
function until(now: number, ...times: (number | null)[]): number {
  return Math.max(1, Math.min(...times.filter((time) => time !== null)) - now);
}
