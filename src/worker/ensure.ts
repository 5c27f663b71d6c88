import type { JobSchedulerJson } from 'bullmq';
import { type JobContext, QUEUES, type QueueName, type WorkContext } from '../../jobs/context.ts';
import {
  enqueue,
  isOverdue,
  isPlannedAhead,
  type JobRequest,
  MAINTENANCE_JOB,
  type Rhythm,
  rhythmOf,
  type Schedule,
  sweepJob,
} from '../../jobs/schedules.ts';
import { pastOrNull } from '../base/clock.ts';
import type { QueueBackend } from '../queue/backend.ts';
import type { LastPass } from '../store/service-state.ts';

const DAY_MS = 86_400_000;

/**
 * Puts back whatever the queue should hold and does not: schedules, sweeps that are due, rows of the outbox. A queue that has lost
 * everything is as it was after one round of this, and one that has not is left as it is.
 */
export async function ensureQueue(context: JobContext, schedules: readonly Schedule[]): Promise<void> {
  const { app, backend, dispatcher } = context;
  const { set, removed, startedOver } = await ensureSchedules(backend, schedules, app.clock.now());
  if (startedOver)
    app.log.warn(
      { event: 'queue.started-over' },
      'the queue was filled while the clock was ahead: it starts over',
    );
  if (set.length + removed.length > 0)
    app.log.info(
      { event: 'queue.schedules.changed', set, removed },
      'the schedules of the queue follow the settings',
    );
  for (const job of missingJobs(context)) await enqueue(backend, job);
  await dispatcher.look();
}

function missingJobs(context: JobContext): JobRequest[] {
  const { app } = context;
  const now = app.clock.now();
  const last = app.state.lastHousekeepingAt();
  // A new mirror has nothing to maintain.
  if (last === null) app.state.noteHousekeeping(now);
  const isOld = last !== null && (pastOrNull(last, now) ?? 0) < now - DAY_MS;
  return [
    ...overdueSweeps(context).map(({ resource }) => sweepJob(resource)),
    ...(isOld ? [MAINTENANCE_JOB] : []),
  ];
}

/** Lists that should be read as a whole by now, are not being read by this process, and did not just fail in it. */
export function overdueSweeps({ app, activity }: Pick<WorkContext, 'app' | 'activity'>): LastPass[] {
  const rhythm = rhythmOf(app.settings);
  const retryAt = ({ resource }: LastPass): number => activity.failures.get(resource)?.retryAt ?? 0;
  return app.state
    .lastPasses()
    .filter((last) => last.mode === 'sweep' && isOverdue(last, rhythm, app.clock.now()))
    .filter(({ resource }) => activity.passes.get(resource)?.mode !== 'sweep')
    .filter((last) => retryAt(last) <= app.clock.monotonic());
}

export interface ScheduleChanges {
  set: string[];
  removed: string[];
  /** Whether everything in the queue was dropped, because it was planned by a clock that was ahead. */
  startedOver: boolean;
}

interface Scheduler extends JobSchedulerJson {
  queue: QueueName;
}

/** Makes the schedulers of the queues those of the settings: what is missing or different is set, what is not wanted is removed. */
export async function ensureSchedules(
  backend: QueueBackend,
  wanted: readonly Schedule[],
  now: number,
): Promise<ScheduleChanges> {
  let found = await schedulersOf(backend);
  const isOf = (schedule: Schedule) => (one: Scheduler) =>
    one.queue === schedule.job.queue && one.key === schedule.id;
  // One of another rhythm is set anew in any case, and its next run may well be further away than a turn of the one that is wanted.
  const isAhead = wanted.some((schedule) => {
    const one = found.find(isOf(schedule));
    return (
      one?.next != null && isOfRhythm(one, schedule.rhythm) && isPlannedAhead(one.next, schedule.rhythm, now)
    );
  });
  if (isAhead) {
    await startOver(backend);
    found = [];
  }
  const changes: ScheduleChanges = { set: [], removed: [], startedOver: isAhead };
  for (const schedule of wanted) {
    const { id, rhythm, job } = schedule;
    const before = found.find(isOf(schedule));
    if (await isSet(backend, before, rhythm, now)) continue;
    const template = { name: job.name, data: job.data, opts: job.options };
    const queue = backend.queue(job.queue);
    // BullMQ keeps the offset of the old interval: a worker that misses a turn would plan the next one hours ahead.
    if (before) await queue.removeJobScheduler(id);
    await queue.upsertJobScheduler(id, repeatOf(rhythm), template);
    changes.set.push(id);
  }
  for (const { queue, key } of found.filter((one) => !wanted.some((schedule) => isOf(schedule)(one)))) {
    await backend.queue(queue).removeJobScheduler(key);
    changes.removed.push(key);
  }
  return changes;
}

async function schedulersOf(backend: QueueBackend): Promise<Scheduler[]> {
  const each = QUEUES.map(async (queue) =>
    (await backend.queue(queue).getJobSchedulers()).map((one) => ({ ...one, queue })),
  );
  return (await Promise.all(each)).flat();
}

/** Only a scheduler whose next run is this late is asked for the job of that run. */
const LATE_MS = 30_000;
const ALIVE = ['delayed', 'waiting', 'prioritized', 'active'];

/** A run may be late because the worker is busy; where its job is gone, no other would ever follow. */
async function isSet(
  backend: QueueBackend,
  found: Scheduler | undefined,
  rhythm: Rhythm,
  now: number,
): Promise<boolean> {
  if (found === undefined || !isOfRhythm(found, rhythm)) return false;
  const next = found.next ?? 0;
  if (next >= now - LATE_MS) return true;
  const job = await backend.queue(found.queue).getJob(`repeat:${found.key}:${next}`);
  return job !== undefined && ALIVE.includes(await job.getState());
}

/** What BullMQ is told of a rhythm. */
function repeatOf(rhythm: Rhythm): { every: number } | { pattern: string; tz: string } {
  return 'every' in rhythm ? { every: rhythm.every } : rhythm;
}

function isOfRhythm(found: JobSchedulerJson, rhythm: Rhythm): boolean {
  if ('every' in rhythm) return Number(found.every) === rhythm.every;
  return found.pattern === rhythm.pattern && found.tz === rhythm.tz;
}

/**
 * Empties every queue of the mirror. A run that is planned further ahead than its turn shows that the clock was ahead while this queue
 * was written. Then delayed jobs, rate limits, locks and the check for stalled jobs may wait for that time too, and BullMQ has no call
 * to set them right; but whatever a queue holds is enqueued again from the mirror. The ticks go last: as long as they stand, a process
 * that was killed in between finds out again.
 */
async function startOver(backend: QueueBackend): Promise<void> {
  for (const name of QUEUES.toReversed()) await backend.queue(name).obliterate({ force: true });
}
