import type { Job, Worker } from 'bullmq';
import type { JobContext, JobDefinition, QueueName } from '../../jobs/context.ts';
import type { Processor, WorkerSettings } from '../queue/backend.ts';
import { within } from '../queue/within.ts';

/** A worker of the queue that runs these jobs by their names, and counts them. */
export function startWorker(
  context: JobContext,
  queue: QueueName,
  jobs: readonly JobDefinition[],
  settings: WorkerSettings,
): Worker {
  const run: Processor = async (job, token, _signal) => {
    const definition = jobs.find(({ name }) => name === job.name);
    if (!definition) throw new Error(`nobody knows a job called ${job.name}`);
    return await definition.run(context, job, token);
  };
  const worker = context.backend.worker(queue, run, settings);
  worker.on('completed', (job) => count(context, queue, job, 'completed'));
  worker.on('failed', (job) => job && count(context, queue, job, 'failed'));
  return worker;
}

function count({ metrics }: JobContext, queue: QueueName, job: Job, outcome: 'completed' | 'failed'): void {
  const { name, processedOn, finishedOn } = job;
  const ended = finishedOn ?? Date.now();
  metrics.job({ queue, name, outcome, seconds: Math.max(0, ended - (processedOn ?? ended)) / 1000 });
}

/** A create under way has eight seconds; whatever is still not done after that is left for the queue to find. */
const DRAIN_MS = 8600;

/** No new job begins; those that run have their time. */
export async function closeWorkers(workers: readonly Worker[]): Promise<void> {
  await Promise.all(
    workers.map(async (worker) => {
      const gently = worker.close();
      const isDone = await within(
        DRAIN_MS,
        gently.then(() => true),
        () => false,
      );
      if (!isDone)
        await within(
          300,
          worker.close(true).then(() => true),
          () => false,
        );
    }),
  );
}
