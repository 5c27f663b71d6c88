import type { Clock } from '../base/clock.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';

export interface LoopOptions {
  name: string;
  everyMs: number;
  clock: Clock;
  signal: AbortSignal;
  log: Logger;
}

/** What fails is tried less and less often, up to this. Longer periods stay as they are. */
const LONGEST_BACKOFF_MS = 5000;

/** Does something again and again until told to stop. What fails is logged, once for as long as it fails the same way. */
export async function loop(options: LoopOptions, step: () => Promise<unknown>): Promise<void> {
  const { name, everyMs, clock, signal, log } = options;
  let said: string | null = null;
  let failures = 0;
  while (!signal.aborted) {
    try {
      await step();
      said = null;
      failures = 0;
    } catch (error) {
      const reason = messageOf(error);
      if (!signal.aborted && reason !== said) log.error({ code: codeOf(error) }, `${name}: ${reason}`);
      said = reason;
      failures++;
    }
    const backoff = failures === 0 ? 0 : Math.min(everyMs * 2 ** failures, LONGEST_BACKOFF_MS);
    await pause(clock, Math.max(everyMs, backoff), signal);
  }
}

/** A wait that ends early and quietly when the service stops. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
