import { describe, it } from 'node:test';
import { openStation, type RunningService, until } from './station.ts';

const HOUR_MS = 3_600_000;

describe('a service that starts again', () => {
  it('shows at once that its queue works, however far away the next tick of its schedules is', async (t) => {
    const station = await openStation(t, { queueUrl: null, env: { SYNC_HEAD_EVERY: 'off' } });
    const first = await station.start({}, { tick: HOUR_MS });
    await until('the first tick, which a new schedule brings', () => hasTicked(first));
    await first.close();
    const second = await station.start({}, { tick: HOUR_MS });
    await until('a tick of the second start', () => hasTicked(second));
  });
});

async function hasTicked(service: RunningService): Promise<boolean> {
  return (await service.progress()).lastTickAt !== null;
}
