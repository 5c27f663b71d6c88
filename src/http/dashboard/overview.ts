import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Overview } from '../../reports/overview.ts';
import { textOf } from './asked.ts';
import { keepAnswers } from './kept-answers.ts';
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
  /** How often to see whether the first view is ready for whoever opens the page; 0 for never. */
  warmEveryMs?: number;
}

export interface OverviewAnswer extends Overview {
  /** When the figures were added up. */
  asOf: string;
}

const WARM_EVERY_MS = 15_000;

/** `/data/overview`: the state of feedback, for a period and a board. */
export function addOverview(app: FastifyInstance, deps: OverviewDeps): void {
  const { reads, version, clock, timeZone, usualDelivered, log, warmEveryMs = WARM_EVERY_MS } = deps;
  const answers = keepAnswers<Overview>({
    compute: (key) =>
      reads.ask('overview', { now: clock.now(), timeZone, usualDelivered, ...(JSON.parse(key) as Choice) }),
    version,
    clock,
  });
  app.get('/data/overview', async ({ query }): Promise<OverviewAnswer> => {
    const { value, at } = await answers.ask(keyOf(query));
    return { ...value, asOf: new Date(at).toISOString() };
  });
  if (warmEveryMs === 0) return;
  const warm = async (): Promise<void> => {
    try {
      await answers.warm(keyOf({}));
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'the overview could not be prepared');
    }
  };
  // Not at once: for its first seconds the service has better things to do, and whoever asks meanwhile is answered all the same.
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
