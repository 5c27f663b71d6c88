import { ErrorCode, type IQueueBackend, type JobsOptions, type RepeatableOptions } from 'bullmq';
import { publish } from './events.ts';
import { insertJob } from './insert.ts';
import { hasJob, jobError, type QueueScope } from './job.ts';

/** Of a job that a schedule made: BullMQ adds to its options what its types do not tell. */
type IterationOptions = JobsOptions & { repeat?: { every?: number; offset?: number | null } };

interface SchedulerRow {
  scheduler_id: string;
  name: string | null;
  next_run: number | null;
  pattern: string | null;
  every: number | null;
  tz: string | null;
  start_date: number | null;
  end_date: number | null;
  limit_count: number | null;
  iteration_count: number;
  offset: number | null;
  template_data: string | null;
  template_opts: string | null;
}

export function scheduling(scope: QueueScope) {
  const { file, queue } = scope;
  const find = (id: string): Promise<SchedulerRow | undefined> => file.read(() => findScheduler(scope, id));
  return {
    addJobScheduler: (id, nextMillis, data, templateOpts, opts, jobOpts) =>
      file.write(() => upsert(scope, { id, nextMillis, data: data || '{}', templateOpts, opts, jobOpts })),
    updateJobSchedulerNextMillis: (id, nextMillis, data, jobOpts, producerId) =>
      file.write(() => addNext(scope, { id, nextMillis, data: data || '{}', jobOpts, producerId })),
    removeJobScheduler: (id) => file.write(() => removeScheduler(scope, id)),
    async getJobScheduler(id) {
      const row = await find(id);
      return row
        ? [Object.entries(hashOf(row)).flat(), row.next_run === null ? null : String(row.next_run)]
        : [null, null];
    },
    isJobScheduler: async (id) => (await find(id)) !== undefined,
    async getJobSchedulerData(id) {
      const row = await find(id);
      return row ? hashOf(row) : {};
    },
    getJobSchedulersRange: (start, end, asc) =>
      file.read(() =>
        file
          .all<SchedulerRow>(
            `SELECT * FROM scheduler WHERE queue = ?
             ORDER BY next_run ${asc ? 'ASC' : 'DESC'}, scheduler_id LIMIT ? OFFSET ?`,
            queue,
            end < 0 ? -1 : end - start + 1,
            start,
          )
          .flatMap((row) => [row.scheduler_id, String(row.next_run)]),
      ),
    getJobSchedulersCount: () =>
      file.read(() => file.count('SELECT count(*) AS n FROM scheduler WHERE queue = ?', queue)),
  } satisfies Partial<IQueueBackend>;
}

/** As the hash in Redis: texts, without what is not set. */
function hashOf(row: SchedulerRow): Record<string, string> {
  const fields = {
    name: row.name,
    ic: row.iteration_count,
    limit: row.limit_count,
    startDate: row.start_date,
    endDate: row.end_date,
    tz: row.tz,
    pattern: row.pattern,
    every: row.every,
    offset: row.offset,
    data: row.template_data === '{}' ? null : row.template_data,
    opts: row.template_opts === '{}' ? null : row.template_opts,
  };
  const present = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(present.map(([name, value]) => [name, String(value)]));
}

function findScheduler({ file, queue }: QueueScope, id: string): SchedulerRow | undefined {
  return file.get<SchedulerRow>('SELECT * FROM scheduler WHERE queue = ? AND scheduler_id = ?', queue, id);
}

interface Upsert {
  id: string;
  nextMillis: number;
  data: string;
  templateOpts: JobsOptions;
  opts: RepeatableOptions;
  jobOpts: IterationOptions;
}

/** Sets the schedule and adds its next job in the place of the one that was waiting; the id and delay of that job. */
function upsert(
  scope: QueueScope,
  { id, nextMillis, data, templateOpts, opts, jobOpts }: Upsert,
): [string, number] {
  const { file, queue } = scope;
  const now = Date.now();
  const known = findScheduler(scope, id);
  const givenOffset = opts.offset ?? jobOpts.repeat?.offset ?? undefined;
  const isSameEvery = known?.every === opts.every;
  const slot = opts.every
    ? nextSlot(isSameEvery ? known?.next_run : null, opts.every, now, givenOffset ?? 0, opts.startDate)
    : { next: nextMillis, offset: givenOffset ?? 0 };
  const hadJob =
    known?.next_run != null && removeIteration(scope, id, known.next_run, ['delayed', 'waiting']);
  const isKept = hadJob && opts.every && isSameEvery;
  const next = freeSlot(scope, id, isKept ? Number(known?.next_run) : slot.next, opts.every, hadJob);
  const isKeptOffset = opts.every && givenOffset === undefined;
  const offset = isKeptOffset ? (known?.offset ?? slot.offset) : slot.offset;
  file.run(
    `INSERT INTO scheduler (queue, scheduler_id, name, next_run, pattern, every, tz, start_date, end_date, limit_count,
                            iteration_count, offset, template_data, template_opts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)
     ON CONFLICT DO UPDATE SET name = excluded.name, next_run = excluded.next_run, pattern = excluded.pattern,
       every = excluded.every, tz = excluded.tz, start_date = excluded.start_date, end_date = excluded.end_date,
       limit_count = excluded.limit_count, offset = excluded.offset, template_data = excluded.template_data,
       template_opts = excluded.template_opts`,
    queue,
    id,
    opts.name ?? null,
    next,
    opts.pattern ?? null,
    opts.every ?? null,
    opts.tz ?? null,
    opts.startDate ?? null,
    opts.endDate ?? null,
    opts.limit ?? null,
    offset,
    data,
    JSON.stringify(templateOpts ?? {}),
  );
  return addIteration(scope, id, { name: opts.name ?? '', data, next, now, jobOpts });
}

function jobIdOf(schedulerId: string, millis: number): string {
  return `repeat:${schedulerId}:${millis}`;
}

function removeIteration({ file, queue }: QueueScope, id: string, millis: number, states: string[]): boolean {
  const removed = file.run(
    `DELETE FROM job WHERE queue = ? AND id = ? AND state IN (?, ?)`,
    queue,
    jobIdOf(id, millis),
    states[0],
    states.at(-1),
  );
  return removed > 0;
}

/**
 * The job of this moment may be running or kept after its end. Of a fixed interval the slot after it is taken; a pattern has no other,
 * so the job that stood in for the one just removed makes room.
 */
function freeSlot(
  { file, queue }: QueueScope,
  id: string,
  millis: number,
  every: number | undefined,
  mayReplace: boolean,
): number {
  const isFree = (at: number): boolean => !hasJob(file, queue, jobIdOf(id, at));
  if (isFree(millis)) return millis;
  const command = 'addJobScheduler';
  if (every && isFree(millis + every)) return millis + every;
  if (every) throw jobError(ErrorCode.SchedulerJobSlotsBusy, { command });
  if (!mayReplace) throw jobError(ErrorCode.SchedulerJobIdCollision, { command });
  file.run('DELETE FROM job WHERE queue = ? AND id = ?', queue, jobIdOf(id, millis));
  return millis;
}

interface Iteration {
  name: string;
  data: string;
  next: number;
  now: number;
  jobOpts: IterationOptions;
}

function addIteration({ file, queue }: QueueScope, id: string, iteration: Iteration): [string, number] {
  const { name, data, next, now, jobOpts } = iteration;
  const jobId = jobIdOf(id, next);
  const delay = Math.max(next - now, 0);
  insertJob(file, {
    queue,
    id: jobId,
    name,
    data,
    opts: { ...jobOpts, delay, jobId },
    delay,
    // Due at the slot itself, however long ago the options were made.
    timestamp: delay > 0 ? next - delay : (jobOpts.timestamp ?? now),
    parent: null,
    dedupId: null,
    schedulerId: id,
    waitsForChildren: false,
  });
  return [jobId, delay];
}

/** The slot after the previous one; counted from now where that is over, or lies further ahead than a clock can have run. */
function nextSlot(
  previous: number | null | undefined,
  every: number,
  now: number,
  offset: number,
  startDate: Date | string | number | null | undefined,
): { next: number; offset: number } {
  const slotAfter = (millis: number): number => Math.floor(millis / every) * every + every + offset;
  let next = now;
  if (previous != null) {
    next = previous + every;
    if (next < now || previous > now + every) next = slotAfter(now);
  } else if (startDate != null) next = Math.max(Number(startDate), now);
  else if (offset > 0) next = slotAfter(now - every) > now ? slotAfter(now - every) : slotAfter(now);
  return { next, offset: offset || next % every };
}

interface Next {
  id: string;
  nextMillis: number;
  data: string;
  jobOpts: IterationOptions;
  producerId: string | undefined;
}

/** The job after the one that has just started; null where that one is not the schedule's latest. */
function addNext(scope: QueueScope, { id, nextMillis, data, jobOpts, producerId }: Next): string | null {
  const { file, queue } = scope;
  const known = findScheduler(scope, id);
  if (!known || producerId !== jobIdOf(id, known.next_run ?? 0)) return null;
  const now = Date.now();
  const every = known.every ?? jobOpts.repeat?.every;
  const offset = known.offset ?? jobOpts.repeat?.offset ?? 0;
  const slot = every
    ? nextSlot(known.next_run, every, now, offset, known.start_date)
    : { next: nextMillis, offset };
  const jobId = jobIdOf(id, slot.next);
  if (hasJob(file, queue, jobId)) {
    publish(file, queue, 'duplicated', { jobId });
    return null;
  }
  file.run(
    `UPDATE scheduler SET next_run = @next, iteration_count = iteration_count + 1, offset = coalesce(offset, @offset),
                          template_data = CASE WHEN @data = '{}' THEN template_data ELSE @data END
     WHERE queue = @queue AND scheduler_id = @id`,
    { ...slot, data, queue, id },
  );
  const template = known.template_data === null || known.template_data === '{}' ? data : known.template_data;
  return addIteration(scope, id, {
    name: known.name ?? '',
    data: template,
    next: slot.next,
    now,
    jobOpts,
  })[0];
}

/** 0 where it was there, 1 where not. The job that already waits for a worker stays. */
function removeScheduler(scope: QueueScope, id: string): number {
  const { file, queue } = scope;
  const known = findScheduler(scope, id);
  if (!known) return 1;
  if (known.next_run !== null && removeIteration(scope, id, known.next_run, ['delayed']))
    publish(file, queue, 'removed', { jobId: jobIdOf(id, known.next_run), prev: 'delayed' });
  file.run('DELETE FROM scheduler WHERE queue = ? AND scheduler_id = ?', queue, id);
  return 0;
}
