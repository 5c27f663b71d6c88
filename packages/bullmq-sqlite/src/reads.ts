import { ErrorCode, type IQueueBackend, type JobType } from 'bullmq';
import { publish } from './events.ts';
import { findJob, hasJob, type JobRow, jobError, type QueueScope, toJson } from './job.ts';

/** A paused queue is a mark in its meta data: its jobs go on waiting, and are counted as such. */
export function reading(scope: QueueScope) {
  return { ...jobReads(scope), ...jobWrites(scope), ...metaFields(scope) };
}

function jobReads({ file, queue }: QueueScope) {
  const find = (id: string): Promise<JobRow | undefined> => file.read(() => findJob(file, queue, id));
  return {
    async getState(jobId) {
      const row = await find(jobId);
      return row ? stateOf(row) : 'unknown';
    },
    async isFinished(jobId, returnValue) {
      const row = await find(jobId);
      const [status, value] = finishOf(row, `Missing key for job ${queue}:${jobId}. isFinished`);
      return returnValue ? [status, value] : status;
    },
    async isJobInState(state, jobId) {
      const row = await find(jobId);
      return row !== undefined && stateOf(row) === (state === 'wait' ? 'waiting' : state);
    },
    async getJobData(jobId) {
      const row = await find(jobId);
      return row && toJson(row);
    },
    getCounts: (types, delayedBefore) =>
      file.read(() =>
        types.map((type) => {
          const { state, condition } = filterOf(type);
          const before = type === 'delayed' && delayedBefore !== undefined ? delayedBefore : null;
          return file.count(
            `SELECT count(*) AS n FROM job
             WHERE queue = @queue AND state = @state ${condition} AND (@before IS NULL OR rank < @before)`,
            { queue, state, before },
          );
        }),
      ),
    getCountsPerPriority: (priorities) =>
      file.read(() => {
        const sql = `SELECT count(*) AS n FROM job WHERE queue = ? AND state = 'waiting' AND rank = ?`;
        return priorities.map((priority) => file.count(sql, queue, priority));
      }),
    getRanges: (types, start = 0, end = -1, asc = false) =>
      file.read(() => types.map((type) => range(type, Math.max(start, 0), end, asc) as [string])),
  } satisfies Partial<IQueueBackend>;

  function range(type: JobType, start: number, end: number, asc: boolean): string[] {
    const { state, condition, isList } = filterOf(type);
    const direction = isList || !asc ? 'DESC' : 'ASC';
    const rows = file.all<{ id: string }>(
      `SELECT id FROM job WHERE queue = ? AND state = ? ${condition}
       ORDER BY rank ${direction}, seq ${direction} LIMIT ? OFFSET ?`,
      queue,
      state,
      end < 0 ? -1 : Math.max(end - start + 1, 0),
      start,
    );
    return rows.map(({ id }) => id);
  }
}

function stateOf({ state, priority }: JobRow) {
  return state === 'waiting' && priority > 0 ? 'prioritized' : state;
}

function finishOf(row: JobRow | undefined, missing: string): [number, string] {
  if (!row) return [-1, missing];
  if (row.state === 'completed') return [1, row.return_value ?? 'null'];
  return row.state === 'failed' ? [2, row.failed_reason ?? ''] : [0, ''];
}

/** BullMQ turns lists of waiting and active jobs, which in Redis begin with the newest, around by itself. */
function filterOf(type: JobType): { state: string; condition: string; isList: boolean } {
  if (type === 'wait' || type === 'waiting')
    return { state: 'waiting', condition: 'AND rank = 0', isList: true };
  if (type === 'prioritized') return { state: 'waiting', condition: 'AND rank > 0', isList: false };
  return { state: type, condition: '', isList: type === 'active' };
}

function jobWrites({ file, queue }: QueueScope) {
  const missing = (jobId: string, command: string): Error =>
    jobError(ErrorCode.JobNotExist, { jobId, command });
  const countLogs = (jobId: string): number =>
    file.count('SELECT count(*) AS n FROM log WHERE queue = ? AND job_id = ?', queue, jobId);
  const keepLogs = (jobId: string, kept: number): void =>
    void file.run(
      `DELETE FROM log WHERE queue = @queue AND job_id = @jobId AND idx <= (
         SELECT idx FROM log WHERE queue = @queue AND job_id = @jobId ORDER BY idx DESC LIMIT 1 OFFSET @kept)`,
      { queue, jobId, kept },
    );
  return {
    updateData: ({ id = '' }, data) =>
      file.write(() => {
        const text = JSON.stringify(data ?? {});
        if (file.run('UPDATE job SET data = ? WHERE queue = ? AND id = ?', text, queue, id) === 0)
          throw missing(id, 'updateData');
      }),
    updateProgress: (jobId, progress) =>
      file.write(() => {
        const data = JSON.stringify(progress ?? null);
        if (file.run('UPDATE job SET progress = ? WHERE queue = ? AND id = ?', data, queue, jobId) === 0)
          throw missing(jobId, 'updateProgress');
        publish(file, queue, 'progress', { jobId, data });
      }),
    addLog: (jobId, row, kept) =>
      file.write(() => {
        if (!hasJob(file, queue, jobId)) throw missing(jobId, 'addLog');
        file.run(
          `INSERT INTO log (queue, job_id, idx, row)
           SELECT @queue, @jobId, coalesce(max(idx) + 1, 0), @row FROM log WHERE queue = @queue AND job_id = @jobId`,
          { queue, jobId, row },
        );
        if (kept) keepLogs(jobId, kept);
        return countLogs(jobId);
      }),
    clearLogs: (jobId, kept = 0) => file.write(() => keepLogs(jobId, kept)),
    getJobLogs: (jobId, start, end, asc) =>
      file.read(() => {
        const count = countLogs(jobId);
        const from = start < 0 ? Math.max(count + start, 0) : start;
        const to = end < 0 ? count + end : end;
        const rows = file.all<{ row: string }>(
          `SELECT row FROM log WHERE queue = ? AND job_id = ? ORDER BY idx ${asc ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
          queue,
          jobId,
          Math.max(to - from + 1, 0),
          from,
        );
        return { logs: rows.map(({ row }) => row), count };
      }),
  } satisfies Partial<IQueueBackend>;
}

function metaFields({ file, queue }: QueueScope) {
  const readAll = (): Promise<Record<string, string>> =>
    file.read(() => {
      const rows = file.all<{ field: string; value: string }>(
        'SELECT field, value FROM meta WHERE queue = ?',
        queue,
      );
      return Object.fromEntries(rows.map(({ field, value }) => [field, value]));
    });
  const set = (field: string, value: string | number): number =>
    file.run(
      'INSERT OR REPLACE INTO meta (queue, field, value) VALUES (?, ?, ?)',
      queue,
      field,
      String(value),
    );
  const unset = (field: string): number =>
    file.run('DELETE FROM meta WHERE queue = ? AND field = ?', queue, field);
  const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
  return {
    pause: (pause) =>
      file.write(() => {
        if (pause) set('paused', 1);
        else unset('paused');
        publish(file, queue, pause ? 'paused' : 'resumed', {});
      }),
    setQueueMeta: (values) =>
      file.write(() => {
        file.touch(queue);
        return sum(Object.entries(values).map(([field, value]) => set(field, value)));
      }),
    removeQueueMetaFields: (fields) =>
      file.write(() => {
        file.touch(queue);
        return sum(fields.map(unset));
      }),
    getQueueMeta: readAll,
    getQueueMetaField: async (field) => (await readAll())[field] ?? null,
    async getQueueMetaFields(fields) {
      const all = await readAll();
      return fields.map((field) => all[field] ?? null);
    },
    hasQueueMetaField: async (field) => field in (await readAll()),
  } satisfies Partial<IQueueBackend>;
}
