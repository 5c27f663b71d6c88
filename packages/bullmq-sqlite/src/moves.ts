import { ErrorCode, type IQueueBackend } from 'bullmq';
import { publish } from './events.ts';
import { claimNext, promoteDue, remainingLimit } from './fetch.ts';
import { existingJob, heldJob, type JobRow, jobError, nextSeq, type QueueScope } from './job.ts';
import { childRetried } from './parents.ts';

const STALLED_MS = 30_000;
const STALLED_REASON = 'job stalled more than allowable limit';

/** The ways of a job between its states, but for being fetched and finished. */
export function moving(scope: QueueScope) {
  const { file, queue } = scope;
  return {
    moveToDelayed: (jobId, timestamp, delay, token = '', opts = {}) =>
      file.write(() => {
        const row = heldJob(scope, jobId, token, 'moveToDelayed');
        const { failedReason, stacktrace } = fieldsOf(opts.fieldsToUpdate);
        file.run(
          `UPDATE job SET state = 'delayed', delay = ?, delayed_at = ?, process_at = ?, lock_token = NULL, locked_at = NULL,
                          locked_until = NULL, failed_reason = coalesce(?, failed_reason),
                          stacktrace = coalesce(?, stacktrace), attempts_made = attempts_made + ?
           WHERE key = ?`,
          delay,
          Date.now(),
          timestamp + delay,
          failedReason,
          stacktrace,
          opts.skipAttempt ? 0 : 1,
          row.key,
        );
        publish(file, queue, 'delayed', { jobId, delay: timestamp + delay });
        if (!opts.fetchNext) return [];
        const next = claimNext(scope, token, scope.opts.name);
        return next[0] ? next : [];
      }),
    moveJobFromActiveToWait: (jobId, token = '0') =>
      file.write(() => {
        const row = existingJob(scope, jobId, 'moveJobFromActiveToWait');
        if (row.state === 'active' && (token === '0' || row.lock_token === token))
          moveToWait(scope, row, { isFirst: row.priority > 0 });
        return remainingLimit(file, queue);
      }),
    retryJob: (jobId, lifo, token = '', opts = {}) =>
      file.write(() => {
        const row = heldJob(scope, jobId, token, 'retryJob');
        // What is due by now comes before what is tried again.
        promoteDue(file, queue, Date.now());
        const { failedReason, stacktrace } = fieldsOf(opts.fieldsToUpdate);
        file.run(
          `UPDATE job SET attempts_made = attempts_made + 1, failed_reason = coalesce(?, failed_reason),
                          stacktrace = coalesce(?, stacktrace) WHERE key = ?`,
          failedReason,
          stacktrace,
          row.key,
        );
        moveToWait(scope, row, { isFirst: lifo });
      }),
  } satisfies Partial<IQueueBackend>;
}

/** Changes that a program asks for: jobs that run again, sooner, later or before others, and longer locks. */
export function changing(scope: QueueScope) {
  const { file, queue } = scope;
  return {
    retryFinishedJob: ({ id = '', opts: jobOpts }, state, opts = {}) =>
      file.write(() => {
        const row = stateful(scope, id, state, 'reprocessJob');
        runAgain(scope, row, opts.resetAttemptsMade === true, opts.resetAttemptsStarted === true);
        childRetried(file, row);
        moveToWait(scope, row, { isFirst: jobOpts?.lifo === true });
      }),
    retryFinishedJobs: (state = 'failed', count = 1000, timestamp = Date.now()) =>
      file.write(() => {
        const rows = file.all<JobRow>(
          'SELECT * FROM job WHERE queue = ? AND state = ? AND rank <= ? ORDER BY rank LIMIT ?',
          queue,
          state,
          timestamp,
          count,
        );
        for (const row of rows) {
          runAgain(scope, row, true, true);
          moveToWait(scope, row);
        }
        return rows.length;
      }),
    promote: (jobId) => file.write(() => moveToWait(scope, stateful(scope, jobId, 'delayed', 'promote'))),
    promoteJobs: (count = 1000) =>
      file.write(() => {
        const rows = file.all<JobRow>(
          `SELECT * FROM job WHERE queue = ? AND state = 'delayed' ORDER BY rank, seq LIMIT ?`,
          queue,
          count,
        );
        for (const row of rows) moveToWait(scope, row);
        return rows.length;
      }),
    moveStalledJobsToWait: () => file.write(() => recoverStalled(scope)),
    extendLock: (jobId, token, duration) => file.write(() => extend(scope, jobId, token, duration)),
    extendLocks: (jobIds, tokens, duration) =>
      file.write(() => jobIds.filter((id, n) => extend(scope, id, tokens[n] ?? '', duration) === 0)),
    changeDelay: (jobId, delay) =>
      file.write(() => {
        const { key } = stateful(scope, jobId, 'delayed', 'changeDelay');
        const now = Date.now();
        file.run(
          'UPDATE job SET delay = ?, delayed_at = ?, process_at = ? WHERE key = ?',
          delay,
          now,
          now + delay,
          key,
        );
        file.touch(queue);
      }),
    changePriority: (jobId, priority = 0, lifo = false) =>
      file.write(() => {
        const row = existingJob(scope, jobId, 'changePriority');
        const seq = row.state === 'waiting' ? nextSeq(file, lifo) : row.seq;
        file.run('UPDATE job SET priority = ?, seq = ? WHERE key = ?', priority, seq, row.key);
      }),
  } satisfies Partial<IQueueBackend>;
}

function fieldsOf(fields: Record<string, unknown> = {}) {
  const { failedReason = null, stacktrace = null } = fields as Record<string, string | null>;
  return { failedReason, stacktrace };
}

function stateful(scope: QueueScope, jobId: string, state: string, command: string): JobRow {
  const row = existingJob(scope, jobId, command);
  if (row.state !== state) throw jobError(ErrorCode.JobNotInState, { jobId, command, state });
  return row;
}

/** Behind the waiting jobs of its priority, or before them. */
function moveToWait({ file, queue }: QueueScope, row: JobRow, { isFirst = false } = {}): void {
  file.run(
    `UPDATE job SET state = 'waiting', seq = ?, delay = ?, delayed_at = NULL, process_at = NULL, lock_token = NULL,
                    locked_at = NULL, locked_until = NULL
     WHERE key = ?`,
    nextSeq(file, isFirst),
    row.state === 'delayed' ? 0 : row.delay,
    row.key,
  );
  publish(file, queue, 'waiting', { jobId: row.id, prev: row.state });
}

function runAgain({ file }: QueueScope, row: JobRow, resetsMade: boolean, resetsStarted: boolean): void {
  file.run(
    `UPDATE job SET processed_at = NULL, finished_at = NULL, return_value = NULL, failed_reason = NULL, stacktrace = NULL,
                    attempts_made = ?, attempts_started = ?
     WHERE key = ?`,
    resetsMade ? 0 : row.attempts_made,
    resetsStarted ? 0 : row.attempts_started,
    row.key,
  );
}

function extend({ file, queue }: QueueScope, jobId: string, token: string, duration: number): number {
  const now = Date.now();
  return file.run(
    `UPDATE job SET locked_at = ?, locked_until = ? WHERE queue = ? AND id = ? AND state = 'active' AND lock_token = ?`,
    now,
    now + duration,
    queue,
    jobId,
    token,
  );
}

/**
 * Active jobs whose lock has run out are to wait again. Only those that were active at the check before too, so that a worker has a
 * whole interval to renew its lock after the clock was set: a lock from the future counts as run out.
 */
function recoverStalled(scope: QueueScope): string[] {
  const { file, queue, opts } = scope;
  const now = Date.now();
  if (!isCheckDue(scope, now)) return [];
  const stalled = file.all<JobRow>(
    `SELECT * FROM job WHERE queue = ? AND state = 'active' AND is_stall_suspect = 1
       AND locked_until IS NOT NULL AND (locked_until < ? OR locked_at > ?)`,
    queue,
    now,
    now,
  );
  for (const row of stalled) {
    const isOverLimit = row.stalled_count + 1 > (opts.maxStalledCount ?? 1) && !isScheduled(scope, row);
    file.run(
      `UPDATE job SET state = 'waiting', seq = ?, lock_token = NULL, locked_at = NULL, locked_until = NULL,
                      stalled_count = stalled_count + 1, deferred_failure = coalesce(?, deferred_failure)
       WHERE key = ?`,
      nextSeq(file),
      isOverLimit ? STALLED_REASON : null,
      row.key,
    );
    publish(file, queue, 'stalled', { jobId: row.id });
  }
  file.run(`UPDATE job SET is_stall_suspect = 1 WHERE queue = ? AND state = 'active'`, queue);
  return stalled.map(({ id }) => id);
}

/** Of all the workers of a queue one looks, once an interval. */
function isCheckDue({ file, queue, opts }: QueueScope, now: number): boolean {
  const last = file.get<{ value: string }>(
    `SELECT value FROM meta WHERE queue = ? AND field = 'stalled-check'`,
    queue,
  );
  const since = now - Number(last?.value ?? 0);
  if (since >= 0 && since < (opts.stalledInterval ?? STALLED_MS)) return false;
  file.run(
    `INSERT OR REPLACE INTO meta (queue, field, value) VALUES (?, 'stalled-check', ?)`,
    queue,
    String(now),
  );
  return true;
}

/** A schedule's job is never given up: the next one would only come after it. */
function isScheduled({ file, queue }: QueueScope, { scheduler_id: id }: JobRow): boolean {
  if (id === null) return false;
  return file.get('SELECT 1 FROM scheduler WHERE queue = ? AND scheduler_id = ?', queue, id) !== undefined;
}
