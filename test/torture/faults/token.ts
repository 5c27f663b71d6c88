import { setTimeout as delay } from 'node:timers/promises';
import { mustAdmit, mustRecover } from '../judge/readiness.ts';
import type { Incident } from '../plan.ts';
import { OWNER, type Stage } from '../stage.ts';

/** Creates go on meanwhile, so the service cannot help noticing. */
export function tokenFaults(stage: Stage): Incident[] {
  const { sandbox, tally } = stage;
  return [
    {
      name: 'token revoked and restored',
      async run() {
        sandbox.revoke(OWNER.token);
        tally.fired(this.name);
        await mustAdmit(stage, this.name, 30_000);
        await delay(1000);
        sandbox.allow(OWNER);
        await mustRecover(stage, this.name);
      },
    },
  ];
}
