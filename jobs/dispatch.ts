import type { App } from '../src/app.ts';
import { reconcileAt } from '../src/outbox/send/settle.ts';
import type { QueueBackend } from '../src/queue/backend.ts';

/** Enqueues a job for each row that can be sent, and one for all rows that can be reconciled. The outbox knows which; the queue only runs. */
export interface Dispatcher {
  /** Enqueues what is due and was not enqueued lately; returns how many jobs that were. */
  look(): Promise<number>;
  /** The queue is done with the job of this row: if the row is due again, it is enqueued again. */
  ended(id: number): void;
  /** When the next look is worth while, if nothing changes before; null when nothing waits for time. */
  nextAt(): number | null;
  /**
   * Whether so few rows are in the queue that the next ones should be enqueued. Where none is, rows may be left that were held back by one
   * with the same words.
   */
  isLow(): boolean;
}

export interface DispatcherOptions {
  app: Pick<App, 'outbox' | 'gate' | 'clock'> & {
    settings: Pick<App['settings'], 'pushPerMinute'>;
  };
  backend: QueueBackend;
  /** Only rows of this batch; all where it is left out. */
  batch?: string | null;
  /** How long a row counts as enqueued: after that it is enqueued again, in case the queue has lost it. Twice in the queue it never is. */
  forgetMs: number;
}

/** Stands for the one reconcile job of all rows. Ids of rows begin at 1. */
export const RECONCILE = 0;

/** More would only fill the queue's memory: what is not enqueued stands safe in the outbox. */
const MOST = 300;
const FEWEST = 10;

/**
 * How many rows are in the queue at a time: as many as are sent until they are enqueued anew. A row whose time comes later waits behind
 * them, so there are few at a slow pace.
 */
export function batchFor(perMinute: number, forgetMs: number): number {
  return Math.max(FEWEST, Math.min(MOST, Math.ceil((perMinute / 60_000) * forgetMs)));
}

export function createDispatcher({ app, backend, forgetMs, batch }: DispatcherOptions): Dispatcher {
  const { outbox, gate, clock, settings } = app;
  const most = batchFor(settings.pushPerMinute, forgetMs);
  const queued = new Map<number, number>();
  let nextAt: number | null = null;
  let wasFull = false;
  let looking: Promise<number> | null = null;
  let isQueueRead = false;

  const look = async (): Promise<number> => {
    const now = clock.now();
    forget(queued, clock.monotonic() - forgetMs);
    const closedUntil = gate.closedUntil(now);
    const pacedAt = closedUntil === null ? outbox.releasePaced(now) : null;
    const { ready, unclear, at } = outbox.due(now, most, batch);
    const settledAt = later(
      gate.closedUntil(now, 'reads'),
      unclear && reconcileAt(unclear, ready.length > 0),
    );
    nextAt = earlier(settledAt, closedUntil ?? earlier(pacedAt, at));
    wasFull = ready.length >= most;
    if (!isQueueRead) for (const id of await waitingRows(backend)) queued.set(id, clock.monotonic());
    isQueueRead = true;
    await withdraw({ outbox, backend }, queued, ready, now);
    if (outbox.paused() !== null) return 0;
    const isReadDue = settledAt !== null && settledAt <= now;
    const due = [...(isReadDue ? [RECONCILE] : []), ...(closedUntil === null ? ready : [])];
    const fresh = due.filter((id) => !queued.has(id));
    for (const id of fresh) queued.set(id, clock.monotonic());
    try {
      await enqueue(backend, fresh);
    } catch (error) {
      for (const id of fresh) queued.delete(id);
      throw error;
    }
    return fresh.length;
  };

  return {
    // One look at a time: a second one would enqueue the same rows before the first has noted them.
    look() {
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
    ended: (id) => void queued.delete(id),
    nextAt: () => nextAt,
    isLow: () => queued.size === 0 || (wasFull && queued.size <= most / 2),
  };
}

/** Jobs of paused and cancelled imports and of refused boards would send nothing and keep others waiting: they leave the queue. */
async function withdraw(
  { outbox, backend }: Pick<App, 'outbox'> & { backend: QueueBackend },
  queued: Map<number, number>,
  ready: readonly number[],
  now: number,
): Promise<void> {
  const due = new Set(ready);
  const held = outbox.heldAmong(
    [...queued.keys()].filter((id) => !due.has(id)),
    now,
  );
  await Promise.all(held.map((id) => backend.queue('push').remove(jobIdOf(id))));
  for (const id of held) queued.delete(id);
}

function forget(queued: Map<number, number>, before: number): void {
  for (const [id, at] of queued) if (at <= before) queued.delete(id);
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** Null where nothing waits for it. */
function later(closedUntil: number | null, at: number | null): number | null {
  return at === null ? null : Math.max(closedUntil ?? 0, at);
}

async function enqueue(backend: QueueBackend, ids: readonly number[]): Promise<void> {
  const rows = ids.filter((id) => id !== RECONCILE);
  if (rows.length < ids.length)
    await backend.queue('reconcile').addBulk([jobOf('reconcile', RECONCILE, 'reconcile')]);
  if (rows.length > 0) await backend.queue('push').addBulk(rows.map((id) => jobOf('push', id, jobIdOf(id))));
}

/** Rows whose jobs a process before this one left in the queue. */
async function waitingRows(backend: QueueBackend): Promise<number[]> {
  const jobIds = await backend.queue('push').getRanges(['waiting', 'delayed'], 0, -1);
  return jobIds.flatMap((id) => (id.startsWith(PUSH) ? [Number(id.slice(PUSH.length))] : []));
}

const PUSH = 'push-';

function jobIdOf(id: number): string {
  return `${PUSH}${id}`;
}

/** The row's id makes the job's: a row that is in the queue already is not added a second time. */
function jobOf(name: 'push' | 'reconcile', outbox: number, jobId: string) {
  return {
    name,
    data: { outbox },
    opts: {
      jobId,
      attempts: ATTEMPTS,
      backoff: { type: 'custom' },
      // Gone at once, in either case: while a job of that id is kept, the row cannot be enqueued again.
      removeOnComplete: true,
      removeOnFail: true,
    },
  };
}

/** Then the job ends as failed and is enqueued anew; the outbox, not the queue, decides how long a row is tried. */
const ATTEMPTS = 50;
