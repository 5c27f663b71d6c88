import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/sandbox/random.ts';
import { type Fixture, OWNER } from '../fixture.ts';
import { mustAdmit, mustRecover, recover } from '../invariants/readiness.ts';
import type { Incident } from '../plan.ts';

/** Death, sleep and company. */
export function processFaults(fixture: Fixture, random: Random): Incident[] {
  const { service, tally } = fixture;
  const kill: Incident = {
    name: 'kill -9 of the service',
    async run() {
      await delay(random.int(1500));
      await service.kill();
      tally.fired(this.name);
      await recover(fixture, this.name);
    },
  };
  const freeze: Incident = {
    name: 'SIGSTOP of the service',
    async run() {
      service.signal('SIGSTOP');
      tally.fired(this.name);
      await delay(500 + random.int(4000));
      service.signal('SIGCONT');
      await mustRecover(fixture, this.name);
    },
  };
  const frozenDeath: Incident = {
    name: 'kill -9 of a frozen service',
    async run() {
      service.signal('SIGSTOP');
      await delay(300 + random.int(1500));
      await service.kill();
      tally.fired(this.name);
      await recover(fixture, this.name);
    },
  };
  const stop: Incident = {
    name: 'SIGTERM of the service',
    async run() {
      await service.stop();
      tally.fired(this.name);
      await recover(fixture, this.name);
    },
  };
  const second: Incident = { name: 'two services on one folder', run: () => company(fixture) };
  // Death comes most often: its surroundings differ each time.
  return [kill, freeze, kill, frozenDeath, stop, kill, second];
}

/** They share the work, and one of them dies. */
async function company({ command, tally }: Fixture): Promise<void> {
  const other = command(['start'], { HTTP_PORT: '0' });
  tally.fired('two services on one folder');
  await Promise.race([other.ended, delay(5000)]);
  tally.check('a second service works beside the first', other.child.exitCode === null, () =>
    other.stderr().slice(-500),
  );
  other.child.kill('SIGKILL');
  await other.ended;
}

/** Creates go on meanwhile, so the service cannot help noticing. */
export function tokenFault(fixture: Fixture): Incident {
  const { sandbox, tally } = fixture;
  return {
    name: 'token revoked and restored',
    async run() {
      sandbox.revoke(OWNER.token);
      tally.fired(this.name);
      await mustAdmit(fixture, this.name, 30_000);
      await delay(1000);
      sandbox.allow(OWNER);
      await mustRecover(fixture, this.name);
    },
  };
}
