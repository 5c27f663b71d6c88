import { ErrorCode, type IQueueBackend, type KeepJobs } from 'bullmq';
import { finishDedup } from './dedup.ts';
import { publish } from './events.ts';
import { claimNext } from './fetch.ts';
import { heldJob, type JobRow, jobError, type QueueScope } from './job.ts';
import { childCompleted, childFailed, hasDependency, parentOf, releaseParent, unlink } from './parents.ts';

const COMMAND = 'moveToFinished';
const MINUTE_MS = 60_000;

export function finishing(scope: QueueScope) {
  const { file } = scope;
  /** Finishing a job and fetching the next is one transaction: half the commits. */
  const finish = (token: string, fetchNext: boolean, work: (now: number) => void) =>
    file.write(() => {
      const finishedOn = Date.now();
      work(finishedOn);
      return { result: fetchNext ? claimNext(scope, token, scope.opts.name) : undefined, finishedOn };
    });
  return {
    moveToCompleted: ({ id = '' }, returnValue, keep, token, fetchNext) =>
      finish(token, fetchNext, (now) =>
        complete(
          scope,
          id,
          token,
          JSON.stringify(returnValue ?? null),
          keep ?? scope.opts.removeOnComplete,
          now,
        ),
      ),
    moveToFailed: ({ id = '' }, reason, keep, token, fetchNext, fields) =>
      finish(token, fetchNext, (now) => {
        const stacktrace = fields?.stacktrace as string | undefined;
        fail(
          scope,
          { id, token, reason, stacktrace: stacktrace ?? null },
          keep ?? scope.opts.removeOnFail,
          now,
        );
      }),
    getMetrics: (kind, start = 0, end = -1) => file.read(() => metricsOf(scope, kind, start, end)),
  } satisfies Partial<IQueueBackend>;
}

type Keep = boolean | number | KeepJobs | undefined;

function complete(
  scope: QueueScope,
  id: string,
  token: string,
  value: string,
  keep: Keep,
  now: number,
): void {
  const { file, queue } = scope;
  const row = heldJob(scope, id, token, COMMAND);
  if (hasDependency(file, row, 'pending'))
    throw jobError(ErrorCode.JobPendingChildren, { jobId: id, command: COMMAND });
  if (hasDependency(file, row, 'failed'))
    throw jobError(ErrorCode.JobHasFailedChildren, { jobId: id, command: COMMAND });
  if (keep !== true)
    file.run(
      `UPDATE job SET state = 'completed', return_value = ?, finished_at = ?, lock_token = NULL, locked_at = NULL,
                      locked_until = NULL, attempts_made = attempts_made + 1
       WHERE key = ?`,
      value,
      now,
      row.key,
    );
  publish(file, queue, 'completed', { jobId: id, returnvalue: value, prev: 'active' });
  childCompleted(file, row, value);
  settle(scope, row, 'completed', keep, now);
}

interface Failure {
  id: string;
  token: string;
  reason: string;
  stacktrace: string | null;
}

function fail(scope: QueueScope, { id, token, reason, stacktrace }: Failure, keep: Keep, now: number): void {
  const { file, queue } = scope;
  const row = heldJob(scope, id, token, COMMAND);
  file.run(
    `UPDATE job SET state = 'failed', failed_reason = ?, stacktrace = coalesce(?, stacktrace), finished_at = ?,
                    lock_token = NULL, locked_at = NULL, locked_until = NULL, deferred_failure = NULL,
                    attempts_made = attempts_made + 1
     WHERE key = ?`,
    reason,
    stacktrace,
    now,
    row.key,
  );
  publish(file, queue, 'failed', { jobId: id, failedReason: reason, prev: 'active' });
  publish(file, queue, 'retries-exhausted', { jobId: id, attemptsMade: row.attempts_made + 1 });
  childFailed(file, row, reason);
  settle(scope, row, 'failed', keep, now);
}

function settle(
  scope: QueueScope,
  row: JobRow,
  state: 'completed' | 'failed',
  keep: Keep,
  now: number,
): void {
  const { file, queue, opts } = scope;
  retain(scope, row, state, keep, now);
  finishDedup(file, row, now);
  const maxDataPoints = opts.metrics?.maxDataPoints;
  if (maxDataPoints) collectMetrics(scope, state, maxDataPoints, now);
  if (isDrained(scope)) publish(file, queue, 'drained', {});
}

function retain({ file, queue }: QueueScope, row: JobRow, state: string, keep: Keep, now: number): void {
  if (keep === true) {
    const parent = parentOf(row);
    if (parent && unlink(file, parent, row)) releaseParent(file, parent);
    file.run('DELETE FROM job WHERE key = ?', row.key);
    return;
  }
  const { age, count } =
    typeof keep === 'number' ? { count: keep } : ((keep || {}) as { age?: number; count?: number });
  if (age !== undefined && age >= 0)
    file.run('DELETE FROM job WHERE queue = ? AND state = ? AND rank <= ?', queue, state, now - age * 1000);
  if (count !== undefined && count >= 0)
    file.run(
      `DELETE FROM job WHERE key IN (
         SELECT key FROM job WHERE queue = ? AND state = ? ORDER BY rank DESC, seq DESC LIMIT -1 OFFSET ?)`,
      queue,
      state,
      count,
    );
}

function isDrained({ file, queue }: QueueScope): boolean {
  const left = file.get(
    `SELECT 1 FROM job WHERE queue = @queue AND state = 'active'
     UNION ALL SELECT 1 FROM job WHERE queue = @queue AND state = 'waiting'
       AND NOT EXISTS (SELECT 1 FROM meta WHERE queue = @queue AND field = 'paused') LIMIT 1`,
    { queue },
  );
  return left === undefined;
}

interface Metrics {
  count: number;
  prev_ts: number;
  prev_count: number;
  data: string;
}

function findMetrics({ file, queue }: QueueScope, kind: string): Metrics | undefined {
  return file.get<Metrics>('SELECT * FROM metrics WHERE queue = ? AND kind = ?', queue, kind);
}

/** Jobs a minute, the newest minute first; minutes in which nothing finished count as zero. */
function collectMetrics(scope: QueueScope, kind: string, max: number, now: number): void {
  const known = findMetrics(scope, kind) ?? { count: 0, prev_ts: now, prev_count: 0, data: '[]' };
  const minutes = Math.min(Math.floor(now / MINUTE_MS) - Math.floor(known.prev_ts / MINUTE_MS), max);
  const next = { ...known, count: known.count + 1 };
  if (minutes > 0) {
    const data = JSON.parse(known.data) as number[];
    const gap = Array<number>(minutes - 1).fill(0);
    next.data = JSON.stringify([...gap, known.count - known.prev_count, ...data].slice(0, max));
    next.prev_count = known.count;
    next.prev_ts = now;
  }
  scope.file.run(
    'INSERT OR REPLACE INTO metrics (queue, kind, count, prev_ts, prev_count, data) VALUES (?, ?, ?, ?, ?, ?)',
    scope.queue,
    kind,
    next.count,
    next.prev_ts,
    next.prev_count,
    next.data,
  );
}

function metricsOf(
  scope: QueueScope,
  kind: string,
  start: number,
  end: number,
): [string[], string[], number] {
  const known = findMetrics(scope, kind);
  const data = known ? (JSON.parse(known.data) as number[]) : [];
  const page = data.slice(start, end === -1 ? undefined : end + 1).map(String);
  return [[String(known?.count ?? 0), '0', '0'], page, page.length];
}
