import type { JobsOptions } from 'bullmq';
import type { App } from '../src/app.ts';
import { RESOURCES, type Resource } from '../src/contract/endpoints.ts';
import type { QueueName } from './context.ts';
import { type Rhythm, rhythmOf } from './freshness.ts';

/** A tick of the queue, and what it rings; `dispatch` rings rows of the outbox and so has no job of its own. */
export interface Schedule {
  id: string;
  rhythm: Rhythm;
  rings: Ring | 'dispatch';
}

/** A job to add. Schedulers would let runs overlap; what is told apart by its `deduplication` does not. */
export interface Ring {
  queue: QueueName;
  name: string;
  data: Record<string, string>;
  options: JobsOptions;
}

type ScheduleSettings = Pick<
  App['settings'],
  'headEvery' | 'sweepEvery' | 'sweepCron' | 'timeZone' | 'exportCron'
>;

/** Every schedule that follows from the settings, and no other. */
export function schedulesOf(settings: ScheduleSettings, mirrorId: string, tickMs: number): Schedule[] {
  const { headEvery, exportCron, timeZone: tz } = settings;
  const passes = RESOURCES.flatMap((resource): Schedule[] => [
    ...(headEvery === 'off' ? [] : [scheduleOf({ every: headEvery }, headRing(resource))]),
    scheduleOf(rhythmOf(settings), sweepRing(resource)),
  ]);
  const exports = exportCron === null ? [] : [scheduleOf({ pattern: exportCron, tz }, EXPORT_RING)];
  return [
    { id: 'dispatch', rhythm: { every: tickMs }, rings: 'dispatch' },
    ...passes,
    ...exports,
    scheduleOf({ pattern: quietMinute(mirrorId), tz }, HOUSEKEEPING_RING),
  ];
}

function scheduleOf(rhythm: Rhythm, rings: Ring): Schedule {
  return { id: rings.options.deduplication?.id ?? rings.name, rhythm, rings };
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

/** A pass that failed is not left until its next turn; how long the queue waits before is said by the job. */
const PERSISTENT = { attempts: 1000, backoff: { type: 'custom' } };

export function headRing(resource: Resource): Ring {
  return ringOf('sync', 'sync-head', { resource }, { attempts: 1 });
}

export function sweepRing(resource: Resource): Ring {
  return ringOf('sync', 'sync-sweep', { resource }, PERSISTENT);
}

/** What a person asked for is done although the list was only just read, and once however often it is asked for meanwhile. */
export type Wish = 'now' | 'accept-deletes';

/** A few tries only: what somebody accepted today is not to be acted on by a retry next week. */
export function askedRing(resource: Resource, wish: Wish): Ring {
  return ringOf('sync', 'sync-sweep', { resource, wish }, { attempts: 3, backoff: { type: 'custom' } });
}

export const EXPORT_RING = ringOf('upkeep', 'export', {}, { attempts: 3, backoff: { type: 'custom' } });
export const HOUSEKEEPING_RING = ringOf('upkeep', 'housekeeping', {}, { attempts: 1 });

function ringOf(queue: QueueName, name: string, data: Record<string, string>, options: JobsOptions): Ring {
  const id = [name, ...Object.values(data)].join('-');
  return { queue, name, data, options: { ...KEPT, ...options, deduplication: { id } } };
}
