import type { Gate } from '../src/api/gate.ts';
import type { Clock } from '../src/base/clock.ts';
import type { QueueBackend } from '../src/queue/backend.ts';
import type { OutboxStore } from '../src/store/outbox/seam.ts';

/** Rings the queue for rows of the outbox that are due. The outbox knows; the queue only says that it is time to look. */
export interface Dispatcher {
  /** Rings what is due and was not rung lately; returns how many that were. */
  look(): Promise<number>;
  /** The queue is done with the job of this row: if the row is due again, it is rung again. */
  ended(id: number): void;
  /** When the next look is worth while, if nothing changes before; null when nothing waits for time. */
  nextAt(): number | null;
  /** Whether so few rows are in the queue that the next ones should be rung. */
  isLow(): boolean;
}

export interface DispatcherOptions {
  outbox: OutboxStore;
  backend: QueueBackend;
  gate: Gate;
  clock: Clock;
  perMinute: number;
  /** How long a row counts as rung: after that it is rung again, in case the queue has lost it. Twice in the queue it never is. */
  forgetMs: number;
}

/** More would only fill the queue's memory: what is not rung stands safe in the outbox. */
const MOST = 300;
const FEWEST = 10;

/**
 * How many rows are in the queue at a time: what goes out until they are rung anew. A row that waited for its time stands behind those,
 * so at a slow pace they are few.
 */
export function batchFor(perMinute: number, forgetMs: number): number {
  return Math.max(FEWEST, Math.min(MOST, Math.ceil((perMinute / 60_000) * forgetMs)));
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { outbox, backend, gate, clock, forgetMs } = options;
  const most = batchFor(options.perMinute, forgetMs);
  const rung = new Map<number, number>();
  let nextAt: number | null = null;
  let wasFull = false;
  let looking: Promise<number> | null = null;

  const look = async (): Promise<number> => {
    const now = clock.now();
    forget(rung, now - forgetMs);
    const { ready, settled, at } = await outbox.due(now, most);
    const closedUntil = gate.closedUntil(now);
    nextAt = closedUntil ?? at;
    wasFull = ready.length >= most || settled.length >= most;
    if (closedUntil !== null || (await outbox.paused()) !== null) return 0;
    const unrung = (ids: number[]): number[] => ids.filter((id) => !rung.has(id));
    const [sends, looks] = [unrung(ready), unrung(settled)];
    for (const id of [...sends, ...looks]) rung.set(id, now);
    try {
      await ring(backend, 'push', sends);
      await ring(backend, 'reconcile', looks);
    } catch (error) {
      for (const id of [...sends, ...looks]) rung.delete(id);
      throw error;
    }
    return sends.length + looks.length;
  };

  return {
    // One look at a time: a second one would ring the same rows before the first has noted them.
    look() {
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
    ended: (id) => void rung.delete(id),
    nextAt: () => nextAt,
    isLow: () => wasFull && rung.size <= most / 2,
  };
}

function forget(rung: Map<number, number>, before: number): void {
  for (const [id, at] of rung) if (at <= before) rung.delete(id);
}

/** The row's id makes the job's: a row that is in the queue already is not added a second time. */
async function ring(backend: QueueBackend, name: 'push' | 'reconcile', ids: number[]): Promise<void> {
  if (ids.length === 0) return;
  await backend.queue(name).addBulk(
    ids.map((id) => ({
      name,
      data: { outbox: id },
      opts: {
        jobId: `${name}-${id}`,
        attempts: ATTEMPTS,
        backoff: { type: 'custom' },
        // Gone at once, in either case: while a job of that id is kept, the row cannot be rung again.
        removeOnComplete: true,
        removeOnFail: true,
      },
    })),
  );
}

/** Then the job ends as failed and is rung anew; the outbox, not the queue, decides how long a row is tried. */
const ATTEMPTS = 50;
