import type { JobSchedulerJson, Queue } from 'bullmq';
import { QUEUES } from '../../jobs/context.ts';
import { isPlannedAhead, type Rhythm } from '../../jobs/freshness.ts';
import type { Schedule } from '../../jobs/schedules.ts';
import type { QueueBackend } from '../queue/backend.ts';

export interface ScheduleChanges {
  set: string[];
  removed: string[];
  /** Whether everything in the queue was dropped, because it was planned by a clock that was ahead. */
  startedOver: boolean;
}

/** A scheduler whose next tick is this far in the past has lost it: nothing would ever be enqueued again. */
const LOST_MS = 30_000;

/** Makes the queue's schedules those of the settings: what is missing or different is set, what nobody wants is removed. */
export async function keepSchedules(
  backend: QueueBackend,
  wanted: readonly Schedule[],
  now: number,
): Promise<ScheduleChanges> {
  const queue = backend.queue('ticks');
  let found = await schedulersOf(queue);
  const isAhead = wanted.some(({ id, rhythm }) => isPlanned(found.get(id), rhythm, now) === 'ahead');
  if (isAhead) {
    await startOver(backend);
    found = new Map();
  }
  const changes: ScheduleChanges = { set: [], removed: [], startedOver: isAhead };
  for (const { id, rhythm } of wanted) {
    if (isPlanned(found.get(id), rhythm, now) === 'well') continue;
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

async function schedulersOf(queue: Queue): Promise<Map<string, JobSchedulerJson>> {
  return new Map((await queue.getJobSchedulers()).map((scheduler) => [scheduler.key, scheduler]));
}

function isPlanned(
  found: JobSchedulerJson | undefined,
  rhythm: Rhythm,
  now: number,
): 'well' | 'badly' | 'ahead' {
  if (found === undefined || !isOfRhythm(found, rhythm)) return 'badly';
  const next = found.next ?? 0;
  if (isPlannedAhead(next, rhythm, now)) return 'ahead';
  return next < now - LOST_MS ? 'badly' : 'well';
}

function isOfRhythm(found: JobSchedulerJson, rhythm: Rhythm): boolean {
  if ('every' in rhythm) return Number(found.every) === rhythm.every;
  return found.pattern === rhythm.pattern && found.tz === rhythm.tz;
}

/**
 * Empties every queue of the mirror. A tick that is planned further ahead than its turn shows that the clock was ahead while this queue was
 * written. Then delayed jobs, rate limits, locks and the check for stalled jobs may wait for that time too, and BullMQ has no call to
 * set them right; but whatever a queue holds is enqueued again from the mirror. The ticks go last: as long as they stand, a process
 * that was killed in between finds out again.
 */
async function startOver(backend: QueueBackend): Promise<void> {
  for (const name of QUEUES.toReversed()) await backend.queue(name).obliterate({ force: true });
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

/**
 * Passes that failed before a restart are tried again at once. How long they were to wait was measured against an upstream, a clock and a
 * process of before, and whoever restarts a service expects it to try.
 */
export async function retryNow(backend: QueueBackend): Promise<void> {
  await backend.queue('sync').promoteJobs();
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
