import type { DeduplicationOptions, IQueueBackend } from 'bullmq';
import { publish } from './events.ts';
import { insertJob, type NewJob } from './insert.ts';
import { count, findJob, hasJob, type JobRow, type QueueScope } from './job.ts';
import type { QueueFile } from './queue-file.ts';

interface DedupRow {
  job_id: string;
  expire_at: number | null;
  next_job: string | null;
}

/** The job that the new one duplicates. Null where the new one is to be added: then the deduplication key is its own. */
export function deduplicate(file: QueueFile, job: NewJob, dedupId: string): string | null {
  const options: DeduplicationOptions = job.opts.deduplication ?? { id: dedupId };
  const now = job.timestamp;
  const present = presentJob(file, job.queue, dedupId, now);
  if (present === null) {
    setKey(file, job.queue, dedupId, job.id, expiry(options, now));
    return null;
  }
  if (options.replace) return replace(file, job, options, present);
  if (options.reschedule) reschedule(file, job, present, now);
  const isKept = storeNext(file, job, options, present);
  if (!isKept && options.extend && (options.ttl ?? 0) > 0)
    setKey(file, job.queue, dedupId, present, expiry(options, now));
  publish(file, job.queue, 'deduplicated', {
    jobId: present,
    deduplicationId: dedupId,
    deduplicatedJobId: job.id,
  });
  return present;
}

/** A key without an end whose job was removed, by drain or clean for instance, holds nothing back any more. */
function presentJob(file: QueueFile, queue: string, dedupId: string, now: number): string | null {
  const row = findKey(file, queue, dedupId);
  if (!row || (row.expire_at !== null && row.expire_at <= now)) return null;
  if (row.expire_at !== null || hasJob(file, queue, row.job_id)) return row.job_id;
  deleteKey(file, queue, dedupId);
  return null;
}

function replace(
  file: QueueFile,
  job: NewJob,
  options: DeduplicationOptions,
  present: string,
): string | null {
  const { queue } = job;
  const removed = file.run(
    `DELETE FROM job WHERE queue = ? AND id = ? AND state = 'delayed'`,
    queue,
    present,
  );
  if (removed === 0) {
    storeNext(file, job, options, present);
    return present;
  }
  publish(file, queue, 'removed', { jobId: present, prev: 'delayed' });
  publish(file, queue, 'deduplicated', {
    jobId: job.id,
    deduplicationId: options.id,
    deduplicatedJobId: present,
  });
  const keepsTtl = !options.keepLastIfActive && !options.extend && (options.ttl ?? 0) > 0;
  const expireAt = keepsTtl ? findKey(file, queue, options.id)?.expire_at : expiry(options, job.timestamp);
  setKey(file, queue, options.id, job.id, expireAt ?? null);
  return null;
}

function reschedule(file: QueueFile, { queue, delay }: NewJob, jobId: string, now: number): void {
  const processAt = now + Math.max(delay, 0);
  const moved = file.run(
    `UPDATE job SET delay = ?, delayed_at = ?, process_at = ? WHERE queue = ? AND id = ? AND state = 'delayed'`,
    delay,
    now,
    processAt,
    queue,
    jobId,
  );
  if (moved > 0) publish(file, queue, 'delayed', { jobId, delay: processAt });
}

/** With `keepLastIfActive` the last job that came while one runs is added when that one has finished. */
function storeNext(file: QueueFile, job: NewJob, options: DeduplicationOptions, present: string): boolean {
  if (!options.keepLastIfActive || findJob(file, job.queue, present)?.state !== 'active') return false;
  file.run(
    'UPDATE dedup SET next_job = ?, expire_at = NULL WHERE queue = ? AND dedup_id = ?',
    JSON.stringify(job),
    job.queue,
    options.id,
  );
  return true;
}

/** After a job has finished: its key is free, or goes to the job that was kept for this moment. */
export function finishDedup(file: QueueFile, { queue, id, dedup_id: dedupId }: JobRow, now: number): void {
  const row = dedupId === null ? undefined : findKey(file, queue, dedupId);
  if (!row || dedupId === null) return;
  const isFree = row.expire_at === null ? row.job_id === id : row.expire_at <= now;
  if (isFree) deleteKey(file, queue, dedupId);
  if (row.next_job === null) return;
  const kept = JSON.parse(row.next_job) as NewJob;
  const next = { ...kept, timestamp: now, id: kept.id || String(count(file, `id:${queue}`)) };
  insertJob(file, next);
  setKey(file, queue, dedupId, next.id, expiry(next.opts.deduplication ?? { id: dedupId }, now));
}

function expiry({ ttl = 0, keepLastIfActive }: DeduplicationOptions, now: number): number | null {
  return ttl > 0 && !keepLastIfActive ? now + ttl : null;
}

function findKey(file: QueueFile, queue: string, dedupId: string): DedupRow | undefined {
  return file.get<DedupRow>(
    'SELECT job_id, expire_at, next_job FROM dedup WHERE queue = ? AND dedup_id = ?',
    queue,
    dedupId,
  );
}

function setKey(
  file: QueueFile,
  queue: string,
  dedupId: string,
  jobId: string,
  expireAt: number | null,
): void {
  file.run(
    `INSERT INTO dedup (queue, dedup_id, job_id, expire_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET job_id = excluded.job_id, expire_at = excluded.expire_at, next_job = NULL`,
    queue,
    dedupId,
    jobId,
    expireAt,
  );
}

function deleteKey(file: QueueFile, queue: string, dedupId: string): number {
  return file.run('DELETE FROM dedup WHERE queue = ? AND dedup_id = ?', queue, dedupId);
}

/** The key of a job that is removed; other keys stay. */
export function forgetDedup(file: QueueFile, { queue, id, dedup_id: dedupId }: JobRow): void {
  if (dedupId === null) return;
  file.run('DELETE FROM dedup WHERE queue = ? AND dedup_id = ? AND job_id = ?', queue, dedupId, id);
}

export function deduplication({ file, queue }: QueueScope) {
  return {
    removeDeduplicationKey: (dedupId, jobId) =>
      file.write(() =>
        file.run(
          `DELETE FROM dedup
           WHERE queue = ? AND dedup_id = ? AND job_id = ? AND (expire_at IS NULL OR expire_at > ?)`,
          queue,
          dedupId,
          jobId,
          Date.now(),
        ),
      ),
    deleteDeduplicationKey: (dedupId) => file.write(() => deleteKey(file, queue, dedupId)),
    getDeduplicationJobId: (dedupId) =>
      file.read(() => {
        const row = findKey(file, queue, dedupId);
        return row && (row.expire_at === null || row.expire_at > Date.now()) ? row.job_id : null;
      }),
  } satisfies Partial<IQueueBackend>;
}
