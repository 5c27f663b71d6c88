import type { IQueueBackend } from 'bullmq';
import { publish, type Waits } from './events.ts';
import { count, type JobRow, type QueueScope, toJson } from './job.ts';
import type { QueueFile } from './queue-file.ts';

/** BullMQ's tuple: the job and its id, or for how long the rate limit holds, or when the next delayed job is due. */
type NextJob = [job: ReturnType<typeof toJson> | null, id: string, limitedFor: number, delayedUntil: number];

const LOCK_MS = 30_000;

/**
 * A hundred thousand jobs that are due at one moment are not to stop the event loop for a second. Written into the statement: SQLite
 * plans a statement again whenever a bound LIMIT is set, which takes ten times as long as running this one.
 */
const PROMOTED_AT_ONCE = 1000;

export function fetching(scope: QueueScope, waits: Waits) {
  const { file, queue } = scope;
  return {
    moveToActive: (token, name) => file.write(() => claimNext(scope, token, name)),
    /** Null also when a job has come: BullMQ fetches either way. */
    async waitForJob(blockTimeout) {
      const dueNow = (): number => (isClaimable(file, queue) ? 0 : (earliest(file, queue) ?? Infinity));
      const until = Math.min(Date.now() + blockTimeout * 1000, await file.read(dueNow));
      const ms = until - Date.now();
      if (ms > 0) await waits.until(queue, () => dueNow() < until, ms);
      return null;
    },
    isMaxed: () => file.read(() => isMaxed(file, queue, limitsOf(file, queue))),
    getRateLimitTtl: (maxJobs) => file.read(() => limitTtl(file, queue, maxJobs)),
    setRateLimit: (ms) =>
      file.write(() => {
        const now = Date.now();
        setWindow(file, queue, Number.MAX_SAFE_INTEGER, now, now + ms);
      }),
    removeRateLimitKey: () => file.write(() => file.run('DELETE FROM rate_limit WHERE queue = ?', queue)),
  } satisfies Partial<IQueueBackend>;
}

/** The next job, locked for the worker. Part of a transaction, so that a finished job and the fetch of the next are one commit. */
export function claimNext(scope: QueueScope, token: string, name: string | undefined): NextJob {
  const { file, queue, opts } = scope;
  const now = Date.now();
  promoteDue(file, queue, now);
  const limits = limitsOf(file, queue);
  const max = limits.max ?? opts.limiter?.max;
  const limitedFor = max === undefined ? 0 : windowTtl(file, queue, max, now);
  if (limitedFor > 0) return [null, '', limitedFor, 0];
  const row = limits.isPaused || isMaxed(file, queue, limits) ? undefined : claim(scope, token, name, now);
  if (!row) return [null, '', 0, earliest(file, queue) ?? 0];
  const duration = opts.limiter?.duration ?? limits.duration;
  if (max !== undefined && duration !== undefined) consume(file, queue, duration, now);
  publish(file, queue, 'active', { jobId: row.id, prev: 'waiting' });
  return [toJson(row), row.id, 0, 0];
}

function claim({ file, queue, opts }: QueueScope, token: string, name: string | undefined, now: number) {
  return file.get<JobRow>(
    `UPDATE job SET state = 'active', lock_token = ?, locked_at = ?, locked_until = ?, processed_at = ?, processed_by = ?,
                    attempts_started = attempts_started + 1, is_stall_suspect = 0
     WHERE key = (SELECT key FROM job WHERE queue = ? AND state = 'waiting' ORDER BY rank, seq LIMIT 1)
     RETURNING *`,
    token,
    now,
    now + (opts.lockDuration ?? LOCK_MS),
    now,
    name ?? null,
    queue,
  );
}

/** Delayed jobs whose time has come line up in the order of their times. */
export function promoteDue(file: QueueFile, queue: string, now: number): void {
  if (file.clockWentBack(now)) makeDue(file, now);
  const due = file.all<{ key: number; id: string }>(
    `SELECT key, id FROM job WHERE queue = ? AND state = 'delayed' AND rank <= ? ORDER BY rank, seq LIMIT ${PROMOTED_AT_ONCE}`,
    queue,
    now,
  );
  if (due.length === 0) return;
  let seq = count(file, 'seq', due.length) - due.length;
  for (const { key, id } of due) {
    file.run(
      `UPDATE job SET state = 'waiting', seq = ?, delay = 0, delayed_at = NULL, process_at = NULL WHERE key = ?`,
      ++seq,
      key,
    );
    publish(file, queue, 'waiting', { jobId: id, prev: 'delayed' });
  }
}

/** A delay that begins in the future was set by a clock that was ahead. When it would be over is unknown, so it is. */
function makeDue(file: QueueFile, now: number): void {
  const sql = `UPDATE job SET process_at = @now, delayed_at = @now WHERE state = 'delayed' AND delayed_at > @now`;
  file.run(sql, { now });
}

interface Limits {
  isPaused: boolean;
  concurrency: number | undefined;
  max: number | undefined;
  duration: number | undefined;
}

function limitsOf(file: QueueFile, queue: string): Limits {
  const rows = file.all<{ field: string; value: string }>(
    `SELECT field, value FROM meta WHERE queue = ? AND field IN ('paused', 'concurrency', 'max', 'duration')`,
    queue,
  );
  const fields = new Map(rows.map(({ field, value }) => [field, Number(value)]));
  return {
    isPaused: fields.get('paused') === 1,
    concurrency: fields.get('concurrency'),
    max: fields.get('max'),
    duration: fields.get('duration'),
  };
}

function isMaxed(file: QueueFile, queue: string, { concurrency }: Limits): boolean {
  if (concurrency === undefined) return false;
  return (
    file.count(`SELECT count(*) AS n FROM job WHERE queue = ? AND state = 'active'`, queue) >= concurrency
  );
}

/** Without the look at the limits a worker with a free place would fetch in a circle while others have all the jobs it may take. */
function isClaimable(file: QueueFile, queue: string): boolean {
  if (!file.get(`SELECT 1 FROM job WHERE queue = ? AND state = 'waiting' LIMIT 1`, queue)) return false;
  const limits = limitsOf(file, queue);
  return !limits.isPaused && !isMaxed(file, queue, limits);
}

function earliest(file: QueueFile, queue: string): number | null {
  const row = file.get<{ at: number | null }>(
    `SELECT min(rank) AS at FROM job WHERE queue = ? AND state = 'delayed'`,
    queue,
  );
  return row?.at ?? null;
}

interface Window {
  points: number;
  started_at: number;
  expire_at: number;
}

/** A window that begins in the future was opened by a clock that was ahead, and holds nothing back. */
function openWindow(file: QueueFile, queue: string, now: number): Window | undefined {
  return file.get<Window>(
    'SELECT * FROM rate_limit WHERE queue = ? AND started_at <= ? AND expire_at > ?',
    queue,
    now,
    now,
  );
}

function windowTtl(file: QueueFile, queue: string, max: number, now: number): number {
  const window = openWindow(file, queue, now);
  return window && window.points >= max ? window.expire_at - now : 0;
}

/** As BullMQ asks for it: of the given maximum, else of the queue's own, else of the bare window (-2 where there is none). */
function limitTtl(file: QueueFile, queue: string, maxJobs: number | undefined): number {
  const now = Date.now();
  const max = maxJobs || limitsOf(file, queue).max;
  if (max) return windowTtl(file, queue, max, now);
  return windowTtl(file, queue, 0, now) || -2;
}

/** How long a rate limit still holds, whatever its maximum. */
export function remainingLimit(file: QueueFile, queue: string): number {
  return windowTtl(file, queue, 0, Date.now());
}

function consume(file: QueueFile, queue: string, duration: number, now: number): void {
  const { points, started_at, expire_at } = openWindow(file, queue, now) ?? {
    points: 0,
    started_at: now,
    expire_at: now + duration,
  };
  setWindow(file, queue, points + 1, started_at, expire_at);
}

function setWindow(
  file: QueueFile,
  queue: string,
  points: number,
  startedAt: number,
  expireAt: number,
): void {
  file.run(
    'INSERT OR REPLACE INTO rate_limit (queue, points, started_at, expire_at) VALUES (?, ?, ?, ?)',
    queue,
    points,
    startedAt,
    expireAt,
  );
}
