import type { App } from './app.ts';
import { codeOf, messageOf } from './base/errors.ts';
import { RESOURCES, type Resource } from './contract/resources.ts';
import { lookAfter } from './outbox/after-look.ts';
import { drive } from './outbox/drive.ts';
import type { OutboxContext } from './outbox/push.ts';
import type { PassMode } from './store/mirror/seam.ts';
import { syncOnce } from './sync/engine.ts';

export interface WorkerSettings {
  headEvery: number | 'off';
  sweepEvery: number;
  pagesAhead: number;
  pushPerMinute: number;
  outbox: OutboxContext;
}

/** After a failure the next try of anything waits this long. */
const RETRY_MS = 30_000;
/** How soon a row that somebody put into the outbox is noticed. */
const OUTBOX_LOOK_MS = 500;

/** The service: keeps the mirror fresh and the outbox empty until it is told to stop. */
export async function work(app: App, settings: WorkerSettings, signal: AbortSignal): Promise<void> {
  const lists = RESOURCES.map((resource) => keepFresh(app, settings, resource, signal));
  await Promise.all([...lists, keepSending(app, settings, signal)]);
}

async function keepFresh(
  app: App,
  settings: WorkerSettings,
  resource: Resource,
  signal: AbortSignal,
): Promise<void> {
  const headEvery = settings.headEvery === 'off' ? Number.POSITIVE_INFINITY : settings.headEvery;
  let sweepAt = app.clock.now();
  let headAt = sweepAt + headEvery;
  while (!signal.aborted) {
    const now = app.clock.now();
    if (sweepAt <= now) {
      const isDone = await pass(app, settings, resource, 'sweep', signal);
      sweepAt = app.clock.now() + (isDone ? settings.sweepEvery : RETRY_MS);
      headAt = app.clock.now() + headEvery;
    } else if (headAt <= now) {
      await pass(app, settings, resource, 'head', signal);
      headAt = app.clock.now() + headEvery;
    } else await pause(app, Math.min(sweepAt, headAt) - now, signal);
  }
}

/** One pass and one line about it: counts and ids, no names. Returns whether it was completed. */
async function pass(
  app: App,
  { pagesAhead }: WorkerSettings,
  resource: Resource,
  mode: PassMode,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, store, clock, log } = app;
  try {
    const outcome = await syncOnce(
      { client, store, clock, signal, ahead: pagesAhead, onPage: () => {} },
      { resource, mode, wait: true },
    );
    if (!outcome.done) {
      log.info({ resource, mode }, outcome.reason);
      return true;
    }
    const { error: _, startedAt, ...counts } = outcome.summary;
    log.info(counts, `${mode} of ${resource}`);
    if (resource === 'posts' && mode === 'sweep') await reportDoubled(app, startedAt);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'interrupted') log.error({ resource, mode, code: codeOf(error) }, messageOf(error));
    return false;
  }
}

async function reportDoubled({ outbox, clock, log }: App, sweepStartedAt: string): Promise<void> {
  for (const row of await lookAfter(outbox, clock, sweepStartedAt)) {
    log.warn(
      { outbox: row.id, post: row.post_id, duplicate: row.duplicate_of },
      'an unclear attempt left a second post',
    );
  }
}

async function keepSending(
  app: App,
  { outbox, pushPerMinute }: WorkerSettings,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await drive(outbox, { batch: null, perMinute: pushPerMinute });
      await pause(app, OUTBOX_LOOK_MS, signal);
    } catch (error) {
      if (codeOf(error) === 'interrupted') return;
      app.log.error({ code: codeOf(error) }, messageOf(error));
      await pause(app, RETRY_MS, signal);
    }
  }
}

/** A wait that ends early and quietly when the service stops. */
async function pause({ clock }: App, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
