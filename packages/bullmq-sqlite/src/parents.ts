import { ErrorCode, type IQueueBackend, type JobsOptions } from 'bullmq';
import { publish } from './events.ts';
import {
  existingJob,
  findJob,
  hasJob,
  type JobRow,
  jobError,
  nextSeq,
  type QueueScope,
  toJson,
} from './job.ts';
import type { QueueFile } from './queue-file.ts';

/** Flows: a parent waits in `waiting-children` until none of its dependencies is pending. */
export interface JobName {
  queue: string;
  id: string;
}

type DependencyStatus = 'pending' | 'processed' | 'ignored' | 'failed';

export function link(file: QueueFile, parent: JobName, child: JobName): void {
  file.run(
    `INSERT INTO dependency (parent_queue, parent_id, child_queue, child_id, status)
     VALUES (?, ?, ?, ?, 'pending') ON CONFLICT DO NOTHING`,
    ...names(parent, child),
  );
}

/** The present job of that id becomes the parent's child, unless it is that of another which still exists. */
export function adoptDuplicate(
  file: QueueFile,
  child: JobName,
  parent: JobName & { key: string | null },
): boolean {
  const row = findJob(file, child.queue, child.id);
  const present = row && parentOf(row);
  const isOthers = present && (present.queue !== parent.queue || present.id !== parent.id);
  if (isOthers && hasJob(file, present.queue, present.id)) return false;
  link(file, parent, child);
  if (row?.state === 'completed') resolve(file, parent, child, 'processed', row.return_value);
  file.run(
    'UPDATE job SET parent_queue = ?, parent_id = ?, parent_key = ? WHERE queue = ? AND id = ?',
    parent.queue,
    parent.id,
    parent.key,
    child.queue,
    child.id,
  );
  return true;
}

export function parentOf(row: Pick<JobRow, 'parent_queue' | 'parent_id'>): JobName | null {
  return row.parent_queue === null || row.parent_id === null
    ? null
    : { queue: row.parent_queue, id: row.parent_id };
}

/** False where the dependency was not pending any more. */
function resolve(
  file: QueueFile,
  parent: JobName,
  child: JobName,
  status: DependencyStatus,
  value: string | null,
): boolean {
  const changed = file.run(
    `UPDATE dependency SET status = ?, value = ?
     WHERE parent_queue = ? AND parent_id = ? AND child_queue = ? AND child_id = ? AND status = 'pending'`,
    status,
    value,
    ...names(parent, child),
  );
  return changed > 0;
}

/** Takes a pending dependency away; false where there was none. */
export function unlink(file: QueueFile, parent: JobName, child: JobName): boolean {
  const removed = file.run(
    `DELETE FROM dependency
     WHERE parent_queue = ? AND parent_id = ? AND child_queue = ? AND child_id = ? AND status = 'pending'`,
    ...names(parent, child),
  );
  return removed > 0;
}

export function childCompleted(file: QueueFile, child: JobRow, value: string): void {
  const parent = parentOf(child);
  if (parent && resolve(file, parent, child, 'processed', value)) releaseParent(file, parent);
}

/** The options of a child say what its failure means for its parent. By default the parent goes on waiting. */
export function childFailed(file: QueueFile, child: JobRow, reason: string): void {
  const parent = parentOf(child);
  if (!parent) return;
  const opts = JSON.parse(child.opts) as JobsOptions;
  const value = JSON.stringify(reason);
  if (opts.failParentOnFailure) {
    if (!resolve(file, parent, child, 'failed', value)) return;
    file.run(
      'UPDATE job SET deferred_failure = ? WHERE queue = ? AND id = ?',
      `child ${child.queue}:${child.id} failed`,
      parent.queue,
      parent.id,
    );
    moveParentToWait(file, parent);
  } else if (opts.continueParentOnFailure) {
    if (resolve(file, parent, child, 'ignored', value)) moveParentToWait(file, parent);
  } else if (opts.ignoreDependencyOnFailure) {
    if (resolve(file, parent, child, 'ignored', value)) releaseParent(file, parent);
  } else if (opts.removeDependencyOnFailure) {
    if (unlink(file, parent, child)) releaseParent(file, parent);
  }
}

/** A finished child that is run again is pending again. */
export function childRetried(file: QueueFile, child: JobRow): void {
  file.run(
    `UPDATE dependency SET status = 'pending', value = NULL
     WHERE child_queue = ? AND child_id = ? AND parent_queue = ? AND parent_id = ?`,
    child.queue,
    child.id,
    child.parent_queue,
    child.parent_id,
  );
}

export function hasDependency(file: QueueFile, parent: JobName, status: DependencyStatus): boolean {
  const row = file.get(
    'SELECT 1 FROM dependency WHERE parent_queue = ? AND parent_id = ? AND status = ?',
    parent.queue,
    parent.id,
    status,
  );
  return row !== undefined;
}

export function releaseParent(file: QueueFile, parent: JobName): void {
  if (!hasDependency(file, parent, 'pending')) moveParentToWait(file, parent);
}

function moveParentToWait(file: QueueFile, { queue, id }: JobName): void {
  const row = findJob(file, queue, id);
  if (row?.state !== 'waiting-children') return;
  const now = Date.now();
  const isDelayed = row.delay > 0;
  file.run(
    'UPDATE job SET state = ?, seq = ?, delayed_at = ?, process_at = ? WHERE key = ?',
    isDelayed ? 'delayed' : 'waiting',
    nextSeq(file),
    now,
    isDelayed ? now + row.delay : null,
    row.key,
  );
  if (isDelayed) publish(file, queue, 'delayed', { jobId: id, delay: now + row.delay });
  else publish(file, queue, 'waiting', { jobId: id, prev: 'waiting-children' });
}

function names(parent: JobName, child: JobName): [string, string, string, string] {
  return [parent.queue, parent.id, child.queue, child.id];
}

interface DependencyRow {
  child: string;
  status: DependencyStatus;
  value: string | null;
}

export function flows(scope: QueueScope) {
  const { file, queue } = scope;
  const children = (id: string, status: DependencyStatus, offset = 0, limit = -1): DependencyRow[] =>
    file.all<DependencyRow>(
      `SELECT child_queue || ':' || child_id AS child, status, value FROM dependency
       WHERE parent_queue = ? AND parent_id = ? AND status = ? ORDER BY child_id LIMIT ? OFFSET ?`,
      queue,
      id,
      status,
      limit,
      offset,
    );
  return {
    moveToWaitingChildren: (jobId, token) => file.write(() => moveToWaitingChildren(scope, jobId, token)),
    removeChildDependency: (jobId, parentKey) =>
      file.write(() => removeChildDependency(scope, jobId, parentKey)),
    getDependencyCounts: (jobId, types) =>
      file.read(() => types.map((type) => children(jobId, statusOf(type)).length)),
    getDependencies: (jobId, opts) =>
      file.read(() => {
        const asked = CATEGORIES.filter(({ name }) => opts[name]);
        const pages = (asked.length > 0 ? asked : CATEGORIES).map(({ name, cursor, hasValues }) => {
          const { cursor: from = 0, count = asked.length > 0 ? 20 : -1 } = opts[name] ?? {};
          const rows = children(jobId, statusOf(name), from, count);
          const page = { [name]: hasValues ? valuesOf(rows) : rows.map(({ child }) => child) };
          return asked.length > 0 ? { ...page, [cursor]: rows.length < count ? 0 : from + count } : page;
        });
        return Object.assign({}, ...pages);
      }),
    getProcessedChildrenValues: (jobId) =>
      file.read(() =>
        Object.fromEntries(children(jobId, 'processed').map(({ child, value }) => [child, value ?? 'null'])),
      ),
    getIgnoredChildrenFailures: (jobId) =>
      file.read(() => valuesOf(children(jobId, 'ignored')) as Record<string, string>),
    paginate: (key, { start, end, fetchJobs }) =>
      file.read(() => {
        const [, id = '', kind] = /^(.*):(processed|dependencies)$/.exec(key.slice(queue.length + 1)) ?? [];
        const status = kind === 'processed' ? 'processed' : 'pending';
        const rows = children(id, status);
        const page = rows.slice(start, end < 0 ? undefined : end + 1);
        const items = page.map(({ child, value }) =>
          status === 'processed' ? { id: child, v: JSON.parse(value ?? 'null') as unknown } : { id: child },
        );
        const found = fetchJobs ? { jobs: page.flatMap(({ child }) => jobAt(file, child)) } : {};
        return { cursor: '0', items, total: rows.length, ...found };
      }),
  } satisfies Partial<IQueueBackend>;
}

const CATEGORIES = [
  { name: 'processed', cursor: 'nextProcessedCursor', hasValues: true },
  { name: 'unprocessed', cursor: 'nextUnprocessedCursor', hasValues: false },
  { name: 'ignored', cursor: 'nextIgnoredCursor', hasValues: true },
  { name: 'failed', cursor: 'nextFailedCursor', hasValues: false },
] as const;

function statusOf(category: string): DependencyStatus {
  return category === 'unprocessed' ? 'pending' : (category as DependencyStatus);
}

function valuesOf(rows: DependencyRow[]): Record<string, unknown> {
  return Object.fromEntries(rows.map(({ child, value }) => [child, JSON.parse(value ?? 'null') as unknown]));
}

function jobAt(file: QueueFile, key: string) {
  const at = key.indexOf(':');
  const row = findJob(file, key.slice(0, at), key.slice(at + 1));
  return row ? [toJson(row)] : [];
}

/** Whether there is anything to wait for. */
function moveToWaitingChildren(scope: QueueScope, id: string, token: string): boolean {
  const { file, queue } = scope;
  const about = { jobId: id, command: 'moveToWaitingChildren' };
  const row = existingJob(scope, id, about.command);
  if (hasDependency(file, row, 'failed')) throw jobError(ErrorCode.JobHasFailedChildren, about);
  if (token !== '0' && row.lock_token !== token)
    throw jobError(row.lock_token === null ? ErrorCode.JobLockNotExist : ErrorCode.JobLockMismatch, about);
  if (row.state !== 'active') throw jobError(ErrorCode.JobNotInState, about);
  if (!hasDependency(file, row, 'pending')) return false;
  file.run(
    `UPDATE job SET state = 'waiting-children', lock_token = NULL, locked_at = NULL, locked_until = NULL WHERE key = ?`,
    row.key,
  );
  file.touch(queue);
  return true;
}

function removeChildDependency(scope: QueueScope, id: string, parentKey: string): boolean {
  const { file } = scope;
  const about = { jobId: id, parentKey, command: 'removeChildDependency' };
  const row = existingJob(scope, id, about.command);
  const parent = parentOf(row);
  if (!parent) return false;
  if (!hasJob(file, parent.queue, parent.id)) throw jobError(ErrorCode.ParentJobNotExist, about);
  const removed = file.run(
    'DELETE FROM dependency WHERE parent_queue = ? AND parent_id = ? AND child_queue = ? AND child_id = ?',
    ...names(parent, row),
  );
  if (removed === 0) return false;
  file.run('UPDATE job SET parent_queue = NULL, parent_id = NULL, parent_key = NULL WHERE key = ?', row.key);
  releaseParent(file, parent);
  return true;
}
