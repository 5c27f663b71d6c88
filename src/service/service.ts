import type { Queue } from 'bullmq';
import { createSlots, type JobContext, newActivity, QUEUES, type WorkContext } from '../../jobs/context.ts';
import { createDispatcher } from '../../jobs/dispatch.ts';
import {
  DISPATCH_JOB,
  EXPORT_JOB,
  enqueue,
  ensureQueue,
  headJob,
  type JobRequest,
  overdueSweeps,
  requestedSweepJob,
  schedulesOf,
} from '../../jobs/schedules.ts';
import { runPass } from '../../jobs/sync.ts';
import { webhookDispatcher } from '../../jobs/webhooks.ts';
import { type App, sendingContext } from '../app.ts';
import { AppError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import { unlessStopped, within } from '../base/timeout.ts';
import type { Resource } from '../contract/endpoints.ts';
import type { PassMode } from '../mirror/decide/types.ts';
import type { QueueBackend } from '../queue/backend.ts';
import type { Progress } from './health.ts';
import { observeGauges, progressReader } from './progress.ts';
import { keepLookingForDrift, keepTelling } from './rules.ts';
import { keepSending, type Sender } from './sender.ts';
import { closeWorkers, loop, startWorkers } from './workers.ts';

export interface Service {
  /** Resolves when the queue is open and everything runs; rejects when the queue cannot be opened. */
  readonly opened: Promise<void>;
  progress(): Promise<Progress>;
  /** For the page of the queues, as soon as there are any. */
  readonly queues: Promise<readonly Queue[]>;
  /** Has a list read soon, because a person asked for it; resolves as soon as the queue has it. */
  requestSync(resource: Resource, what: RequestedPass): Promise<void>;
  /** Has the whole mirror exported soon, as the schedule would. */
  requestExport(): Promise<void>;
  /** Enqueues rows of the outbox that this process has just accepted. Without it the watch of the outbox finds them, a little later. */
  dispatch(): void;
  /** Stops in order; a create under way has eight seconds. Resolves within 9.5 s of being called. */
  close(): Promise<void>;
}

/** `head` for the newest rows, `sweep` for all of them, `accept-deletes` for a sweep that the mass-delete guard does not stop. */
export type RequestedPass = PassMode | 'accept-deletes';

export interface ServiceOptions {
  /** Called once the first look at the upstream is under way; closed by the service. */
  openBackend(): Promise<QueueBackend>;
  metrics: Metrics;
  /** From when on nothing new begins, also before it is closed; aborted during the start, it ends that with a failure. */
  signal?: AbortSignal;
  periods?: Partial<Periods>;
}

/**
 * The service without its HTTP side: keeps the mirror fresh and the outbox empty until it is closed. It is there at once, its queue a
 * little later.
 */
export function startService(app: App, options: ServiceOptions): Service {
  const periods = { ...PERIODS, ...options.periods };
  const stop = new AbortController();
  // At once, and not when it is closed: from the first signal on nothing new begins.
  options.signal?.addEventListener('abort', () => stop.abort(stopped()), { once: true });
  const work = workContext(app, options.metrics, periods, stop.signal);
  const startedAt = app.clock.monotonic();
  const early = firstSweeps(work);
  const publishing = keepPublishing(work, periods.publish);
  const drifting = keepLookingForDrift(work);
  const telling = keepTelling(work, { lookMs: periods.rules, deliverMs: periods.tell });
  let runtime: Runtime | null = null;
  const opening = openUnlessStopped(options, stop.signal).then((backend) => {
    const dispatcher = createDispatcher({ app, backend, forgetMs: periods.forget });
    const slots = createSlots(app.settings.pushConcurrency);
    runtime = run({ ...work, backend, dispatcher, slots }, periods);
    return runtime;
  });
  const queue = (): Runtime | null => runtime;
  const progress = progressReader(work, { startedAt, tickEveryMs: periods.tick, queue });
  observeGauges(work, { queue, progress });

  const close = async (): Promise<void> => {
    stop.abort(stopped());
    await Promise.all([
      opening.then((opened) => opened.close()).catch(() => undefined),
      early,
      publishing,
      telling,
      drifting,
    ]);
  };
  let closing: Promise<void> | undefined;
  const opened = opening.then(() => undefined);
  const queues = opening.then(({ backend }) => QUEUES.map((name) => backend.queue(name)));
  // Callers may await these promises. They never reject unhandled.
  for (const promise of [opened, queues]) promise.catch(() => undefined);
  const ask = async (job: JobRequest): Promise<void> => {
    if (!runtime) throw noQueue();
    await within(REQUEST_MS, enqueue(runtime.backend, job), noQueue);
  };
  return {
    opened,
    queues,
    progress,
    requestSync: (resource, what) => ask(requested(resource, what)),
    requestExport: () => ask(EXPORT_JOB),
    dispatch: () => runtime?.dispatch(),
    close() {
      closing ??= within(CLOSE_MS, close(), () => undefined);
      return closing;
    },
  };
}

/** A server can take seconds to answer. A connection that opens after the service was stopped is closed again. */
async function openUnlessStopped(
  { openBackend }: ServiceOptions,
  signal: AbortSignal,
): Promise<QueueBackend> {
  signal.throwIfAborted();
  const opening = openBackend();
  const backend = await unlessStopped(signal, opening);
  if (backend) return backend;
  opening.then((late) => late.close()).catch(() => undefined);
  throw stopped();
}

/** Every period of the service that is not a setting, in milliseconds. */
export interface Periods {
  /** How often rows of the outbox are looked for through the queue, which also shows that the queue works. */
  tick: number;
  /** How often the outbox is looked at for a change, beside the queue. */
  watch: number;
  /** How often the queue is checked for what it should hold. */
  ensure: number;
  /** How long a row that was enqueued counts as enqueued. */
  forget: number;
  lock: number;
  probe: number;
  /** How often the copy in PostgreSQL is brought up to date. */
  publish: number;
  /** How often rules look for news. */
  rules: number;
  /** How often a channel is asked for messages that wait. */
  tell: number;
  firstPassRetry: number;
  lastPassRetry: number;
  busy: number;
}

const PERIODS: Periods = {
  tick: 5000,
  watch: 200,
  ensure: 5000,
  forget: 20_000,
  lock: 1000,
  probe: 30_000,
  publish: 1000,
  rules: 5000,
  tell: 1000,
  firstPassRetry: 30_000,
  lastPassRetry: 60_000,
  busy: 2000,
};

export interface Runtime {
  backend: QueueBackend;
  isSender(): boolean;
  dispatch(): void;
  close(): Promise<void>;
}

function run(context: JobContext, periods: Periods): Runtime {
  const { app, backend, dispatcher, signal } = context;
  const schedules = schedulesOf(app.settings, app.state.mirrorId, periods.tick);
  const workers = startWorkers(context);
  // The next tick of the schedule may be a whole period away, and a service is ready only after one. Left out where the queue is away:
  // the schedule ticks as soon as it is back.
  unlessStopped(signal, firstTick(backend)).catch(() => undefined);
  const sender = startSender(context, periods);
  const ensuring = loop({ ...app, signal, name: 'checking the queue', everyMs: periods.ensure }, () =>
    unlessStopped(signal, ensureQueue(context, schedules)),
  );
  const tell = app.webhooks && webhookDispatcher(context);
  const telling =
    tell &&
    loop({ ...app, signal, name: 'watching the change feed', everyMs: periods.watch }, () =>
      unlessStopped(signal, tell()),
    );
  return {
    backend,
    isSender: () => sender.state() !== 'waiting',
    // The watch of the outbox tries again what fails here, and logs it.
    dispatch: () => void unlessStopped(signal, dispatcher.look()).catch(() => undefined),
    async close() {
      await Promise.all([closeWorkers(workers), sender.stopped, ensuring, telling]);
      await within(CLOSE_QUEUE_MS, backend.close(), () => undefined);
    },
  };
}

/** Not deduplicated: a process that was killed may have left a tick behind that counts as running for a while. */
async function firstTick(backend: QueueBackend): Promise<void> {
  const { queue, name, data, options } = DISPATCH_JOB;
  await backend.queue(queue).add(name, data, options);
}

function startSender(context: JobContext, periods: Periods): Sender {
  const { pushConcurrency: concurrency } = context.app.settings;
  const { lock: lockMs, watch: watchMs, probe: probeMs } = periods;
  return keepSending(context, { concurrency, lockMs, watchMs, probeMs, yields: false });
}

/** A person who pressed a button is told when the queue is away, rather than kept waiting for it. */
const REQUEST_MS = 3000;

function requested(resource: Resource, what: RequestedPass): JobRequest {
  return what === 'head' ? headJob(resource) : requestedSweepJob(resource, what === 'sweep' ? 'now' : what);
}

function noQueue(): AppError {
  return new AppError('unreachable', 'the queue does not answer, so nothing was asked for', {
    hint: 'Try again when it is back.',
  });
}

const CLOSE_MS = 9500;
const CLOSE_QUEUE_MS = 2500;

function stopped(): AppError {
  return new AppError('interrupted', 'the service is stopping');
}

function workContext(app: App, metrics: Metrics, periods: Periods, signal: AbortSignal): WorkContext {
  const retry = {
    firstPassMs: periods.firstPassRetry,
    lastPassMs: periods.lastPassRetry,
    busyMs: periods.busy,
  };
  return { app, metrics, sending: sendingContext(app, signal), activity: newActivity(), signal, retry };
}

/** Beside the queue and without it: the copy is what is left where this machine is lost. */
async function keepPublishing({ app, signal }: WorkContext, everyMs: number): Promise<void> {
  const { publisher } = app;
  if (!publisher) return;
  await loop({ ...app, signal, name: 'publishing to PostgreSQL', everyMs }, () =>
    unlessStopped(signal, publisher.step()),
  );
}

/**
 * Reads a list that was never read without the queue: the first mirror does not wait for a queue server that is away.
 * Where there is a mirror the queue comes first, for reading a long list would keep a start from being ready. A pass that fails
 * here is enqueued soon after, like any that is missing.
 */
async function firstSweeps(context: WorkContext): Promise<void> {
  const unread = overdueSweeps(context).filter(({ finishedAt }) => finishedAt === null);
  const passes = unread.map(({ resource }) => runPass(context, resource, 'sweep'));
  await Promise.allSettled(passes);
}
