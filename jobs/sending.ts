import { type Job, RateLimitError } from 'bullmq';
import { unlessStopped } from '../src/base/timeout.ts';
import type { JobContext } from './context.ts';

/** The longest single hold: after it the gate is asked again, whatever the clock did meanwhile. */
const LONGEST_HOLD_MS = 60_000;

export function rowOf(job: Job): number {
  const id: unknown = Reflect.get(Object(job.data), 'outbox');
  if (typeof id !== 'number') throw new Error(`job ${job.id} names no row of the outbox`);
  return id;
}

/** Runs the work unless a handler of this process has the row in hand already: a job that stalled is handed out twice. */
export async function alone<T>(
  { activity }: JobContext,
  id: number,
  work: () => Promise<T>,
): Promise<T | string> {
  if (activity.rows.has(id)) return 'in hand already';
  activity.rows.add(id);
  try {
    return await work();
  } finally {
    activity.rows.delete(id);
  }
}

/** While the upstream wants no calls, the whole queue waits, and no row is claimed in vain. */
export async function heedGate(context: JobContext, name: 'push' | 'reconcile'): Promise<void> {
  const { gate, clock } = context.app;
  const now = clock.now();
  const until = gate.closedUntil(now);
  if (until !== null) await holdQueue(context, name, until - now);
}

/** Always throws what tells the queue that this was no attempt. */
export async function holdQueue(
  { backend, signal }: JobContext,
  name: 'push' | 'reconcile',
  ms: number,
): Promise<never> {
  const holdMs = Math.max(1, Math.min(LONGEST_HOLD_MS, Math.ceil(ms)));
  await unlessStopped(signal, backend.queue(name).rateLimit(holdMs));
  throw new RateLimitError();
}
