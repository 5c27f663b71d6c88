import { AppError } from '../base/errors.ts';
import type { Lock } from '../store/mirror/types.ts';
import type { StateCounts } from '../store/outbox/types.ts';
import { highestListed, type OutboxContext, push, settleFrom } from './push.ts';
import { reconcile, reconcileAt } from './reconcile.ts';
import { TRANSITIONS } from './states.ts';

export interface DriveOptions {
  /** Only rows of this batch; null for all. */
  batch: string | null;
  perMinute: number;
  onProgress?: (counts: StateCounts) => void;
}

/** How often a watcher looks, and the longest single sleep of a driver: rows may be added or decided meanwhile. */
const LOOK_MS = 500;

/**
 * Sends and reconciles until nothing is left to happen by itself. Whoever finds another sender at work only watches, and leaves the
 * sending to a service that comes: it sends for everybody, while this may wait for minutes for one row of its own.
 */
export async function drive(context: OutboxContext, options: DriveOptions): Promise<StateCounts> {
  const { store, clock, signal } = context;
  for (;;) {
    const lock = store.isSenderWanted() ? null : store.lockSender();
    if (lock?.ok) await sendUnderLock(context, options, lock);
    if (store.isOver(options.batch)) return store.counts(options.batch);
    await clock.sleep(LOOK_MS, signal);
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

/** Rows that a dead sender left behind: their attempt may have reached the upstream. */
export function recoverOrphans(context: OutboxContext): number {
  const rows = context.store.orphans();
  for (const row of rows) {
    const attempts = context.store.attempts(row.id);
    const now = context.clock.now();
    // Frozen between its claim and its request, the dead sender may have sent it long after the deadline, but not after now.
    const latest = Math.max(now, Date.parse(attempts.at(-1)?.deadline_at ?? row.changed_at));
    const change = {
      now,
      error: 'the sender died while this was on its way',
      ...settleFrom(context, latest),
    };
    const attempt = {
      id: row.id,
      n: row.attempts,
      outcome: 'unknown',
      httpStatus: null,
      error: change.error,
    };
    context.store.endAttempt({ ...attempt, transition: TRANSITIONS.markAmbiguous, change });
  }
  return rows.length;
}

/** Sending was paused because of the token: a read shows whether that is over. */
export async function endPause({ store, client, signal }: OutboxContext): Promise<void> {
  if (store.paused() === null) return;
  await client.page('posts', '', signal);
  store.setPaused(null);
}

async function sendAll(context: OutboxContext, options: DriveOptions): Promise<void> {
  const { store, clock, signal } = context;
  const pace = pacer(60_000 / options.perMinute);
  const tell = teller(context, options);
  while (!store.isOver(options.batch)) {
    signal.throwIfAborted();
    if (store.isSenderWanted()) return;
    const now = clock.now();
    const { ready, unclear, at } = store.next(now, options.batch);
    const settledAt = unclear && reconcileAt(unclear, context.settleMs);
    const closedUntil = context.gate.closedUntil(now);
    if (closedUntil !== null) await clock.sleep(waitFor(now, closedUntil), signal);
    else if (settledAt !== null && settledAt <= now) await reconcileAll(context);
    else if (ready !== null) {
      await clock.sleep(pace(now), signal);
      await pushOne(context, ready);
    } else await clock.sleep(waitFor(now, at, settledAt), signal);
    await tell();
  }
  options.onProgress?.(store.counts(options.batch));
}

/** Until the first of these moments, and never for long. */
function waitFor(now: number, ...times: (number | null)[]): number {
  const next = Math.min(now + LOOK_MS, ...times.filter((time) => time !== null));
  return Math.max(1, next - now);
}

/** Counting a large outbox takes longer than sending a row, so it is done as often as people can follow. */
function teller({ store, clock }: OutboxContext, { batch, onProgress }: DriveOptions): () => Promise<void> {
  let next = Number.NEGATIVE_INFINITY;
  return async () => {
    if (!onProgress || clock.monotonic() < next) return;
    next = clock.monotonic() + LOOK_MS / 2;
    onProgress(store.counts(batch));
  };
}

async function pushOne(context: OutboxContext, id: number): Promise<void> {
  const result = await push(context, id);
  if (result.sent ? result.outcome === 'unauthorised' : result.reason === 'paused') throw refusedToken();
}

async function reconcileAll(context: OutboxContext): Promise<void> {
  const results = await reconcile(context);
  const isPostponed = [...results.values()].includes('later');
  if (isPostponed && context.store.paused() !== null) throw refusedToken();
}

function refusedToken(): AppError {
  return new AppError(
    'unauthorised',
    'the upstream refused the token, so sending is paused; nothing is lost',
    {
      hint: 'Put a valid token in FEEDBACK_API_TOKEN and run again.',
    },
  );
}

/** Milliseconds to wait so that sends are at least `gap` apart. */
function pacer(gap: number): (now: number) => number {
  let last = Number.NEGATIVE_INFINITY;
  return (now) => {
    const wait = Math.max(0, last + gap - now);
    last = now + wait;
    return wait;
  };
}
