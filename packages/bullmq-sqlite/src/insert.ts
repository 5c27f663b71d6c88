import type { JobsOptions } from 'bullmq';
import { publish } from './events.ts';
import { nextSeq } from './job.ts';
import type { JobName } from './parents.ts';
import type { QueueFile } from './queue-file.ts';

export interface NewJob {
  queue: string;
  /** Empty for the next number of the queue. */
  id: string;
  name: string;
  data: string;
  opts: JobsOptions;
  delay: number;
  timestamp: number;
  parent: (JobName & { key: string | null }) | null;
  dedupId: string | null;
  schedulerId: string | null;
  waitsForChildren: boolean;
}

/** False where a job of that id is there already. */
export function insertJob(file: QueueFile, job: NewJob): boolean {
  const isDelayed = job.delay > 0;
  const processAt = isDelayed ? job.timestamp + job.delay : null;
  const state = job.waitsForChildren ? 'waiting-children' : isDelayed ? 'delayed' : 'waiting';
  const added = file.run(
    `INSERT INTO job (queue, id, seq, name, state, data, opts, priority, delay, added_at, delayed_at, process_at,
                      dedup_id, scheduler_id, parent_queue, parent_id, parent_key)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (queue, id) DO NOTHING`,
    job.queue,
    job.id,
    nextSeq(file, job.opts.lifo),
    job.name,
    state,
    job.data,
    JSON.stringify(job.opts),
    job.opts.priority ?? 0,
    job.delay,
    job.timestamp,
    isDelayed ? Date.now() : null,
    processAt,
    job.dedupId,
    job.schedulerId,
    job.parent?.queue ?? null,
    job.parent?.id ?? null,
    job.parent?.key ?? null,
  );
  if (added === 0) return false;
  publish(file, job.queue, 'added', { jobId: job.id, name: job.name });
  publish(file, job.queue, state, { jobId: job.id, ...(state === 'delayed' && { delay: processAt ?? 0 }) });
  return true;
}
