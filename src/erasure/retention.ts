import { setImmediate as aTurnForOthers } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { ExpiredCounts, RetireWalk } from './store/expire.ts';
import type { ErasureStore } from './store/store.ts';

interface RetentionOptions {
  /** How long the words of a deleted row are kept; `never` keeps all of them. */
  keepMs: number | 'never';
  clock: Clock;
  signal: AbortSignal;
  compact(signal: AbortSignal): Promise<boolean>;
}

export interface RetentionResult extends ExpiredCounts {
  /** People of whom nothing else was left. */
  users: number;
  /** Whether the file was rewritten because of it; false also where that has to wait for a reader. */
  compacted: boolean;
}

/** Erases the words and people of rows that were deleted long enough ago. Costs next to nothing when there are none. */
export async function eraseExpired(store: ErasureStore, options: RetentionOptions): Promise<RetentionResult> {
  const { keepMs, clock, signal, compact } = options;
  const done: RetentionResult = { posts: 0, comments: 0, outbox: 0, users: 0, compacted: false };
  for (let more = keepMs !== 'never'; more; await aTurnForOthers()) {
    signal.throwIfAborted();
    const step = store.expire(clock.now() - Number(keepMs), clock.now());
    for (const key of ['posts', 'comments', 'outbox'] as const) done[key] += step.counts[key];
    more = step.more;
  }
  let walk: RetireWalk | null = null;
  do {
    signal.throwIfAborted();
    const step = store.retire(walk, clock.now());
    done.users += step.users;
    walk = step.next;
    await aTurnForOthers();
  } while (walk !== null);
  if (store.isUnclean()) done.compacted = await compact(signal);
  return done;
}
