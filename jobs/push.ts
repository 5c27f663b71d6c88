import { setImmediate } from 'node:timers/promises';
import { type Job, RateLimitError } from 'bullmq';
import { unlessStopped } from '../src/base/timeout.ts';
import { traced } from '../src/base/tracing.ts';
import { currentPace } from '../src/outbox/send/pace.ts';
import { type PushResult, push as pushRow } from '../src/outbox/send/push.ts';
import { reconcile as reconcileAll } from '../src/outbox/send/reconcile.ts';
import type { JobContext, JobDefinition } from './context.ts';
import { RECONCILE } from './dispatch.ts';

/**
 * Enqueues rows that can go on, and is the sign of life that `/readyz` looks for: it shows that schedules, queue and workers run.
 */
export const dispatch: JobDefinition = {
  name: 'dispatch',
  async run({ app, activity, dispatcher, signal }) {
    await unlessStopped(signal, dispatcher.look());
    activity.lastTickAt = app.clock.monotonic();
  },
};

/** Sends one row. The outbox decides: a row that is not ready does not go out, whatever the queue holds. */
export const pushJob: JobDefinition = {
  name: 'push',
  async run(context, job) {
    const id = rowOf(job);
    return await alone(context, id, async () => {
      const result = await context.slots.take(async (end) => {
        // The request of the row that waited for this one leaves before this one is written down, and before the rest of this job is done.
        const letNextGo = async (): Promise<void> => {
          end();
          await setImmediate();
        };
        return await sendRow(context, id, { letNextGo, end });
      });
      await setImmediate();
      if (!result.sent) {
        if (result.reason === 'rate limit') await awaitRateLimit(context, 'push');
        return result.reason;
      }
      context.activity.lastAttemptAt = context.app.clock.monotonic();
      if (result.note !== null) context.app.log.warn({ event: 'push.mark.lost', outbox: id }, result.note);
      return await conclude(context, result);
    });
  },
};

/**
 * A request without an answer for as long as twenty posts take holds up no other row: most of these are never answered, and take half a
 * minute. Where one create in fifty hung at 3,000 posts a minute, 2 s for each and room for eight let 800 a minute through.
 */
function slowAfterMs(perMinute: number): number {
  return Math.min(2000, Math.max(500, (20 * 60_000) / perMinute));
}

/** How many requests may be without an answer beside those under way: one in thirty of the requests of half a minute. */
export function mostSlow(perMinute: number): number {
  return Math.min(64, Math.max(8, Math.ceil(perMinute / 60)));
}

interface Turn {
  letNextGo(): Promise<void>;
  end(): void;
}

async function sendRow(context: JobContext, id: number, { letNextGo, end }: Turn): Promise<PushResult> {
  await awaitRateLimit(context, 'push');
  await awaitPace(context);
  const slow = setTimeout(end, slowAfterMs(context.sending.perMinute));
  try {
    return await sendTraced(context, id, letNextGo);
  } finally {
    clearTimeout(slow);
  }
}

async function sendTraced(
  context: JobContext,
  id: number,
  letNextGo: Turn['letNextGo'],
): Promise<PushResult> {
  return await traced('push', { outbox: id }, async (tell) => {
    const result = await pushRow(context.sending, id, letNextGo);
    tell(
      result.sent ? { outcome: result.outcome, attempt: result.row.attempts } : { outcome: result.reason },
    );
    return result;
  });
}

type Sent = PushResult & { sent: true };

/** One line for each attempt, and whether the queue runs the job again. */
async function conclude(context: JobContext, { row, outcome }: Sent): Promise<string> {
  const { app, metrics } = context;
  metrics.push(outcome);
  const wait = row.not_before === null ? 0 : Math.max(0, Date.parse(row.not_before) - app.clock.now());
  const facts = { event: `push.${outcome}`, outbox: row.id, attempt: row.attempts, outcome };
  const later = { ...facts, waitMs: wait };
  switch (outcome) {
    case 'confirmed':
      app.log.info({ ...facts, post: row.post_id }, `outbox ${row.id}: sent, post ${row.post_id}`);
      return outcome;
    case 'rejected':
      app.log.warn(facts, `outbox ${row.id}: the upstream refused it; see "feedback-mirror outbox"`);
      return outcome;
    case 'unknown':
      app.log.warn(later, `outbox ${row.id}: unclear whether it arrived; it will be looked for`);
      return outcome;
    case 'unauthorised':
      if (app.outbox.paused() === null)
        app.log.error(
          later,
          `outbox ${row.id}: the upstream takes no post to ${row.board} with this token (403)`,
        );
      else app.log.error(facts, 'the upstream refused the token: sending is paused until it takes one again');
      return outcome;
    case 'throttled':
      app.log.warn(later, 'the upstream asked us to slow down');
      return await pauseQueue(context, 'push', wait);
    case 'not-sent':
      app.log.warn(later, `outbox ${row.id}: the upstream could not be reached; nothing was sent`);
      throw new RunAgain('not sent', wait);
  }
}

/** Finds out what became of every unclear row that has settled, by reading only. Rows that have to wait longer are due again later. */
export const reconcileJob: JobDefinition = {
  name: 'reconcile',
  async run(context) {
    await awaitRateLimit(context, 'reconcile');
    return await alone(context, RECONCILE, async () => {
      context.sending.signal.throwIfAborted();
      const { app, activity } = context;
      const onPage = (): void => {
        activity.lastAttemptAt = app.clock.monotonic();
      };
      onPage();
      return countResults(context, await reconcileAll({ ...context.sending, onPage }));
    });
  },
};

function countResults({ app, metrics }: JobContext, results: ReadonlyMap<number, string>) {
  const counts: Record<string, number> = {};
  for (const [id, result] of results) {
    metrics.reconcile(result);
    counts[result] = (counts[result] ?? 0) + 1;
    if (result === 'uncertain')
      app.log.warn(
        { event: 'reconcile.uncertain', outbox: id },
        `outbox ${id}: only a person can tell what became of it; see "feedback-mirror outbox show ${id}"`,
      );
  }
  const parts = Object.entries(counts).map(([result, count]) => `${count} ${result}`);
  if (parts.length > 0)
    app.log.info(
      { event: 'reconcile.completed', ...counts },
      `reconciled unclear posts: ${parts.join(', ')}`,
    );
  return counts;
}

export function rowOf(job: Job): number {
  const id: unknown = Reflect.get(Object(job.data), 'outbox');
  if (typeof id !== 'number') throw new Error(`job ${job.id} names no row of the outbox`);
  return id;
}

/** Runs the work unless a handler of this process has the row already. */
async function alone<T>({ activity }: JobContext, id: number, work: () => Promise<T>): Promise<T | string> {
  if (activity.rows.has(id)) return 'another handler has it';
  activity.rows.add(id);
  try {
    return await work();
  } finally {
    activity.rows.delete(id);
  }
}

/** While the upstream wants no calls, the whole queue waits, and no row is claimed in vain. */
async function awaitRateLimit(context: JobContext, name: 'push' | 'reconcile'): Promise<void> {
  const { gate, clock } = context.app;
  const now = clock.now();
  const until = gate.closedUntil(now, name === 'push' ? 'creates' : 'reads');
  if (until !== null) await pauseQueue(context, name, until - now);
}

/**
 * Until the next post may leave. The job whose turn it is waits, and neither the queue nor the job after it: they would change places. At a
 * stop it goes back to the queue.
 */
async function awaitPace(context: JobContext): Promise<void> {
  const { clock } = context.app;
  for (let at = nextSendAt(context); at !== null; at = nextSendAt(context))
    await clock.sleep(at - clock.now(), context.signal).catch(() => {
      throw new RateLimitError();
    });
}

function nextSendAt({ app, sending }: JobContext): number | null {
  return sending.store.nextSendAt(currentPace(sending), app.clock.now());
}

/** The longest single pause: after it the rate limit is read again, whatever the clock did meanwhile. */
const LONGEST_PAUSE_MS = 60_000;

/** Always throws what tells BullMQ that this was no attempt. */
async function pauseQueue(
  { backend, signal }: JobContext,
  name: 'push' | 'reconcile',
  ms: number,
): Promise<never> {
  const pauseMs = Math.max(1, Math.min(LONGEST_PAUSE_MS, Math.ceil(ms)));
  await unlessStopped(signal, backend.queue(name).rateLimit(pauseMs));
  throw new RateLimitError();
}

/** Nothing was sent: BullMQ runs the job again after that time. */
export class RunAgain extends Error {
  override readonly name = 'RunAgain';
  readonly afterMs: number;

  constructor(message: string, afterMs: number) {
    super(message);
    this.afterMs = Math.round(afterMs);
  }
}

export function backoffOf(error: Error | undefined): number {
  return error instanceof RunAgain ? error.afterMs : 1000;
}
