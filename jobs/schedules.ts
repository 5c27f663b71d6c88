import type { JobSchedulerJson, JobsOptions } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import type { App } from '../src/app.ts';
import { CLOCK_STEP_MS, pastOrNull } from '../src/base/clock.ts';
import { RESOURCES, type Resource } from '../src/contract/endpoints.ts';
import type { QueueBackend } from '../src/queue/backend.ts';
import type { LastPass } from '../src/state/state.ts';
import { type JobContext, QUEUES, type QueueName, retryNow, type WorkContext } from './context.ts';

export interface Schedule {
  id: string;
  rhythm: Rhythm;
  job: JobRequest;
}

export interface JobRequest {
  queue: QueueName;
  name: string;
  data: Record<string, string>;
  options: JobsOptions;
}

/**
 * How often something runs: at an interval, or by a cron pattern. `rest` is the least pause after a run, as a multiple of the time that
 * the run took.
 */
export type Rhythm = { every: number; rest?: number } | { pattern: string; tz: string };

/** Without a setting sweeps come every hour, and take at most a tenth of the time. */
const AUTOMATIC = { every: 3_600_000, rest: 9 };

type ScheduleSettings = Pick<
  App['settings'],
  'headEvery' | 'sweepEvery' | 'sweepCron' | 'timeZone' | 'exportCron'
>;

/** Every schedule that follows from the settings, and no other. */
export function schedulesOf(settings: ScheduleSettings, mirrorId: string, tickMs: number): Schedule[] {
  const { headEvery, exportCron, timeZone: tz } = settings;
  const passes = RESOURCES.flatMap((resource) => [
    ...(headEvery === 'off' ? [] : [scheduleOf({ every: headEvery }, headJob(resource))]),
    scheduleOf(rhythmOf(settings), sweepJob(resource)),
  ]);
  const exports = exportCron === null ? [] : [scheduleOf({ pattern: exportCron, tz }, EXPORT_JOB)];
  return [
    scheduleOf({ every: tickMs }, DISPATCH_JOB),
    ...passes,
    ...exports,
    scheduleOf({ pattern: quietMinute(mirrorId), tz }, MAINTENANCE_JOB),
  ];
}

function scheduleOf(rhythm: Rhythm, job: JobRequest): Schedule {
  return { id: idOf(job), rhythm, job };
}

/** A minute at night, which differs between the mirrors of a machine. */
function quietMinute(mirrorId: string): string {
  const sum = [...mirrorId].reduce((total, letter) => (total * 31 + letter.charCodeAt(0)) % 3600, 7);
  return `${sum % 60} ${2 + Math.floor(sum / 60 / 30)} * * *`;
}

/** Kept for people to look at, not for ever. */
const KEPT = {
  removeOnComplete: { count: 50, age: 86_400 },
  removeOnFail: { count: 100, age: 7 * 86_400 },
};

/** Ticks come every few seconds. Nobody looks at one that is over. */
export const DISPATCH_JOB: JobRequest = {
  queue: 'ticks',
  name: 'dispatch',
  data: {},
  options: { removeOnComplete: true, removeOnFail: 20 },
};

export const MAINTENANCE_JOB: JobRequest = {
  queue: 'maintenance',
  name: 'maintenance',
  data: {},
  options: KEPT,
};

export const EXPORT_JOB: JobRequest = {
  queue: 'maintenance',
  name: 'export',
  data: {},
  options: { ...KEPT, attempts: 3, backoff: { type: 'fixed', delay: 60_000 } },
};

export function headJob(resource: Resource): JobRequest {
  return { queue: `sync-${resource}`, name: 'sync-head', data: { resource }, options: KEPT };
}

/** Once: BullMQ's own attempts would add up over the runs of a schedule. What failed is overdue, and so enqueued again. */
export function sweepJob(resource: Resource): JobRequest {
  return { queue: `sync-${resource}`, name: 'sync-sweep', data: { resource }, options: KEPT };
}

/** A person's request runs also if the list was read just now. */
export type SweepRequest = 'now' | 'accept-deletes';

/** Has few attempts: a retry next week must not act on what a person accepted today. */
export function requestedSweepJob(resource: Resource, wish: SweepRequest): JobRequest {
  const options = { ...KEPT, attempts: 3, backoff: { type: 'fixed', delay: 30_000 } };
  return { ...sweepJob(resource), data: { resource, wish }, options };
}

/** Adds a job, unless one like it was added before and has not ended. */
export async function enqueue(backend: QueueBackend, job: JobRequest): Promise<void> {
  const options = { ...job.options, deduplication: { id: idOf(job) } };
  await backend.queue(job.queue).add(job.name, job.data, options);
}

function idOf({ name, data }: JobRequest): string {
  return [name, ...Object.values(data)].join('-');
}

export function rhythmOf(settings: {
  sweepCron: string | null;
  sweepEvery: number | 'auto';
  timeZone: string;
}): Rhythm {
  const { sweepCron, sweepEvery, timeZone } = settings;
  if (sweepCron !== null) return { pattern: sweepCron, tz: timeZone };
  return sweepEvery === 'auto' ? AUTOMATIC : { every: sweepEvery };
}

/** When the sweep after the last complete one is due; null when it is due because there was none of which the age is known. */
export function sweepDueAt(last: LastPass, rhythm: Rhythm, now: number): number | null {
  const finishedAt = pastOrNull(last.finishedAt, now);
  return finishedAt === null ? null : Math.max(nextTurn(rhythm, finishedAt), restedAt(last, rhythm));
}

function restedAt({ startedAt, finishedAt }: LastPass, rhythm: Rhythm): number {
  if (startedAt === null || finishedAt === null || !('every' in rhythm)) return 0;
  return finishedAt + (rhythm.rest ?? 0) * Math.max(0, finishedAt - startedAt);
}

function nextTurn(rhythm: Rhythm, after: number): number {
  return 'every' in rhythm ? after + rhythm.every : slots(rhythm, after).next().getTime();
}

/** Whether what was planned for that moment was planned while the clock was ahead: it would come more than a turn late. */
export function isPlannedAhead(at: number, rhythm: Rhythm, now: number): boolean {
  return at > nextTurn(rhythm, now + CLOCK_STEP_MS);
}

/** Whether a sweep should be enqueued outside its schedule: there was none, one was interrupted, or one was missed or failed. */
export function isOverdue(last: LastPass, rhythm: Rhythm, now: number): boolean {
  const due = sweepDueAt(last, rhythm, now);
  return due === null || last.unfinished || due <= now;
}

/**
 * Whether a sweep can be left out because another one began so shortly before that this one would show nothing else. A schedule
 * that is new adds a job at once, also when the service has just read everything.
 */
export function isFresh(last: LastPass, rhythm: Rhythm, now: number): boolean {
  const startedAt = pastOrNull(last.startedAt, now);
  if (startedAt === null || last.unfinished) return false;
  if ('every' in rhythm) return now - startedAt < rhythm.every / 2 || now < restedAt(last, rhythm);
  return startedAt >= slots(rhythm, now).prev().getTime();
}

function slots({ pattern, tz }: { pattern: string; tz: string }, currentDate: number) {
  const expression = CronExpressionParser.parse(pattern, { tz, currentDate });
  return { next: () => expression.next(), prev: () => expression.prev() };
}

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
  await noteTick(context, set);
}

/**
 * Processes that share a queue also share its ticks, and chance may give one of them none for minutes. The schedule shows that a tick was
 * taken: the next one is planned for another time, and not because this round planned it anew.
 */
async function noteTick({ app, activity, backend }: JobContext, set: readonly string[]): Promise<void> {
  const id = idOf(DISPATCH_JOB);
  const next = (await backend.queue(DISPATCH_JOB.queue).getJobScheduler(id))?.next ?? null;
  const isMoved = activity.nextTick !== null && next !== activity.nextTick;
  if (isMoved && !set.includes(id)) activity.lastTickAt = app.clock.monotonic();
  activity.nextTick = next;
}

function missingJobs(context: JobContext): JobRequest[] {
  const { app } = context;
  const now = app.clock.now();
  const last = app.state.lastHousekeepingAt();
  // A new mirror has nothing to maintain.
  if (last === null) app.state.noteHousekeeping(now);
  const isOld = last !== null && (pastOrNull(last, now) ?? 0) < now - DAY_MS;
  const withNewToken = refusedBefore(app);
  for (const resource of withNewToken) retryNow(context, resource);
  return [
    ...withNewToken.map(headJob),
    ...overdueSweeps(context).map(({ resource }) => sweepJob(resource)),
    ...(isOld ? [MAINTENANCE_JOB] : []),
  ];
}

/** Lists for which the service refused a token in place of which there is another one by now: that is tried at once. */
function refusedBefore({ state, tokenNews }: JobContext['app']): Resource[] {
  const news = tokenNews();
  if (news === null || news.problem !== null) return [];
  const refused = state
    .troubles()
    .failures.filter(({ code, at }) => code === 'unauthorised' && at < news.since);
  return [...new Set(refused.map(({ resource }) => resource))];
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

/** The options of BullMQ for a rhythm. */
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
