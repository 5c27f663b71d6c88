import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTurns, type JobContext, newActivity } from '../../jobs/context.ts';
import { createDispatcher } from '../../jobs/dispatch.ts';
import type { Client, CreateOutcome } from '../api/client.ts';
import { type App, sendingContext } from '../app.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { createMetrics } from '../base/metrics.ts';
import { sumCounts } from '../outbox/import/intake.ts';
import { openQueueBackend, type QueueBackend } from '../queue/backend.ts';
import type { StateCounts } from '../store/outbox/types.ts';
import { keepSending } from './sender.ts';
import { loop } from './workers.ts';

export interface WaitOptions {
  /** Whose rows are sent and waited for, one batch after the other. */
  batches: readonly string[];
  /** How long the upstream may be out of reach before this is given up. */
  patienceMs: number;
  /** Called now and then with how the rows of all batches stand. */
  onProgress?: ((counts: StateCounts) => void | Promise<void>) | undefined;
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
      for (const batch of options.batches) await sendBatch(app, backend, batch, options);
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
  { patienceMs, signal: stopped }: WaitOptions,
): Promise<void> {
  const { clock, outbox } = app;
  const stop = new AbortController();
  const signal = AbortSignal.any([stopped, stop.signal]);
  const giveUp = (reason: string): void => stop.abort(outOfReach(patienceMs, reason));
  const sender = keepSending(contextFor(app, backend, { batch, patienceMs, signal, giveUp }), {
    concurrency: app.settings.pushConcurrency,
    perMinute: app.settings.pushPerMinute,
    lockMs: 250,
    watchMs: 100,
    probeMs: 30_000,
    yields: true,
  });
  try {
    while (!outbox.isOver(batch)) {
      signal.throwIfAborted();
      if (sender.state() === 'sending' && outbox.paused() !== null) throw refusedToken();
      if (outbox.batch(batch)?.paused_at) throw pausedBatch(batch);
      await clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  } finally {
    stop.abort();
    await sender.stopped;
  }
}

interface BatchOptions {
  batch: string;
  patienceMs: number;
  signal: AbortSignal;
  giveUp(reason: string): void;
}

function contextFor(app: App, backend: QueueBackend, options: BatchOptions): JobContext {
  const { batch, signal } = options;
  return {
    app,
    backend,
    signal,
    metrics: createMetrics(),
    sending: { ...sendingContext(app, signal), client: timed(app.client, app.clock, options) },
    activity: newActivity(),
    retry: { firstPassMs: 0, lastPassMs: 0, busyMs: 0 },
    dispatcher: createDispatcher({ app, backend, batch, forgetMs: 20_000 }),
    turns: createTurns(app.settings.pushConcurrency),
  };
}

/** A client whose creates are watched: after nothing but failures to connect for so long, the command gives up. */
function timed(client: Client, clock: Clock, { patienceMs, giveUp }: BatchOptions): Client {
  let since: number | null = null;
  const noted = (outcome: CreateOutcome): CreateOutcome => {
    if (outcome.outcome !== 'not-sent') since = null;
    else {
      since ??= clock.monotonic();
      if (clock.monotonic() - since >= patienceMs) giveUp(outcome.reason);
    }
    return outcome;
  };
  return {
    ...client,
    create: async (post, signal) => noted(await client.create(post, signal)),
    createAsUser: async (post, signal) => noted(await client.createAsUser(post, signal)),
  };
}

function outOfReach(patienceMs: number, reason: string): AppError {
  const since = patienceMs >= 1000 ? ` for ${Math.round(patienceMs / 1000)} s` : '';
  return new AppError('unreachable', `the upstream could not be reached${since}: ${reason}`);
}

function pausedBatch(batch: string): AppError {
  return new AppError('interrupted', 'the import was paused', {
    hint: `Go on with "feedback-mirror outbox resume --batch ${batch}".`,
  });
}

function refusedToken(): AppError {
  return new AppError(
    'unauthorised',
    'the upstream refused the token, so sending is paused; nothing is lost',
    { hint: 'Put a valid token in FEEDBACK_API_TOKEN and run again.' },
  );
}
