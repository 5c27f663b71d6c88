import type { Job, Worker } from 'bullmq';
import type { JobContext, JobDefinition, QueueName } from '../../jobs/context.ts';
import { exportAll, maintenance } from '../../jobs/maintenance.ts';
import { backoffOf, dispatch, pushJob, reconcileJob } from '../../jobs/push.ts';
import { syncHead, syncSweep } from '../../jobs/sync.ts';
import { deliverWebhook } from '../../jobs/webhooks.ts';
import type { Clock } from '../base/clock.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { within } from '../base/timeout.ts';
import type { Processor, WorkerSettings } from '../queue/backend.ts';

/** Every job of the service, by the queue that carries it. `jobs/schedules.ts` says when they run, `jobs/dispatch.ts` for which rows. */
export const JOBS: Record<QueueName, readonly JobDefinition[]> = {
  ticks: [dispatch],
  'sync-posts': [syncHead, syncSweep],
  'sync-comments': [syncHead, syncSweep],
  push: [pushJob],
  reconcile: [reconcileJob],
  webhooks: [deliverWebhook],
  maintenance: [maintenance, exportAll],
};

/** What every process of a mirror runs, that of the ticks first. Sending is for one of them: see `sender.ts`. */
export function startWorkers(context: JobContext): RunningWorker[] {
  const settings = { concurrency: 1, stalledInterval: 10_000, maxStalledCount: 10 };
  const shared = ['ticks', 'sync-posts', 'sync-comments', 'maintenance'] as const;
  const workers = shared.map((queue) => startWorker(context, queue, settings));
  const { webhooks } = context.app;
  if (!webhooks) return workers;
  // One that is slow keeps no other waiting.
  const concurrency = MOST_WEBHOOKS_AT_ONCE;
  const backoffStrategy: WorkerSettings['backoffStrategy'] = (_attempts, _type, error) => backoffOf(error);
  return [...workers, startWorker(context, 'webhooks', { ...settings, concurrency, backoffStrategy })];
}

const MOST_WEBHOOKS_AT_ONCE = 8;

export interface RunningWorker {
  worker: Worker;
  running: ReadonlySet<Promise<unknown>>;
}

/** A worker of the queue that runs its jobs by their names, and counts them. */
export function startWorker(context: JobContext, queue: QueueName, settings: WorkerSettings): RunningWorker {
  const running = new Set<Promise<unknown>>();
  const run = async (job: Job): Promise<unknown> => {
    const definition = JOBS[queue].find(({ name }) => name === job.name);
    if (!definition) throw new Error(`the queue ${queue} has no job called ${job.name}`);
    return await definition.run(context, job);
  };
  const noted: Processor = async (job, _token, _signal) => {
    const work = run(job);
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  };
  const worker = context.backend.worker(queue, noted, settings);
  worker.on('completed', (job) => count(context, queue, job, 'completed'));
  worker.on('failed', (job) => job && count(context, queue, job, 'failed'));
  return { worker, running };
}

function count({ metrics }: JobContext, queue: QueueName, job: Job, outcome: 'completed' | 'failed'): void {
  const { name, processedOn, finishedOn } = job;
  const ended = finishedOn ?? Date.now();
  metrics.job({ queue, name, outcome, seconds: Math.max(0, ended - (processedOn ?? ended)) / 1000 });
}

/** A create under way has eight seconds; what is not done after that, BullMQ finds as stalled. */
const DRAIN_MS = 8600;
/** For telling the queue what became of a job. A server that is away is not waited for: nothing is lost that way. */
const LAST_WORDS_MS = 700;

/** No new job begins; those that run have their time. */
export async function closeWorkers(workers: readonly RunningWorker[]): Promise<void> {
  await Promise.all(
    workers.map(async ({ worker, running }) => {
      const gently = worker.close().then(() => true);
      const isIdle = Promise.allSettled(running);
      const idle = isIdle.then(() => within(LAST_WORDS_MS, gently, () => false));
      const isClosed = await within(DRAIN_MS, Promise.race([gently, idle]), () => false);
      if (!isClosed) worker.close(true).catch(() => undefined);
    }),
  );
}

export interface LoopOptions {
  name: string;
  everyMs: number;
  clock: Clock;
  signal: AbortSignal;
  log: Logger;
}

/** What fails is tried less and less often, up to this. Longer periods stay as they are. */
const LONGEST_BACKOFF_MS = 5000;

/** Does something again and again until told to stop. What fails is logged, once for as long as it fails the same way. */
export async function loop(options: LoopOptions, step: () => Promise<unknown>): Promise<void> {
  const { name, everyMs, clock, signal, log } = options;
  let said: string | null = null;
  let failures = 0;
  while (!signal.aborted) {
    try {
      await step();
      said = null;
      failures = 0;
    } catch (error) {
      const reason = messageOf(error);
      if (!signal.aborted && reason !== said)
        log.error({ event: 'loop.failed', loop: name, code: codeOf(error) }, `${name}: ${reason}`);
      said = reason;
      failures++;
    }
    const backoff = failures === 0 ? 0 : Math.min(everyMs * 2 ** failures, LONGEST_BACKOFF_MS);
    await pause(clock, Math.max(everyMs, backoff), signal);
  }
}

/** A wait that ends early and quietly when the service stops. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
