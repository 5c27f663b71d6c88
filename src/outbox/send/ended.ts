import type { CreateOutcome } from '../../api/client.ts';
import { TRANSITIONS } from '../decide/states.ts';
import type { AttemptEnd, OutboxRow } from '../decide/types.ts';
import type { OutboxContext } from './context.ts';
import { FORBIDDEN, refusedRowMs } from './pause.ts';
import { backoff, settleFrom } from './settle.ts';

/** What came of a request: when, and until when it could have left. */
export interface EndedCreate {
  outcome: CreateOutcome;
  at: number;
  deadline: number;
}

export function recordOutcome(context: OutboxContext, row: OutboxRow, ended: EndedCreate): OutboxRow | null {
  const { store } = context;
  const { outcome } = ended;
  if (outcome.outcome !== 'confirmed') return store.endAttempt(endOf(context, row, ended));
  const known = store.knownPosts([outcome.postId]).get(outcome.postId);
  const isOlder = known?.first_seen_at != null && known.first_seen_at < (row.first_sent_at ?? '');
  const doubt = (why: string): OutboxRow | null => {
    const end = endOf(context, row, { ...ended, outcome: unclear(outcome, why) });
    return store.endAttempt({ ...end, named: outcome.postId });
  };
  if (isOlder) return doubt('which stood there before this row was sent');
  return store.endAttempt(endOf(context, row, ended)) ?? doubt('which confirms another row');
}

/** The answer names a post that cannot be this row's, so it says nothing about what became of the row. */
function unclear(
  { postId, httpStatus, serverTime }: CreateOutcome & { outcome: 'confirmed' },
  why: string,
): CreateOutcome {
  return { outcome: 'unknown', reason: `the answer names post ${postId}, ${why}`, httpStatus, serverTime };
}

/** The one table from what the client learned to where the row goes. */
function endOf(
  context: OutboxContext,
  row: OutboxRow,
  { outcome, at: now, deadline }: EndedCreate,
): AttemptEnd {
  const attempt = {
    id: row.id,
    n: row.attempts,
    outcome: outcome.outcome,
    httpStatus: statusOf(outcome),
    error: reasonOf(outcome),
  };
  const change = { now, error: reasonOf(outcome) };
  switch (outcome.outcome) {
    case 'confirmed':
      return {
        ...attempt,
        transition: TRANSITIONS.confirm,
        change: { now, postId: outcome.postId, url: outcome.url, error: null },
      };
    case 'rejected':
      return { ...attempt, transition: TRANSITIONS.reject, change };
    case 'throttled':
      return {
        ...attempt,
        // Another request has met the limit since this row was claimed.
        isVoid: outcome.httpStatus === null,
        transition: TRANSITIONS.release,
        change: { ...change, notBefore: outcome.retryAt },
      };
    case 'unauthorised': {
      const isPutOff = outcome.httpStatus === FORBIDDEN && context.store.hasSuccessor(row);
      const notBefore = isPutOff ? now + refusedRowMs(row.attempts) : null;
      return { ...attempt, transition: TRANSITIONS.release, change: { ...change, notBefore } };
    }
    case 'not-sent':
      if (isAlwaysDiverted(context.store, row, outcome))
        return { ...attempt, transition: TRANSITIONS.reject, change };
      return {
        ...attempt,
        isVoid: outcome.httpStatus === undefined,
        transition: TRANSITIONS.release,
        change: { ...change, notBefore: now + backoff(row, now, context.random) },
      };
    case 'unknown':
      return {
        ...attempt,
        transition: TRANSITIONS.markAmbiguous,
        change: { ...change, ...settleFrom(context, row.id, Math.max(now, deadline)) },
      };
  }
}

/** A proxy has answered a row so many times while other rows arrived: the row itself is refused. */
const MOST_DIVERTED = 4;

function isAlwaysDiverted(
  store: OutboxContext['store'],
  row: OutboxRow,
  { httpStatus }: { httpStatus?: number },
): boolean {
  if (httpStatus === undefined) return false;
  const diverted = store.attempts(row.id).filter((tried) => tried.outcome === 'not-sent');
  const since = Date.parse(diverted[0]?.started_at ?? row.changed_at);
  return diverted.length + 1 >= MOST_DIVERTED && store.recentSends(since).posts > 0;
}

/** Rows that a dead sender left behind, or a handler that failed: their attempt may have reached the upstream. */
export function recoverOrphans(
  context: OutboxContext,
  isRunning: (id: number) => boolean = () => false,
): number {
  const { store, clock, createMs } = context;
  const rows = store.orphans().filter(({ id }) => !isRunning(id));
  for (const row of rows) {
    const attempts = store.attempts(row.id);
    const now = clock.now();
    // The dead sender may have been frozen before the request, and have sent it after the deadline, but not after now. A deadline further
    // away than a create takes was written by a clock that was ahead.
    const deadline = Date.parse(attempts.at(-1)?.deadline_at ?? row.changed_at);
    const latest = Math.min(Math.max(now, deadline), now + createMs);
    const change = {
      now,
      error: 'the sender died while this was on its way',
      ...settleFrom(context, row.id, latest),
    };
    const attempt = {
      id: row.id,
      n: row.attempts,
      outcome: 'unknown' as const,
      httpStatus: null,
      error: change.error,
    };
    store.endAttempt({ ...attempt, transition: TRANSITIONS.markAmbiguous, change });
  }
  return rows.length;
}

function statusOf(outcome: CreateOutcome): number | null {
  return 'httpStatus' in outcome ? (outcome.httpStatus ?? null) : null;
}

function reasonOf(outcome: CreateOutcome): string | null {
  return 'reason' in outcome ? outcome.reason : null;
}
