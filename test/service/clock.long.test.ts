import { describe, it } from 'node:test';
import { assess } from '../../src/service/health.ts';
import { shiftDate } from '../support/clock.ts';
import { skipUnless } from '../support/programs.ts';
import { startPostgres, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { openFixture, type RunningService } from './fixture.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;

const QUEUES = [
  { name: 'in the data folder', programs: [], start: null },
  { name: 'on Redis', programs: ['redis-server'], start: startRedis },
  { name: 'on PostgreSQL', programs: ['postgres'], start: startPostgres },
];

describe('a service whose clock is set', () => {
  for (const { name, programs, start } of QUEUES) {
    it(
      `goes on with its queue ${name}, whatever the clock did before`,
      skipUnless(...programs),
      async (t) => {
        const server = await start?.();
        t.after(() => server?.stop());
        const date = shiftDate();
        t.after(() => date.restore());
        const fixture = await openFixture(t, {
          queueUrl: server?.url ?? null,
          env: { SYNC_HEAD_EVERY: '1s' },
        });
        // Ahead for a day and set right, set back by a day and set right.
        date.shift(DAY);
        const service = await fixture.start();
        await until('the first sweeps', () => isCurrent(service));
        for (const offset of [0, -DAY, 0]) {
          date.shift(offset);
          const title = `Sent ${offset / DAY} days off, ${fixture.posted().length}`;
          await fixture.add(title);
          await until('sweeps of both lists', () => isCurrent(service));
          await until('a post', () => fixture.posted().includes(title));
          const since = (await service.progress()).lastTickAt ?? 0;
          const ticks = async () => ((await service.progress()).lastTickAt ?? 0) > since + 100;
          await until('another tick', ticks);
          await until('readiness', async () => assess(await service.progress()).ready);
        }
      },
    );
  }
});

/** Whether both lists were swept a moment ago by the clock as it is now. */
async function isCurrent(service: RunningService): Promise<boolean> {
  const { lists, now } = await service.progress();
  return lists.every(({ lastSweepAt: at }) => at !== null && at <= now && at > now - MINUTE);
}
