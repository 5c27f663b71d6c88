import { backoffOf, type JobContext } from '../../jobs/context.ts';
import { JOBS } from '../../jobs/index.ts';
import type { Schedule } from '../../jobs/schedules.ts';
import { unlessStopped } from '../base/timeout.ts';
import { FIRST_TICK, ring } from './schedules.ts';
import { type Crew, startWorker } from './workers.ts';

/** Both lists, of each a head, a sweep and the two that a person can ask for: a slot for every job that the queue can hold. */
const PASSES_AT_ONCE = 8;

/** Workers for everything but ticks and sending, which one process of a mirror does. */
export function startWorkers(context: JobContext): Crew[] {
  const jobsOf = (queue: string) => JOBS.filter((job) => job.queue === queue);
  const backoffStrategy = (_attempts: number, _type: string | undefined, error: Error | undefined): number =>
    backoffOf(error);
  const lasting = { backoffStrategy, stalledInterval: 10_000, maxStalledCount: 10 };
  return [
    startWorker(context, 'sync', jobsOf('sync'), { ...lasting, concurrency: PASSES_AT_ONCE }),
    startWorker(context, 'upkeep', jobsOf('upkeep'), lasting),
  ];
}

/** A tick only rings: what it stands for is a job of its own, so that a long one never holds up the others. */
export function startTicks(context: JobContext, schedules: readonly Schedule[]): Crew {
  const { app, activity, backend, dispatcher, signal } = context;
  const tick = (name: string, work: () => Promise<unknown>) => ({
    name,
    queue: 'ticks' as const,
    async run() {
      await unlessStopped(signal, work());
      activity.lastTickAt = app.clock.monotonic();
    },
  });
  const ticks = schedules.map(({ id, rings }) =>
    tick(id, () => (rings === 'dispatch' ? dispatcher.look() : ring(backend, rings))),
  );
  return startWorker(context, 'ticks', [tick(FIRST_TICK, async () => {}), ...ticks], {
    concurrency: 2,
    stalledInterval: 10_000,
    maxStalledCount: 10,
  });
}
