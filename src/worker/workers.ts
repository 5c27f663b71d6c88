import type { Job, Worker } from 'bullmq';
import type { JobContext, JobDefinition, QueueName } from '../../jobs/context.ts';
import { within } from '../base/timeout.ts';
import type { Processor, WorkerSettings } from '../queue/backend.ts';

/** A worker of the queue, and what it has in hand. */
export interface Crew {
  worker: Worker;
  running: ReadonlySet<Promise<unknown>>;
}

/** A worker of the queue that runs these jobs by their names, and counts them. */
export function startWorker(
  context: JobContext,
  queue: QueueName,
  jobs: readonly JobDefinition[],
  settings: WorkerSettings,
): Crew {
  const running = new Set<Promise<unknown>>();
  const run = async (job: Job): Promise<unknown> => {
    const definition = jobs.find(({ name }) => name === job.name);
    if (!definition) throw new Error(`nobody knows a job called ${job.name}`);
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

/** A create under way has eight seconds; whatever is still not done after that is left for the queue to find. */
const DRAIN_MS = 8600;
/** For telling the queue what became of a job. A server that is away is not waited for: nothing is lost that way. */
const LAST_WORDS_MS = 700;

/** No new job begins; those that run have their time. */
export async function closeWorkers(crews: readonly Crew[]): Promise<void> {
  await Promise.all(
    crews.map(async ({ worker, running }) => {
      const gently = worker.close().then(() => true);
      const isIdle = Promise.allSettled(running);
      const idle = isIdle.then(() => within(LAST_WORDS_MS, gently, () => false));
      const isClosed = await within(DRAIN_MS, Promise.race([gently, idle]), () => false);
      if (!isClosed) worker.close(true).catch(() => undefined);
    }),
  );
}
