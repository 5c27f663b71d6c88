import { ErrorCode, type IQueueBackend } from 'bullmq';
import { forgetDedup } from './dedup.ts';
import { publish, trim } from './events.ts';
import { findJob, type JobRow, jobError, type QueueScope } from './job.ts';
import { hasDependency, type JobName, parentOf, releaseParent, unlink } from './parents.ts';
import type { QueueFile } from './queue-file.ts';

export function removing(scope: QueueScope) {
  const { file, queue } = scope;
  return {
    remove: (jobId, removeChildren) => file.write(() => removeJob(scope, jobId, removeChildren)),
    removeUnprocessedChildren: (jobId) =>
      file.write(() => {
        for (const row of unprocessedBelow(file, { queue, id: jobId })) {
          file.run('DELETE FROM dependency WHERE child_queue = ? AND child_id = ?', row.queue, row.id);
          file.run('DELETE FROM job WHERE key = ?', row.key);
          publish(file, row.queue, 'removed', { jobId: row.id, prev: 'waiting' });
        }
      }),
    drain: (delayed) =>
      file.write(() => {
        const rows = file.all<JobRow>(
          `SELECT * FROM job WHERE queue = ? AND state IN ('waiting', ?) AND scheduler_id IS NULL`,
          queue,
          delayed ? 'delayed' : 'waiting',
        );
        removeAll(scope, rows);
      }),
    cleanJobsByState: (state, timestamp, limit = 0) =>
      file.write(() => {
        const rows = oldJobs(scope, state, timestamp, limit > 0 ? limit : -1);
        if (rows.length === 0) return [];
        removeAll(scope, rows);
        publish(file, queue, 'cleaned', { count: rows.length });
        return rows.map(({ id }) => id);
      }),
    obliterate: ({ count, force }) => file.write(() => obliterate(scope, count, force)),
    // A job and its state are one row: there are no orphans.
    removeOrphanedJobs: async () => 0,
    removeDeprecatedPriorityKey: async () => 0,
  } satisfies Partial<IQueueBackend>;
}

/** How many jobs were removed: none where one of them is locked by a worker. */
function removeJob({ file, queue }: QueueScope, id: string, withChildren: boolean): number {
  const row = findJob(file, queue, id);
  if (!row) return 0;
  if (row.scheduler_id !== null)
    throw jobError(ErrorCode.JobBelongsToJobScheduler, { jobId: id, command: 'remove' });
  const rows = withChildren ? treeBelow(file, row) : [row];
  const now = Date.now();
  if (
    rows.some((job) => isPending(file, job, row) && job.lock_token !== null && (job.locked_until ?? 0) > now)
  )
    return 0;
  for (const job of rows) {
    forgetDedup(file, job);
    file.run('DELETE FROM job WHERE key = ?', job.key);
  }
  const parent = parentOf(row);
  if (parent && unlink(file, parent, row)) releaseParent(file, parent);
  file.touch(queue);
  return rows.length;
}

/** A child that its parent no longer waits for may be locked: it was run again on its own. */
function isPending(file: QueueFile, job: JobRow, root: JobRow): boolean {
  if (job.key === root.key) return true;
  const found = file.get(
    `SELECT 1 FROM dependency WHERE child_queue = ? AND child_id = ? AND status = 'pending'`,
    job.queue,
    job.id,
  );
  return found !== undefined;
}

function treeBelow(file: QueueFile, root: JobRow): JobRow[] {
  return file.all<JobRow>(
    `WITH RECURSIVE tree (queue, id) AS (
       VALUES (?, ?)
       UNION SELECT job.queue, job.id FROM tree JOIN job ON job.parent_queue = tree.queue AND job.parent_id = tree.id)
     SELECT job.* FROM tree JOIN job USING (queue, id)`,
    root.queue,
    root.id,
  );
}

function unprocessedBelow(file: QueueFile, { queue, id }: JobName): JobRow[] {
  return file.all<JobRow>(
    `WITH RECURSIVE tree (queue, id) AS (
       VALUES (?, ?)
       UNION
       SELECT job.queue, job.id FROM tree
         JOIN dependency AS d ON d.parent_queue = tree.queue AND d.parent_id = tree.id AND d.status = 'pending'
         JOIN job ON job.queue = d.child_queue AND job.id = d.child_id
       WHERE job.state NOT IN ('active', 'failed', 'completed') AND job.lock_token IS NULL)
     SELECT job.* FROM tree JOIN job USING (queue, id) WHERE NOT (job.queue = ? AND job.id = ?)`,
    queue,
    id,
    queue,
    id,
  );
}

/** Jobs and what depends on them. A parent in the same queue that now waits for nothing goes with its children. */
function removeAll({ file, queue }: QueueScope, rows: JobRow[]): void {
  const parents = new Map<string, JobName>();
  for (const row of rows) {
    const parent = parentOf(row);
    if (parent) parents.set(`${parent.queue}:${parent.id}`, parent);
    file.run('DELETE FROM dependency WHERE child_queue = ? AND child_id = ?', row.queue, row.id);
    file.run('DELETE FROM job WHERE key = ?', row.key);
  }
  for (const parent of parents.values()) {
    if (parent.queue !== queue) releaseParent(file, parent);
    else if (!hasDependency(file, parent, 'pending'))
      file.run(
        `DELETE FROM job WHERE queue = ? AND id = ? AND state = 'waiting-children'`,
        parent.queue,
        parent.id,
      );
  }
}

function oldJobs({ file, queue }: QueueScope, state: string, before: number, limit: number): JobRow[] {
  const isFinished = state === 'completed' || state === 'failed';
  const isWaiting = /^(wait|waiting|paused|prioritized)$/.test(state);
  return file.all<JobRow>(
    `SELECT * FROM job
     WHERE queue = ? AND state = ? AND ${isFinished ? 'finished_at' : 'added_at'} <= ?
       ${isFinished ? '' : 'AND scheduler_id IS NULL'}
       ${isWaiting ? `AND (priority > 0) = ${state === 'prioritized'}` : ''}
     ORDER BY seq LIMIT ?`,
    queue,
    isWaiting ? 'waiting' : state,
    before,
    limit,
  );
}

const TABLES = ['scheduler', 'rate_limit', 'metrics', 'dedup', 'meta'];

/** One batch; 1 while there is more to do. */
function obliterate({ file, queue }: QueueScope, count: number, force: boolean): number {
  if (!file.get(`SELECT 1 FROM meta WHERE queue = ? AND field = 'paused'`, queue))
    throw new Error('Cannot obliterate non-paused queue');
  if (!force && file.get(`SELECT 1 FROM job WHERE queue = ? AND state = 'active'`, queue))
    throw new Error('Cannot obliterate queue with active jobs');
  const removed = file.run(
    'DELETE FROM job WHERE key IN (SELECT key FROM job WHERE queue = ? LIMIT ?)',
    queue,
    count,
  );
  if (removed >= count) return 1;
  for (const table of TABLES) file.run(`DELETE FROM ${table} WHERE queue = ?`, queue);
  trim(file, queue, 0);
  file.run('DELETE FROM counter WHERE name = ?', `id:${queue}`);
  return 0;
}
