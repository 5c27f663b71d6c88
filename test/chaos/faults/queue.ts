import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/sandbox/random.ts';
import type { Fixture } from '../fixture.ts';
import { mustAdmit, mustRecover } from '../invariants/readiness.ts';
import type { Incident } from '../plan.ts';

/** What can happen to the queue: the outbox and the schedules must not mind. */
export function queueFaults(fixture: Fixture, random: Random): Incident[] {
  const { queue, tally } = fixture;
  const { server } = queue;
  const emptied: Incident = {
    name: server ? 'queue server flushed' : 'queue file deleted',
    async run() {
      await queue.empty();
      tally.fired(this.name);
      await delay(2000);
      await mustRecover(fixture, this.name);
    },
  };
  if (!server) return [emptied];
  const killed: Incident = {
    name: 'queue server killed',
    async run() {
      await server.kill();
      tally.fired(this.name);
      await mustAdmit(fixture, this.name, 30_000);
      await delay(random.int(3000));
      await server.restart();
      await mustRecover(fixture, this.name);
    },
  };
  return [killed, emptied];
}
