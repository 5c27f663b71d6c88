import { AppError } from '../base/errors.ts';
import type { StateCounts } from '../store/outbox-seam.ts';
import { doubtAfter, type OutboxContext, push } from './push.ts';
import { reconcile } from './reconcile.ts';
import { ARROWS } from './states.ts';

export interface DriveOptions {
  /** Only rows of this batch; null for all. */
  batch: string | null;
  perMinute: number;
  onProgress?: (counts: StateCounts) => void;
}

/** How often a watcher looks, and the longest single sleep of a driver: rows may be added or decided meanwhile. */
const LOOK_MS = 500;

/** Sends and reconciles until nothing is left to happen by itself. Whoever finds another sender at work only watches. */
export async function drive(context: OutboxContext, options: DriveOptions): Promise<StateCounts> {
  for (;;) {
    const lock = await context.store.lockSender();
    if (!lock.ok) {
      if (await isOver(context, options)) break;
      await context.clock.sleep(LOOK_MS, context.signal);
      continue;
    }
    try {
      await recoverOrphans(context);
      await endPause(context);
      await sendAll(context, options);
      break;
    } finally {
      lock.release();
    }
  }
  return await context.store.counts(options.batch);
}

/** Rows that a dead sender left behind: their attempt may have reached the upstream. */
export async function recoverOrphans(context: OutboxContext): Promise<number> {
  const rows = await context.store.orphans();
  for (const row of rows) {
    const attempts = await context.store.attempts(row.id);
    const now = context.clock.now();
    const began = Date.parse(attempts.at(-1)?.started_at ?? row.changed_at);
    const change = {
      now,
      error: 'the sender died while this was on its way',
      ...(await doubtAfter(context, began)),
    };
    const attempt = {
      id: row.id,
      n: row.attempts,
      outcome: 'unknown',
      httpStatus: null,
      error: change.error,
    };
    await context.store.endAttempt({ ...attempt, arrow: ARROWS.doubt, change });
  }
  return rows.length;
}

/** Sending was paused because of the token: a read shows whether that is over. */
async function endPause({ store, client, signal }: OutboxContext): Promise<void> {
  if ((await store.paused()) === null) return;
  await client.page('posts', '', signal);
  await store.setPaused(null);
}

async function sendAll(context: OutboxContext, options: DriveOptions): Promise<void> {
  const { store, clock, signal } = context;
  const pace = pacer(60_000 / options.perMinute);
  while (!(await isOver(context, options))) {
    signal.throwIfAborted();
    const { ready, settled, at } = await store.next(clock.now(), options.batch);
    if (settled !== null) await reconcile(context, settled);
    else if (ready !== null) {
      await clock.sleep(pace(clock.now()), signal);
      await pushOne(context, ready);
    } else await clock.sleep(Math.min(LOOK_MS, Math.max(1, (at ?? clock.now()) - clock.now())), signal);
    options.onProgress?.(await store.counts(options.batch));
  }
}

async function pushOne(context: OutboxContext, id: number): Promise<void> {
  const result = await push(context, id);
  const isPaused = result.sent ? result.outcome === 'unauthorised' : result.reason === 'paused';
  if (!isPaused) return;
  throw new AppError(
    'unauthorised',
    'the upstream refused the token, so sending is paused; nothing is lost',
    {
      hint: 'Put a valid token in FEEDBACK_API_TOKEN and run again.',
    },
  );
}

async function isOver({ store }: OutboxContext, { batch }: DriveOptions): Promise<boolean> {
  const { ready, sending, ambiguous } = await store.counts(batch);
  return ready + sending + ambiguous === 0;
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
