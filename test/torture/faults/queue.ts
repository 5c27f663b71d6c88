import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/sandbox/random.ts';
import { checkFile } from '../judge/file.ts';
import { mustAdmit, mustRecover } from '../judge/readiness.ts';
import type { Incident } from '../plan.ts';
import type { Stage } from '../stage.ts';

/** What can happen to the queue: the outbox and the schedules must not mind. */
export function queueFaults(stage: Stage, random: Random): Incident[] {
  const { server } = stage.queue;
  if (!server) return [folderDeleted(stage)];
  const { queue, tally } = stage;
  const killed: Incident = {
    name: 'queue server killed',
    async run() {
      await server.kill();
      tally.fired(this.name);
      await mustAdmit(stage, this.name, 30_000);
      await delay(random.int(3000));
      await server.restart();
      await mustRecover(stage, this.name);
    },
  };
  const flushed: Incident = {
    name: 'queue server flushed',
    async run() {
      await queue.empty();
      tally.fired(this.name);
      await delay(2000);
      await mustRecover(stage, this.name);
    },
  };
  return [killed, flushed];
}

function folderDeleted(stage: Stage): Incident {
  return {
    name: 'queue folder deleted',
    async run() {
      await stage.service.kill();
      await stage.queue.empty();
      stage.tally.fired(this.name);
      // A new one has to be made, which takes longer than a start: not counted among those.
      checkFile(stage, this.name);
      stage.service.start();
      await mustRecover(stage, this.name);
    },
  };
}
