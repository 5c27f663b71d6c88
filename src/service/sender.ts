import type { Job } from 'bullmq';
import type { JobContext } from '../../jobs/context.ts';
import { backoffOf, mostSlow, rowOf } from '../../jobs/push.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { unlessStopped } from '../base/timeout.ts';
import type { Busy, Lock } from '../db/lock.ts';
import { finishCancelling } from '../outbox/person.ts';
import { recoverOrphans } from '../outbox/send/ended.ts';
import { highestListed } from '../outbox/send/highest-listed.ts';
import { endPause, retryRefused } from '../outbox/send/pause.ts';
import type { WorkerSettings } from '../queue/backend.ts';
import { closeWorkers, loop, pause, type RunningWorker, startWorker } from './workers.ts';

export interface Sender {
  /** `waiting` while another process has the lock; `recovering` what that one left behind, before anything is sent. */
  state(): 'waiting' | 'recovering' | 'sending';
  /** Resolves when nothing of this process sends any more; the lock is free then. */
  stopped: Promise<void>;
}

export interface SenderOptions {
  concurrency: number;
  /** How often the sender's lock is asked for while another process has it. */
  lockMs: number;
  /** How soon a row that another process put into the outbox is noticed. */
  watchMs: number;
  /** How often the sender tries a refused token again, and looks for rows that no process sends any more. */
  probeMs: number;
  /** Whether the lock is left to a service that waits for it: the sender of a command does, as the service sends for everybody. */
  yields: boolean;
}

/**
 * One process of a mirror sends: the holder of the kernel's lock. The others ask for it again and again, so when that one dies, the
 * next takes over at once. A service keeps it until its end; a command leaves it to a service after the rows at hand.
 */
export function keepSending(context: JobContext, options: SenderOptions): Sender {
  const { app, signal } = context;
  let state: ReturnType<Sender['state']> = 'waiting';
  const run = async (): Promise<void> => {
    const lock = takeLock(context, options);
    if (!lock?.ok) return;
    state = 'recovering';
    try {
      await recover(context);
      state = 'sending';
      await send(context, options);
    } finally {
      state = 'waiting';
      lock.release();
    }
  };
  const stopped = loop({ ...app, signal, name: 'sending', everyMs: options.lockMs }, run);
  return { state: () => state, stopped };
}

function takeLock({ app: { outbox } }: JobContext, { yields }: SenderOptions): Lock | Busy | null {
  if (!yields) return outbox.lockSenderFirst();
  return outbox.isSenderWanted() ? null : outbox.lockSender();
}

async function recover(context: JobContext): Promise<void> {
  const orphans = recoverOrphans(context.sending);
  context.app.log.info({ event: 'push.sender', orphans }, 'this process sends from now on');
  await finishCancelling(context.sending);
  await probe(context, true);
  retryRefused(context.sending);
  await highestListed(context.sending);
}

/** Rows on their way whose handler is gone, because what came of them could not be written down. */
async function recoverLeft({ app, activity, sending, dispatcher }: JobContext): Promise<void> {
  const left = recoverOrphans(sending, (id) => activity.rows.has(id));
  if (left === 0) return;
  app.log.warn({ event: 'push.left', left }, `${left} rows were left on their way: they will be looked for`);
  await dispatcher.look();
}

/** A token that was refused may be good again, or may be another one by now: a read shows it. */
async function probe({ app, sending, dispatcher }: JobContext, isStart = false): Promise<void> {
  const reason = app.outbox.paused();
  if (reason === null) return;
  try {
    await endPause(sending, isStart);
    if (app.outbox.paused() !== null) return;
    app.log.info({ event: 'push.resumed' }, `sending continues; it was paused because ${reason}`);
    await dispatcher.look();
  } catch (error) {
    app.log.debug({ event: 'push.paused', code: codeOf(error) }, `sending stays paused: ${messageOf(error)}`);
  }
}

/** Until the service stops, or a service that waits for the lock is to have it. What runs then is brought to its end. */
async function send(context: JobContext, options: SenderOptions): Promise<void> {
  const { app } = context;
  const { concurrency, watchMs, probeMs } = options;
  const yielded = new AbortController();
  const signal = AbortSignal.any([context.signal, yielded.signal]);
  // A job that waits for the pace is not waited for, where the lock is to go to a service.
  const running = { ...context, signal };
  const workers = [
    // One more than are sent at a time, see `CreateSlots`, and those whose answer does not come.
    start(running, 'push', {
      concurrency: concurrency + 1 + mostSlow(context.sending.perMinute),
      limiter: LIMITER,
    }),
    start(running, 'reconcile', { concurrency: 1 }),
  ];
  const watch = watcher(context);
  const each = (name: string, everyMs: number, step: () => Promise<unknown>): Promise<void> =>
    loop({ ...app, signal, name, everyMs }, () => unlessStopped(signal, step()));
  const lookingAfter = async (): Promise<void> => {
    await pause(app.clock, probeMs, signal);
    await each('looking after the outbox', probeMs, async () => {
      await recoverLeft(context);
      await probe(context);
    });
  };
  const watching = each('watching the outbox', watchMs, async () => {
    if (options.yields && app.outbox.isSenderWanted()) yielded.abort();
    else await watch();
  });
  try {
    await Promise.all([watching, lookingAfter()]);
  } finally {
    await closeWorkers(workers);
  }
}

/** The outbox keeps the pace. BullMQ heeds a pause of the queue only where a worker has a limit of its own. */
const LIMITER = { max: 1_000_000, duration: 1000 };

/** A process that was killed leaves its jobs behind as running: found soon, they are handed out again before anybody waits long. */
const STALL = { lockDuration: 15_000, stalledInterval: 5000, maxStalledCount: 3 };

function start(context: JobContext, queue: 'push' | 'reconcile', settings: WorkerSettings): RunningWorker {
  const { app, dispatcher, signal } = context;
  const started = startWorker(context, queue, {
    ...STALL,
    ...settings,
    backoffStrategy: (_attempts, _type, error) => backoffOf(error),
  });
  // Only now is the job out of the queue, and the row can be enqueued again.
  const ended = (job: Job | undefined): void => {
    if (!job) return;
    dispatcher.ended(rowOf(job));
    // A row that is not done is due again at some time, and the watcher sees the changes of other connections only.
    const isNews = queue === 'reconcile' || job.returnvalue !== 'confirmed' || dispatcher.isLow();
    if (isNews && !signal.aborted)
      dispatcher.look().catch((error) => {
        app.log.error({ event: 'push.dispatch.failed' }, `enqueueing rows: ${messageOf(error)}`);
      });
  };
  started.worker.on('completed', ended);
  started.worker.on('failed', ended);
  return started;
}

/** A cheap question whether another connection wrote to the file, or the time of a row has come; only then is the outbox read. */
function watcher({ app, dispatcher }: JobContext): () => Promise<void> {
  let seen: number | null = null;
  return async () => {
    const version = app.outbox.dataVersion();
    const at = dispatcher.nextAt();
    if (version === seen && (at === null || at > app.clock.now())) return;
    await dispatcher.look();
    seen = version;
  };
}
