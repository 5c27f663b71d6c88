import type { Job } from 'bullmq';
import { backoffOf, type JobContext, type JobDefinition } from '../../jobs/context.ts';
import { push } from '../../jobs/push.ts';
import { reconcile } from '../../jobs/reconcile.ts';
import { rowOf } from '../../jobs/sending.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { unlessStopped } from '../base/timeout.ts';
import { endPause, recoverOrphans } from '../outbox/drive.ts';
import { highestListed } from '../outbox/push.ts';
import type { WorkerSettings } from '../queue/backend.ts';
import { loop, pause } from './loop.ts';
import { type Crew, closeWorkers, startWorker } from './workers.ts';

export interface Sender {
  isSender(): boolean;
  /** Resolves when nothing of this process sends any more; the lock is free then. */
  stopped: Promise<void>;
}

export interface SenderOptions {
  concurrency: number;
  perMinute: number;
  /** How often the sender's lock is asked for while another process has it. */
  lockMs: number;
  /** How soon a row that somebody put into the outbox is noticed. */
  watchMs: number;
  /** How often a refused token is tried again. */
  probeMs: number;
}

/**
 * One process of a mirror sends: whoever has the kernel's lock. The others ask for it again and again, so when it dies, the next one
 * takes over at once. Once taken it is kept until the end; a command that sends its own rows leaves it to us after the row at hand.
 */
export function keepSending(context: JobContext, options: SenderOptions): Sender {
  const { app, signal } = context;
  let isSender = false;
  const run = async (): Promise<void> => {
    const lock = await app.outbox.lockSenderFirst();
    if (!lock.ok) return;
    isSender = true;
    try {
      await takeOver(context);
      await send(context, options);
    } finally {
      isSender = false;
      lock.release();
    }
  };
  const stopped = loop({ ...app, signal, name: 'sending', everyMs: options.lockMs }, run);
  return { isSender: () => isSender, stopped };
}

async function takeOver(context: JobContext): Promise<void> {
  const orphans = await recoverOrphans(context.sending);
  context.app.log.info({ orphans }, 'this process sends from now on');
  await probe(context);
  await highestListed(context.sending);
}

/** A token that was refused may be good again, or may be another one by now: a read shows it. */
async function probe({ app, sending, dispatcher }: JobContext): Promise<void> {
  if ((await app.outbox.paused()) === null) return;
  try {
    await endPause(sending);
    app.log.info('the upstream takes the token again: sending goes on');
    await dispatcher.look();
  } catch (error) {
    app.log.debug({ code: codeOf(error) }, `sending stays paused: ${messageOf(error)}`);
  }
}

async function send(context: JobContext, options: SenderOptions): Promise<void> {
  const { app, signal } = context;
  const { concurrency, perMinute } = options;
  const workers = [
    start(context, push, { concurrency, limiter: limiterFor(perMinute) }),
    start(context, reconcile, { concurrency: 1 }),
  ];
  const each = (name: string, everyMs: number, step: () => Promise<unknown>): Promise<void> =>
    loop({ ...app, signal, name, everyMs }, () => unlessStopped(signal, step()));
  try {
    await Promise.all([
      each('watching the outbox', options.watchMs, watcher(context)),
      afterFirst(options.probeMs, context, () =>
        each('trying the token', options.probeMs, () => probe(context)),
      ),
    ]);
  } finally {
    await closeWorkers(workers);
  }
}

async function afterFirst(ms: number, { app, signal }: JobContext, then: () => Promise<void>): Promise<void> {
  await pause(app.clock, ms, signal);
  await then();
}

/** A process that was killed leaves its jobs behind as running: found soon, they are rung again before anybody has to wait long. */
const STALL = { lockDuration: 15_000, stalledInterval: 5000, maxStalledCount: 3 };

function start(context: JobContext, definition: JobDefinition, settings: WorkerSettings): Crew {
  const crew = startWorker(context, definition.queue, [definition], {
    ...STALL,
    ...settings,
    backoffStrategy: (_attempts, _type, error) => backoffOf(error),
  });
  // Only now is the job out of the queue, and the row can be rung again.
  const ended = (job: Job | undefined): void => {
    if (!job) return;
    context.dispatcher.ended(rowOf(job));
    // What was looked for may have to be sent again, and nobody else would notice: the change was our own.
    const isNews = definition === reconcile || context.dispatcher.isLow();
    if (isNews && !context.signal.aborted)
      context.dispatcher.look().catch((error) => context.app.log.error(`ringing rows: ${messageOf(error)}`));
  };
  crew.worker.on('completed', ended);
  crew.worker.on('failed', ended);
  return crew;
}

/** A cheap look at whether anybody wrote to the file, or the time of a row has come; only then is the outbox read. */
function watcher({ app, dispatcher }: JobContext): () => Promise<void> {
  let seen: number | null = null;
  return async () => {
    const version = await app.outbox.dataVersion();
    const at = dispatcher.nextAt();
    if (version === seen && (at === null || at > app.clock.now())) return;
    await dispatcher.look();
    seen = version;
  };
}

/** Windows shorter than this cost more than they even out. */
const SHORTEST_WINDOW_MS = 100;

/** An even pace: a minute's worth of posts is not sent in the first second of it. */
export function limiterFor(perMinute: number): { max: number; duration: number } {
  const max = Math.max(1, Math.ceil((perMinute * SHORTEST_WINDOW_MS) / 60_000));
  return { max, duration: Math.max(1, Math.round((max * 60_000) / perMinute)) };
}
