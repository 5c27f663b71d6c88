import type { JobsOptions } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import type { App } from '../src/app.ts';
import { CLOCK_STEP_MS, pastOrNull } from '../src/base/clock.ts';
import { RESOURCES, type Resource } from '../src/contract/endpoints.ts';
import type { QueueBackend } from '../src/queue/backend.ts';
import type { LastPass } from '../src/store/service-state.ts';
import type { QueueName } from './context.ts';

/** A scheduler of the job's own queue, which adds the job at its times. */
export interface Schedule {
  id: string;
  rhythm: Rhythm;
  job: JobRequest;
}

/** A job to add, by a schedule or on request. */
export interface JobRequest {
  queue: QueueName;
  name: string;
  data: Record<string, string>;
  options: JobsOptions;
}

/**
 * When something comes round: every so often, or by a cron pattern. With `rest` not before as many times the time has passed that it
 * took when it was last done.
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

/** At night, and not every mirror of a machine at the same minute. */
function quietMinute(mirrorId: string): string {
  const sum = [...mirrorId].reduce((total, letter) => (total * 31 + letter.charCodeAt(0)) % 3600, 7);
  return `${sum % 60} ${2 + Math.floor(sum / 60 / 30)} * * *`;
}

/** Kept for people to look at, not for ever. */
const KEPT = {
  removeOnComplete: { count: 50, age: 86_400 },
  removeOnFail: { count: 100, age: 7 * 86_400 },
};

/** Ticks come every few seconds and tell nothing once they are over. */
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

/** What a person asked for is done although the list was only just read. */
export type Wish = 'now' | 'accept-deletes';

/** A few attempts only: what somebody accepted today must not be acted on by a retry next week. */
export function requestedSweepJob(resource: Resource, wish: Wish): JobRequest {
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

/** Until when a list is left alone after a sweep that took long. */
function restedAt({ startedAt, finishedAt }: LastPass, rhythm: Rhythm): number {
  if (startedAt === null || finishedAt === null || !('every' in rhythm)) return 0;
  return finishedAt + (rhythm.rest ?? 0) * Math.max(0, finishedAt - startedAt);
}

/** When a rhythm comes round for the first time after a moment. */
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
