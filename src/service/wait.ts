import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTurns, type JobContext, newActivity } from '../../jobs/context.ts';
import { createDispatcher } from '../../jobs/dispatch.ts';
import type { Client, CreateOutcome, Page, WalkOptions } from '../api/client.ts';
import type { RateLimit } from '../api/rate-limit.ts';
import { type App, sendingContext } from '../app.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, codeOf, messageOf } from '../base/errors.ts';
import { createMetrics } from '../base/metrics.ts';
import type { Post } from '../contract/decode.ts';
import type { StateCounts } from '../outbox/decide/types.ts';
import { sumCounts } from '../outbox/import/intake.ts';
import { REFUSED_HINT, refusedText, TOKEN_HINT } from '../outbox/store/refused.ts';
import { openQueueBackend, type QueueBackend } from '../queue/backend.ts';
import { keepSending } from './sender.ts';
import { loop, pause } from './workers.ts';

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
  { patienceMs, signal: stopped }: WaitOptions,
): Promise<void> {
  const { clock, outbox } = app;
  const stop = new AbortController();
  const signal = AbortSignal.any([stopped, stop.signal]);
  const outage = new OutageWatch(app, patienceMs, signal);
  const sender = keepSending(contextFor(app, backend, { batch, signal }, outage), {
    concurrency: app.settings.pushConcurrency,
    lockMs: 250,
    watchMs: 100,
    probeMs: 30_000,
    yields: true,
  });
  try {
    while (!outbox.isOver(batch)) {
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
    await outage.close();
  }
}

function contextFor(
  app: App,
  backend: QueueBackend,
  { batch, signal }: { batch: string; signal: AbortSignal },
  outage: OutageWatch,
): JobContext {
  return {
    app,
    backend,
    signal,
    metrics: createMetrics(),
    sending: {
      ...sendingContext(app, signal),
      client: outage.watched(app.client),
      onWindow: (incomplete) => outage.read(incomplete),
    },
    activity: newActivity(),
    retry: { firstPassMs: 0, lastPassMs: 0, busyMs: 0 },
    dispatcher: createDispatcher({ app, backend, batch, forgetMs: 20_000 }),
    turns: createTurns(app.settings.pushConcurrency),
  };
}

const FIRST_PROBE_MS = 1000;
const PROBE_MS = 2000;
const UNUSABLE = 'gave no usable answer';

/**
 * How the upstream answers the requests of one batch. Nothing but failures for so long is an outage, whether requests find no connection or
 * their answers break off. One create without a clear answer may be bad luck, and its row then settles for longer than most people wait:
 * a read at once tells whether the upstream answers at all.
 */
class OutageWatch {
  readonly #clock: Clock;
  readonly #gate: RateLimit;
  readonly #patienceMs: number;
  readonly #signal: AbortSignal;
  #since: number | null = null;
  #unreadSince: number | null = null;
  #trouble = { how: '', reason: '' };
  /** The read of its own that is under way. */
  #probe: Promise<void> | null = null;

  constructor({ clock, gate }: Pick<App, 'clock' | 'gate'>, patienceMs: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#gate = gate;
    this.#patienceMs = patienceMs;
    this.#signal = signal;
  }

  /** Throws once the outage has lasted for longer than the person wants to wait. A wait that the upstream asked for is none. */
  check(): void {
    if (this.#since !== null && this.#isAskedToWait()) this.#answered();
    const [patienceMs, since] = [this.#patienceMs, this.#since ?? this.#unreadSince];
    if (since === null || this.#clock.monotonic() - since < patienceMs) return;
    const lasted = patienceMs >= 1000 ? ` for ${Math.round(patienceMs / 1000)} s` : '';
    const { how, reason } = this.#trouble;
    throw new AppError('unreachable', `the upstream ${how}${lasted}: ${reason}`);
  }

  /** Each page is an answer, and the list all the same not what unclear rows can be looked for in: why not, or null. */
  read(incomplete: string | null): void {
    this.#unreadSince = incomplete === null ? null : (this.#unreadSince ?? this.#clock.monotonic());
    if (incomplete !== null) this.#trouble = { how: 'showed no whole list', reason: incomplete };
  }

  /** Resolves when no read of its own is under way. */
  async close(): Promise<void> {
    await this.#probe;
  }

  watched(client: Client): Client {
    const created = (outcome: CreateOutcome): CreateOutcome => {
      const wasReached = this.#since === null;
      this.#note(outcome);
      // Another create may have been answered meanwhile; the read that is under way then tells as much as a second one.
      if (outcome.outcome === 'unknown' && wasReached) this.#probe ??= this.#readUntilAnswered(client);
      return outcome;
    };
    return {
      ...client,
      posts: (options) => this.#pages(client, options),
      create: async (post, signal) => created(await client.create(post, signal)),
      createAsUser: async (post, signal) => created(await client.createAsUser(post, signal)),
    };
  }

  /** Never throws. The client tries a read several times; the service may come back later than that, and before the person gives up. */
  async #readUntilAnswered(client: Client): Promise<void> {
    const signal = this.#signal;
    // Most often another create is answered within a second, and nothing has to be asked.
    for (let wait = FIRST_PROBE_MS; ; wait = PROBE_MS) {
      await pause(this.#clock, wait, signal);
      if (this.#since === null || signal.aborted) break;
      try {
        for await (const _ of this.#pages(client, { signal })) break;
      } catch {
        // It is asked again.
      }
    }
    this.#probe = null;
  }

  async *#pages(client: Client, options?: WalkOptions): AsyncGenerator<Page<Post>, void, undefined> {
    try {
      for await (const page of client.posts(options)) {
        this.#answered();
        yield page;
      }
    } catch (error) {
      const code = codeOf(error);
      if (code === 'unreachable' || code === 'protocol')
        this.#failed({ how: UNUSABLE, reason: messageOf(error) });
      else if (code === 'throttled' || code === 'unauthorised' || code === 'refused') this.#answered();
      throw error;
    }
  }

  #note(outcome: CreateOutcome): void {
    if (outcome.outcome === 'not-sent') this.#failed({ how: 'could not be reached', reason: outcome.reason });
    else if (outcome.outcome === 'unknown') this.#failed({ how: UNUSABLE, reason: outcome.reason });
    else this.#answered();
  }

  #isAskedToWait(): boolean {
    const now = this.#clock.now();
    return this.#gate.closedUntil(now) !== null && this.#gate.outageUntil(now) === null;
  }

  #answered(): void {
    this.#since = null;
  }

  #failed(trouble: { how: string; reason: string }): void {
    this.#since ??= this.#clock.monotonic();
    this.#trouble = trouble;
  }
}

function pausedBatch(batch: string): AppError {
  return new AppError('interrupted', 'the import was paused', {
    hint: `Go on with "feedback-mirror outbox resume --batch ${batch}".`,
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
