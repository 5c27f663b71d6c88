import { ErrorCode, type IQueueBackend, type JobJson, type ParentKeyOpts } from 'bullmq';
import { deduplicate } from './dedup.ts';
import { publish } from './events.ts';
import { insertJob, type NewJob } from './insert.ts';
import { count, hasJob, jobError, type QueueScope } from './job.ts';
import { adoptDuplicate, type JobName, link, releaseParent } from './parents.ts';
import type { QueueFile } from './queue-file.ts';

export function adding({ file, queue }: QueueScope) {
  const addAll = (jobs: NewJob[]): (string | ErrorCode)[] => {
    const results = jobs.map((job) => addOne(file, job));
    releaseParents(file, jobs, results);
    return results;
  };
  return {
    addJob: (json, jobId, parentOpts) =>
      file.write(() => {
        const job = newJob(queue, json, jobId, parentOpts);
        const [result] = addAll([job]);
        if (typeof result === 'string') return result;
        throw jobError(result ?? ErrorCode.JobNotExist, {
          command: 'addJob',
          jobId,
          parentKey: job.parent?.key ?? null,
        });
      }),
    addJobs: (entries) =>
      file.write(() =>
        addAll(entries.map(({ job, jobId, parentKeyOpts }) => newJob(queue, job, jobId, parentKeyOpts))).map(
          String,
        ),
      ),
    async addFlow(entries) {
      try {
        return await file.write(() => {
          const jobs = entries.map((entry) =>
            newJob(entry.queueName, entry.jobData, entry.jobId, entry.parentKeyOpts),
          );
          return addAll(jobs).map((result): [null, string | number] => [null, result]);
        });
      } catch (error) {
        return entries.map((): [Error, number] => [error as Error, 0]);
      }
    },
  } satisfies Partial<IQueueBackend>;
}

function newJob(queue: string, json: JobJson, jobId: string, parentOpts: ParentKeyOpts = {}): NewJob {
  const { id, queueKey } = json.parent ?? {};
  const isChild = id !== undefined && queueKey !== undefined;
  return {
    queue,
    id: jobId || json.id || '',
    name: json.name,
    data: json.data ?? '{}',
    opts: json.delay === undefined ? json.opts : { ...json.opts, delay: json.delay },
    delay: json.delay ?? json.opts.delay ?? 0,
    timestamp: json.timestamp ?? Date.now(),
    parent: isChild ? { queue: queueKey, id, key: parentOpts.parentKey ?? json.parentKey ?? null } : null,
    dedupId: json.deduplicationId ?? null,
    schedulerId: json.repeatJobKey ?? null,
    waitsForChildren: parentOpts.addToWaitingChildren ?? false,
  };
}

/** The id of the added job, or of the job that it duplicates; or an error code. */
function addOne(file: QueueFile, job: NewJob): string | ErrorCode {
  const id = job.id || String(count(file, `id:${job.queue}`));
  if (job.dedupId) {
    const present = deduplicate(file, { ...job, id }, job.dedupId);
    if (present !== null) return present;
  }
  if (job.parent && !hasJob(file, job.parent.queue, job.parent.id)) return ErrorCode.ParentJobNotExist;
  if (insertJob(file, { ...job, id })) {
    if (job.parent) link(file, job.parent, { queue: job.queue, id });
    return id;
  }
  if (job.parent && !adoptDuplicate(file, { queue: job.queue, id }, job.parent))
    return ErrorCode.ParentJobCannotBeReplaced;
  publish(file, job.queue, 'duplicated', { jobId: id });
  return id;
}

/** A parent whose children had all finished before need not wait; one that a child could not join must. */
function releaseParents(file: QueueFile, jobs: NewJob[], results: (string | ErrorCode)[]): void {
  const refused = new Set(
    jobs
      .filter((_, n) => results[n] === ErrorCode.ParentJobCannotBeReplaced)
      .map(({ parent }) => keyOf(parent)),
  );
  const parents = new Map(jobs.flatMap(({ parent }) => (parent ? [[keyOf(parent), parent]] : [])));
  for (const [key, parent] of parents) if (!refused.has(key)) releaseParent(file, parent);
}

function keyOf(parent: JobName | null): string {
  return parent ? `${parent.queue}:${parent.id}` : '';
}
