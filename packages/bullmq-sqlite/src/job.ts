import {
  ErrorCode,
  type JobJson,
  type JobProgress,
  type JobsOptions,
  type KeepJobs,
  UnrecoverableError,
} from 'bullmq';
import type { QueueFile } from './queue-file.ts';

/** What the methods of a backend share: the file, the name of its queue, and the options of its worker if it has one. */
export interface QueueScope {
  readonly file: QueueFile;
  readonly queue: string;
  readonly opts: {
    name?: string;
    lockDuration?: number;
    stalledInterval?: number;
    maxStalledCount?: number;
    removeOnComplete?: KeepJobs;
    removeOnFail?: KeepJobs;
    limiter?: { max: number; duration: number };
    metrics?: { maxDataPoints?: number };
  };
}

type State = 'waiting' | 'active' | 'delayed' | 'completed' | 'failed' | 'waiting-children';

export interface JobRow {
  key: number;
  queue: string;
  id: string;
  seq: number;
  name: string;
  state: State;
  data: string;
  opts: string;
  priority: number;
  delay: number;
  attempts_made: number;
  attempts_started: number;
  stalled_count: number;
  progress: string | null;
  return_value: string | null;
  failed_reason: string | null;
  stacktrace: string | null;
  deferred_failure: string | null;
  processed_by: string | null;
  added_at: number;
  process_at: number | null;
  processed_at: number | null;
  finished_at: number | null;
  lock_token: string | null;
  locked_until: number | null;
  dedup_id: string | null;
  scheduler_id: string | null;
  parent_queue: string | null;
  parent_id: string | null;
  parent_key: string | null;
}

export function findJob(file: QueueFile, queue: string, id: string): JobRow | undefined {
  return file.get<JobRow>('SELECT * FROM job WHERE queue = ? AND id = ?', queue, id);
}

export function hasJob(file: QueueFile, queue: string, id: string): boolean {
  return file.get('SELECT 1 FROM job WHERE queue = ? AND id = ?', queue, id) !== undefined;
}

/** The next so many numbers of a counter; the last of them. */
export function count(file: QueueFile, name: string, by = 1): number {
  const row = file.get<{ value: number }>(
    `INSERT INTO counter (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value`,
    name,
    by,
  );
  return row?.value ?? by;
}

/** The place of a job behind all others, or before them. */
export function nextSeq(file: QueueFile, lifo = false): number {
  const seq = count(file, 'seq');
  return lifo ? -seq : seq;
}

/** As `Job.fromJSON` takes it. */
export function toJson(row: JobRow): JobJson {
  const optional = {
    finishedOn: row.finished_at,
    processedOn: row.processed_at,
    failedReason: row.failed_reason,
    parent: row.parent_id === null ? null : { id: row.parent_id, queueKey: row.parent_queue ?? '' },
    parentKey: row.parent_key,
    repeatJobKey: row.scheduler_id,
    deduplicationId: row.dedup_id,
    deferredFailure: row.deferred_failure,
    processedBy: row.processed_by,
  };
  const present = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null));
  return {
    id: row.id,
    name: row.name,
    data: row.data,
    opts: JSON.parse(row.opts) as JobsOptions,
    progress: row.progress === null ? 0 : (JSON.parse(row.progress) as JobProgress),
    attemptsMade: row.attempts_made,
    attemptsStarted: row.attempts_started,
    timestamp: row.added_at,
    delay: row.delay,
    priority: row.priority,
    stacktrace: row.stacktrace ?? '[]',
    returnvalue: row.return_value ?? 'null',
    stalledCounter: row.stalled_count,
    ...(present as { failedReason: string }),
  };
}

interface About {
  command: string;
  jobId?: string | undefined;
  state?: string;
  parentKey?: string | null;
}

/** The texts and codes of BullMQ's other backends, which it does not export. */
export function jobError(code: ErrorCode, { command, jobId, state = 'active', parentKey }: About): Error {
  const texts: Record<ErrorCode, string> = {
    [ErrorCode.JobNotExist]: `Missing key for job ${jobId}. ${command}`,
    [ErrorCode.JobLockNotExist]: `Missing lock for job ${jobId}. ${command}`,
    [ErrorCode.JobNotInState]: `Job ${jobId} is not in the ${state} state. ${command}`,
    [ErrorCode.JobPendingChildren]: `Job ${jobId} has pending dependencies. ${command}`,
    [ErrorCode.ParentJobNotExist]: `Missing key for parent job ${parentKey}. ${command}`,
    [ErrorCode.JobLockMismatch]: `Lock mismatch for job ${jobId}. Cmd ${command} from ${state}`,
    [ErrorCode.ParentJobCannotBeReplaced]: `The parent job ${parentKey} cannot be replaced. ${command}`,
    [ErrorCode.JobBelongsToJobScheduler]: `Job ${jobId} belongs to a job scheduler and cannot be removed directly. ${command}`,
    [ErrorCode.JobHasFailedChildren]: `Cannot complete job ${jobId} because it has at least one failed child. ${command}`,
    [ErrorCode.SchedulerJobIdCollision]: `Cannot create job scheduler iteration - job ID already exists. ${command}`,
    [ErrorCode.SchedulerJobSlotsBusy]: `Cannot create job scheduler iteration - current and next time slots already have jobs. ${command}`,
  };
  const error =
    code === ErrorCode.JobHasFailedChildren ? new UnrecoverableError(texts[code]) : new Error(texts[code]);
  return Object.assign(error, { code });
}

export function existingJob({ file, queue }: QueueScope, jobId: string, command: string): JobRow {
  const row = findJob(file, queue, jobId);
  if (row) return row;
  throw jobError(ErrorCode.JobNotExist, { jobId, command });
}

/** The job while this worker has it: active, and under the given lock unless the token is `0`. */
export function heldJob(scope: QueueScope, id: string, token: string, command: string): JobRow {
  const row = existingJob(scope, id, command);
  if (row.state !== 'active') throw jobError(ErrorCode.JobNotInState, { jobId: id, command });
  if (token !== '0' && row.lock_token !== token)
    throw jobError(ErrorCode.JobLockMismatch, { jobId: id, command });
  return row;
}
