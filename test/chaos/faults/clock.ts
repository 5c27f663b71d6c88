import { setTimeout as delay } from 'node:timers/promises';
import { RESOURCES } from '../../../src/contract/endpoints.ts';
import type { Fixture } from '../fixture.ts';
import { lastSweep, mustRecover, waitFor } from '../invariants/readiness.ts';
import type { Incident } from '../plan.ts';

/** Longer than every period of the run. */
const JUMP_MS = 12_000;
const DAY_MS = 86_400_000;
const GOES_ON_MS = 60_000;

/**
 * Somebody sets the clock, and sets it right again. How long an unclear send has settled is told by that clock, so nothing may be late
 * upstream meanwhile: that is the limit of what is promised.
 */
export function clockFaults(fixture: Fixture): Incident[] {
  const jumps: [name: string, ms: number][] = [
    ['clock set forward and back', JUMP_MS],
    ['clock set back and forward', -JUMP_MS],
    ['clock a day ahead and corrected', DAY_MS],
    ['clock a day behind and corrected', -DAY_MS],
  ];
  return jumps.map(([name, ms]) => ({ name, run: () => fixture.hushed(() => jump(fixture, name, ms)) }));
}

async function jump(fixture: Fixture, name: string, ms: number): Promise<void> {
  fixture.setClock(ms);
  fixture.tally.fired(name);
  await sweepsGoOn(fixture, name);
  await delay(4000);
  fixture.setClock(0);
  await sweepsGoOn(fixture, `${name}, after the correction`);
  await mustRecover(fixture, name);
}

/** A sweep of each list that ends after the jump: by its number, as its times tell what the clock said. */
async function sweepsGoOn({ mirror, tally }: Fixture, cause: string): Promise<void> {
  const before = RESOURCES.map((resource) => lastSweep(mirror, resource));
  const goesOn = await waitFor(GOES_ON_MS, () =>
    RESOURCES.every((resource, n) => lastSweep(mirror, resource) > (before[n] ?? 0)),
  );
  tally.check('sweeps go on within a minute whatever the clock did', goesOn, () => cause);
}
