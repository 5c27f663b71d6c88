import { setTimeout as delay } from 'node:timers/promises';
import { mustRecover } from '../judge/readiness.ts';
import type { Incident } from '../plan.ts';
import type { Stage } from '../stage.ts';

/** Longer than every period of the run; not more, for an unclear send is left to settle for three times what the list seems late. */
const JUMP_MS = 12_000;

/**
 * Somebody sets the clock, and sets it right again. How long an unclear send has settled is told by that clock, so nothing may be late
 * upstream meanwhile: that is the limit of what is promised.
 */
export function clockFaults(stage: Stage): Incident[] {
  const jumps: [name: string, ms: number][] = [
    ['clock set forward and back', JUMP_MS],
    ['clock set back and forward', -JUMP_MS],
  ];
  return jumps.map(([name, ms]) => ({
    name,
    run: () =>
      stage.hushed(async () => {
        stage.setClock(ms);
        stage.tally.fired(name);
        await delay(4000);
        stage.setClock(0);
        await delay(1000);
        await mustRecover(stage, name);
      }),
  }));
}
