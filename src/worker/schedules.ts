import type { JobSchedulerJson, Queue } from 'bullmq';
import type { Rhythm } from '../../jobs/freshness.ts';
import type { Schedule } from '../../jobs/schedules.ts';
import type { QueueBackend } from '../queue/backend.ts';

export interface ScheduleChanges {
  set: string[];
  removed: string[];
}

/** A scheduler whose next tick is this far in the past has lost it: nothing would ever ring again. */
const LOST_MS = 60_000;

/** Makes the queue's schedules those of the settings: what is missing or different is set, what nobody wants is removed. */
export async function keepSchedules(
  backend: QueueBackend,
  wanted: readonly Schedule[],
  now: number,
): Promise<ScheduleChanges> {
  const queue = backend.queue('ticks');
  const found = new Map((await queue.getJobSchedulers()).map((scheduler) => [scheduler.key, scheduler]));
  const changes: ScheduleChanges = { set: [], removed: [] };
  for (const { id, rhythm } of wanted) {
    if (isAsWanted(found.get(id), rhythm, now)) continue;
    await set(queue, id, rhythm);
    changes.set.push(id);
  }
  for (const key of found.keys()) {
    if (wanted.some(({ id }) => id === key)) continue;
    await queue.removeJobScheduler(key);
    changes.removed.push(key);
  }
  return changes;
}

function isAsWanted(found: JobSchedulerJson | undefined, rhythm: Rhythm, now: number): boolean {
  if (found === undefined || (found.next ?? 0) < now - LOST_MS) return false;
  if ('every' in rhythm) return Number(found.every) === rhythm.every;
  return found.pattern === rhythm.pattern && found.tz === rhythm.tz;
}

async function set(queue: Queue, id: string, rhythm: Rhythm): Promise<void> {
  await queue.upsertJobScheduler(id, rhythm, { name: id, opts: TICK_OPTIONS });
}

/** Ticks are of no interest once they have rung; they come every few seconds. */
const TICK_OPTIONS = { removeOnComplete: true, removeOnFail: 20 };

/**
 * One tick beside the schedules. After a restart the next one of those may be a whole period away, and only a tick shows that the queue
 * and its workers live: a service that was killed would not be ready again for that long.
 */
export async function tickNow(backend: QueueBackend): Promise<void> {
  await backend.queue('ticks').add(FIRST_TICK, {}, TICK_OPTIONS);
}

/** Rings nothing. */
export const FIRST_TICK = 'start';

/** Rings one job, unless one like it waits, runs or is to be tried again. */
export async function ring(
  backend: QueueBackend,
  rings: Exclude<Schedule['rings'], 'dispatch'>,
): Promise<void> {
  await backend.queue(rings.queue).add(rings.name, rings.data, rings.options);
}
