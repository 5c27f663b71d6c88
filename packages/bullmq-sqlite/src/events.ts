import type { IQueueBackend } from 'bullmq';
import type { QueueScope } from './job.ts';
import { isMet, type QueueFile } from './queue-file.ts';

type Fields = Record<string, string | number>;

/** BullMQ's default of `streams.events.maxLen`. */
const KEPT = 10_000;
const TRIMMED_EVERY = 256;
const READ_AT_ONCE = 100;

/** Appends to the queue's event stream; part of the transaction that made it happen. */
export function publish(file: QueueFile, queue: string, event: string, fields: Fields): number {
  const id = newest(file, queue) + 1;
  file.run(
    'INSERT INTO event (queue, id, event, data) VALUES (?, ?, ?, ?)',
    queue,
    id,
    event,
    JSON.stringify(fields),
  );
  if (id % TRIMMED_EVERY === 0) trim(file, queue, keptEvents(file, queue));
  file.touch(queue);
  return id;
}

function newest(file: QueueFile, queue: string): number {
  return file.get<{ id: number | null }>('SELECT max(id) AS id FROM event WHERE queue = ?', queue)?.id ?? 0;
}

function keptEvents(file: QueueFile, queue: string): number {
  const row = file.get<{ value: string }>(
    `SELECT value FROM meta WHERE queue = ? AND field = 'opts.maxLenEvents'`,
    queue,
  );
  return row ? Number(row.value) : KEPT;
}

/** The newest stays in any case: the next one is counted on from it, and a listener misses nothing. */
export function trim(file: QueueFile, queue: string, kept: number): number {
  const last = newest(file, queue) - Math.max(kept, 1);
  return file.run('DELETE FROM event WHERE queue = ? AND id <= ?', queue, last);
}

export function events({ file, queue }: QueueScope, waits: Waits) {
  return {
    publishEvent: ({ event, ...fields }) =>
      file.write(() => String(publish(file, queue, String(event), fields))),
    trimEvents: (maxLength) => file.write(() => trim(file, queue, maxLength)),
    async readEvents(id, blockTimeout) {
      const cursor = id === '$' ? await file.read(() => newest(file, queue)) : Number.parseInt(id, 10);
      const isOver = (): boolean => newest(file, queue) > cursor;
      await waits.until(queue, isOver, blockTimeout || 5000);
      if (waits.isInterrupted) return null;
      const rows = await file.read(() =>
        file.all<{ id: number; event: string; data: string }>(
          `SELECT id, event, data FROM event WHERE queue = ? AND id > ? ORDER BY id LIMIT ${READ_AT_ONCE}`,
          queue,
          cursor,
        ),
      );
      if (rows.length === 0) return null;
      return [['events', rows.map((row) => [String(row.id), flat(row.event, row.data)])]];
    },
  } satisfies Partial<IQueueBackend>;
}

/** As a Redis stream would give it: names and values in turn. */
function flat(event: string, data: string): string[] {
  const fields = Object.entries(JSON.parse(data) as Fields);
  return ['event', event, ...fields.flatMap(([name, value]) => [name, String(value)])];
}

/** The one wait that a backend may have at a time, for a job or for an event. */
export class Waits {
  isInterrupted = false;
  readonly #file: QueueFile;
  #end: (() => void) | undefined;

  constructor(file: QueueFile) {
    this.#file = file;
  }

  /** Waits until the condition holds, the time is over, or `interrupt` is called. */
  async until(queue: string, isOver: () => boolean, ms: number): Promise<void> {
    if (this.isInterrupted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        leave();
        resolve();
      };
      const waiter = { queue, until: performance.now() + ms, isOver, wake };
      const leave = this.#file.wait(waiter);
      this.#end = wake;
      // After the registration: a change between an earlier check and the registration wakes no waiter.
      if (isMet(waiter)) wake();
    });
  }

  interrupt(): void {
    this.isInterrupted = true;
    this.#end?.();
  }
}
