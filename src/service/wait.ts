import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSlots, type JobContext, newActivity } from '../../jobs/context.ts';
import { createDispatcher } from '../../jobs/dispatch.ts';
import { type App, sendingContext } from '../app.ts';
import { AppError, codeOf } from '../base/errors.ts';
import { createMetrics } from '../base/metrics.ts';
import type { StateCounts } from '../outbox/decide/types.ts';
import { sumCounts } from '../outbox/import/intake.ts';
import { REFUSED_HINT, refusedText, TOKEN_HINT } from '../outbox/store/refused.ts';
import { openQueueBackend, type QueueBackend } from '../queue/backend.ts';
import { durationText } from '../text/text.ts';
import { keepSending } from './sender.ts';
import { loop } from './workers.ts';

export interface WaitOptions {
  /** Whose rows are sent and waited for, one batch after the other. */
  batches: readonly string[];
  /** Called now and then with how the rows of all batches stand. */
  onProgress?: (counts: StateCounts) => void;
  signal: AbortSignal;
}

const PROGRESS_MS = 500;
const POLL_MS = 50;

/**
 * Sends the rows of these batches with the sender of the service, or watches another process do so, until nothing more happens to them
 * by itself. The queue is one of its own, in a temporary file: whatever the service's queue holds of other batches stays there, and
 * a queue server that is away keeps no command from sending.
 */
export async function sendAndWait(app: App, options: WaitOptions): Promise<StateCounts> {
  const { clock, log, outbox } = app;
  const folder = mkdtempSync(join(tmpdir(), 'feedback-mirror-'));
  const ended = new AbortController();
  const counts = (): StateCounts => sumCounts(outbox, options.batches);
  const telling = loop(
    { clock, log, signal: ended.signal, name: 'telling the progress', everyMs: PROGRESS_MS },
    async () => options.onProgress?.(counts()),
  );
  try {
    const backend = await openQueueBackend({ url: null, dataDir: folder, mirrorId: app.state.mirrorId, log });
    try {
      // What is unclear in one batch does not hold up the rows of the next: it is waited for when all were sent.
      for (const isUnclearWaitedFor of [false, true])
        for (const batch of options.batches)
          await sendBatch(app, backend, batch, options, isUnclearWaitedFor);
    } catch (error) {
      // What was on its way when we were told to stop was brought to its end: where that was all, there is nothing to go on with.
      const isOver = options.batches.every((batch) => outbox.isOver(batch));
      if (codeOf(error) !== 'interrupted' || !isOver) throw error;
    } finally {
      await backend.close();
    }
  } finally {
    ended.abort();
    await telling;
    rmSync(folder, { recursive: true, force: true });
  }
  return counts();
}

async function sendBatch(
  app: App,
  backend: QueueBackend,
  batch: string,
  { signal: stopped }: WaitOptions,
  isUnclearWaitedFor: boolean,
): Promise<void> {
  const { clock, outbox } = app;
  const isSent = ({ ready, sending }: StateCounts): boolean => ready + sending === 0;
  const isOver = (): boolean => outbox.isOver(batch) || (!isUnclearWaitedFor && isSent(outbox.counts(batch)));
  const stop = new AbortController();
  const signal = AbortSignal.any([stopped, stop.signal]);
  const outage = outageWatch(app);
  const onWindow = isUnclearWaitedFor ? outage.onWindow : () => undefined;
  const sender = keepSending(contextFor(app, backend, { batch, signal }, onWindow), {
    concurrency: app.settings.pushConcurrency,
    lockMs: 250,
    watchMs: 100,
    probeMs: 30_000,
    yields: true,
  });
  try {
    while (!isOver()) {
      signal.throwIfAborted();
      outage.check();
      const paused = sender.state() === 'sending' ? outbox.paused() : null;
      if (paused !== null) throw pausedSending(paused);
      const refused = sender.state() === 'sending' ? outbox.refusedBoardOf(batch, clock.now()) : null;
      if (refused) throw new AppError('unauthorised', refusedText(refused), { hint: REFUSED_HINT });
      if (outbox.batch(batch)?.paused_at) throw pausedBatch(batch);
      await clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  } finally {
    stop.abort();
    await sender.stopped;
  }
}

function contextFor(
  app: App,
  backend: QueueBackend,
  { batch, signal }: { batch: string; signal: AbortSignal },
  onWindow: (why: string | null) => void,
): JobContext {
  return {
    app,
    backend,
    signal,
    metrics: createMetrics(),
    sending: { ...sendingContext(app, signal), onWindow },
    activity: newActivity(),
    retry: { firstPassMs: 0, lastPassMs: 0, busyMs: 0 },
    dispatcher: createDispatcher({ app, backend, batch, forgetMs: 20_000 }),
    slots: createSlots(app.settings.pushConcurrency),
  };
}

/** A first failure is no outage, however short PUSH_SETTLE is. */
const LEAST_OUTAGE_MS = 5000;

/**
 * Gives up where no request is answered for twice PUSH_SETTLE, or where no list is whole for so long. An unclear row settles meanwhile, and
 * the read that looks for it then tells whether the upstream answers.
 */
function outageWatch({ clock, gate, settings }: Pick<App, 'clock' | 'gate' | 'settings'>) {
  const limitMs = Math.max(LEAST_OUTAGE_MS, 2 * settings.pushSettle);
  let partial: { since: number; why: string } | null = null;
  return {
    /** The service answers, but unclear rows cannot be settled by a list that is not whole. `why` says what it lacks; null where it is whole. */
    onWindow(why: string | null): void {
      partial = why === null ? null : { since: partial?.since ?? clock.monotonic(), why };
    },
    check(): void {
      const silent = gate.unanswered();
      const found = silent ?? partial;
      if (!found || clock.monotonic() - found.since < limitMs) return;
      const how = silent ? 'gave no usable answer' : 'showed no whole list';
      throw new AppError('unreachable', `the upstream ${how} for ${durationText(limitMs)}: ${found.why}`);
    },
  };
}

function pausedBatch(batch: string): AppError {
  return new AppError('partial', 'the import is paused', {
    hint: `To continue, run "feedback-mirror outbox resume --batch ${batch}".`,
  });
}

function pausedSending(reason: string): AppError {
  if (!reason.includes('token')) return new AppError('protocol', `sending is paused: ${reason}`);
  return new AppError(
    'unauthorised',
    'the upstream refused the token, so sending is paused; nothing is lost',
    {
      hint: TOKEN_HINT,
    },
  );
}
