import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/sandbox/random.ts';
import type { Fixture } from '../fixture.ts';
import { checkFile } from '../invariants/file.ts';
import { mustAdmit, mustRecover } from '../invariants/readiness.ts';
import type { Incident } from '../plan.ts';

/** What can happen to the queue: the outbox and the schedules must not mind. */
export function queueFaults(fixture: Fixture, random: Random): Incident[] {
  const { server } = fixture.queue;
  if (!server) return [fileDeleted(fixture)];
  const { queue, tally } = fixture;
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
  const flushed: Incident = {
    name: 'queue server flushed',
    async run() {
      await queue.empty();
      tally.fired(this.name);
      await delay(2000);
      await mustRecover(fixture, this.name);
    },
  };
  return [killed, flushed];
}

function fileDeleted(fixture: Fixture): Incident {
  return {
    name: 'queue file deleted',
    async run() {
      await fixture.service.kill();
      await fixture.queue.empty();
      fixture.tally.fired(this.name);
      // A new one has to be made, which takes longer than a start: not counted among those.
      checkFile(fixture, this.name);
      fixture.service.start();
      await mustRecover(fixture, this.name);
    },
  };
}
