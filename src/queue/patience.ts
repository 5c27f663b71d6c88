import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';

/** The longest pause between two attempts to reach what is away. */
const PAUSE_MS = 1000;

/** Longer after every failure, and over at once when the queue is closed. */
export async function pauseAfter(failures: number, closing: AbortSignal): Promise<void> {
  const ms = Math.min(50 * 2 ** failures, PAUSE_MS);
  await delay(ms, undefined, { signal: closing }).catch(() => undefined);
}

export function refuseIfClosed(closing: AbortSignal): void {
  if (closing.aborted) throw new AppError('interrupted', 'the queue is closed');
}
