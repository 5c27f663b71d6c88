import type { TroubleFacts } from '../../src/mirror/decide/troubles.ts';
import type { ListProgress, OutboxProgress, Progress } from '../../src/service/health.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** The moment of the look; the service has run for ten days. */
export const NOW = Date.UTC(2026, 10, 15, 12);
export const STARTED = NOW - 240 * HOUR;

/** What the mirror of such a service knows. */
export const NO_TROUBLES: TroubleFacts = {
  failures: [],
  paused: null,
  closed: null,
  lists: [],
  disk: null,
  newToken: null,
};

export interface Differences extends Partial<Omit<Progress, 'lists' | 'outbox' | 'queue'>> {
  posts?: Partial<ListProgress>;
  comments?: Partial<ListProgress>;
  outbox?: Partial<OutboxProgress>;
  queue?: Partial<Progress['queue']>;
}

/** A service that does all its work, except for what is said. */
export function progressWith({ posts, comments, outbox, queue, ...rest }: Differences = {}): Progress {
  const swept = {
    lastSweepAt: NOW - 20 * MINUTE,
    sweepDueAt: NOW + 40 * MINUTE,
    retryAt: null,
    running: null,
  };
  return {
    now: NOW,
    startedAt: STARTED,
    lastTickAt: NOW - 3 * SECOND,
    tickEveryMs: 10 * SECOND,
    lists: [
      { resource: 'posts', ...swept, ...posts },
      { resource: 'comments', ...swept, ...comments },
    ],
    outbox: {
      due: 0,
      oldestDueAt: null,
      lastAttemptAt: null,
      paused: null,
      refused: [],
      isSender: true,
      ...outbox,
    },
    mirror: 'in place',
    closedUntil: null,
    troubles: NO_TROUBLES,
    queue: { kind: 'embedded', reachable: true, depth: [], ...queue },
    ...rest,
  };
}
