import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Overview } from '../../reports/overview.ts';
import { textOf } from './parameters.ts';
import type { DashboardReads } from './reads.ts';

export interface OverviewDeps {
  reads: DashboardReads;
  /** Changes whenever the mirror has. */
  version(): number;
  clock: Clock;
  /** Whose days and weeks are shown. */
  timeZone: string;
  /** The statuses that count as delivered; null for those whose names say so. */
  usualDelivered: readonly string[] | null;
  log: Logger;
  /** How often the first view is kept ready for a person who has the dashboard in use; 0 for never. */
  warmEveryMs?: number;
}

export interface OverviewAnswer extends Overview {
  /** When the figures were added up. */
  asOf: string;
}

const WARM_EVERY_MS = 15_000;
/** A service whose dashboard nobody opens does without the thread that adds up the figures: it holds 35 MB. */
const IN_USE_MS = 60 * 60_000;

/** `/data/overview`: the state of feedback, for a period and a board. */
export function addOverview(app: FastifyInstance, deps: OverviewDeps): void {
  const { reads, version, clock, timeZone, usualDelivered, log, warmEveryMs = WARM_EVERY_MS } = deps;
  const answers = keepAnswers<Overview>({
    compute: (key) =>
      reads.ask('overview', { now: clock.now(), timeZone, usualDelivered, ...(JSON.parse(key) as Choice) }),
    version,
    clock,
  });
  let askedAt = Number.NEGATIVE_INFINITY;
  app.get('/data/overview', async ({ query }): Promise<OverviewAnswer> => {
    askedAt = clock.monotonic();
    const { value, at } = await answers.ask(keyOf(query));
    return { ...value, asOf: new Date(at).toISOString() };
  });
  if (warmEveryMs === 0) return;
  const warm = async (): Promise<void> => {
    if (clock.monotonic() - askedAt > IN_USE_MS) return;
    try {
      await answers.warm(keyOf({}));
    } catch (error) {
      log.debug(
        { event: 'dashboard.overview.failed' },
        `the overview could not be prepared: ${messageOf(error)}`,
      );
    }
  };
  const timer = setInterval(() => void warm(), warmEveryMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

interface Choice {
  since?: string;
  until?: string;
  board?: string;
}

/** The same question is the same text. */
function keyOf(query: unknown): string {
  const [since, until, board] = [textOf(query, 'since'), textOf(query, 'until'), textOf(query, 'board')];
  const choice: Choice = {
    ...(since ? { since } : {}),
    ...(until ? { until } : {}),
    ...(board ? { board } : {}),
  };
  return JSON.stringify(choice);
}

export interface KeptOptions<T> {
  compute(key: string): Promise<T>;
  /** Another number whenever the mirror has changed. */
  version(): number;
  clock: Clock;
}

export interface Kept<T> {
  value: T;
  /** When it was computed, in milliseconds since the epoch. */
  at: number;
}

/** An answer moves on with the time although nothing changes: periods end now. */
const FRESH_MS = 60_000;
/** How long somebody waits for the newest figures when the last ones are at hand. */
const PATIENCE_MS = 200;
/** Beyond this the last ones are no answer any more. */
const OLDEST_MS = 15 * 60_000;
const MOST_KEYS = 40;
/** At most one part in so many of a thread's time: for a page that is open while the mirror changes, and for one that nobody looks at. */
const REST = { asked: 10, warmed: 50 };

interface Entry<T> extends Kept<T> {
  /** The same on the monotonic clock. */
  began: number;
  version: number;
  tookMs: number;
}

/**
 * Answers that take long in a large mirror, kept for whoever asks next. In a small one everybody gets the newest; where that takes
 * longer than people like to wait, they get the last one at once, with its age, and the newest is under way.
 */
export function keepAnswers<T>({ compute, version, clock }: KeptOptions<T>) {
  const kept = new Map<string, Entry<T>>();
  const underWay = new Map<string, Promise<Entry<T>>>();

  const isFresh = (entry: Entry<T>): boolean =>
    entry.version === version() && clock.monotonic() - entry.began < FRESH_MS;
  const isSettled = (entry: Entry<T>, rest: number): boolean =>
    isFresh(entry) || clock.monotonic() - entry.began < entry.tookMs * rest;
  const renew = (key: string): Promise<Entry<T>> => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const started = work(key).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
  const work = async (key: string): Promise<Entry<T>> => {
    // Noted before: what is written meanwhile makes the answer an old one.
    const [at, began, seen] = [clock.now(), clock.monotonic(), version()];
    const value = await compute(key);
    const entry = { value, at, began, version: seen, tookMs: clock.monotonic() - began };
    kept.delete(key);
    kept.set(key, entry);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEYS && oldest !== undefined) kept.delete(oldest);
    return entry;
  };

  return {
    async ask(key: string): Promise<Kept<T>> {
      const last = kept.get(key);
      if (last && isSettled(last, REST.asked)) return last;
      const newest = renew(key);
      if (!last || clock.monotonic() - last.began > OLDEST_MS) return await newest;
      const patience = new AbortController();
      const wait = clock.sleep(PATIENCE_MS, patience.signal).then(
        () => last,
        () => last,
      );
      // What fails late is tried again with the next question; what fails soon is said.
      newest.catch(() => undefined);
      try {
        return await Promise.race([newest, wait]);
      } finally {
        patience.abort();
      }
    },
    /** To be called now and then: has the answer ready before anybody asks. */
    async warm(key: string): Promise<void> {
      const last = kept.get(key);
      if (!last || !isSettled(last, REST.warmed)) await renew(key);
    },
  };
}
