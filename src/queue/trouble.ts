import type { Logger } from '../base/log.ts';
import type { Trouble } from './seam.ts';

/** A server that is away is tried several times a second, by every worker: one line a minute says as much. */
const QUIET_MS = 60_000;

/** Distinct messages that are remembered: more than any server has to say. */
const REMEMBERED = 100;

export function watchTrouble(log: Logger, now: () => number = () => performance.now()): Trouble {
  const said = new Map<string, { at: number; again: number }>();
  let isAway = false;
  const report = (error: Error): void => {
    const text = textOf(error);
    const before = said.get(text);
    if (before && now() - before.at < QUIET_MS) {
      before.again++;
      return;
    }
    if (said.size >= REMEMBERED) said.clear();
    said.set(text, { at: now(), again: 0 });
    log.warn({ event: 'queue.trouble', ...(before && { again: before.again + 1 }) }, `queue: ${text}`);
  };
  return {
    report,
    away(error) {
      isAway = true;
      report(error);
    },
    over() {
      if (!isAway) return;
      isAway = false;
      said.clear();
      log.info({ event: 'queue.recovered' }, 'queue: it answers again');
    },
  };
}

/** Node reports several failed addresses of one host as an AggregateError without a message. */
function textOf(error: Error): string {
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError) return error.errors.map(String).join('; ');
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
