import assert from 'node:assert/strict';
import { until } from '../../support/until.ts';
import type { Play } from './station.ts';

const HOUR = 3_600_000;

export function lasting(play: Play): void {
  play('closed and opened again, it still has its jobs and schedules', async ({ station, open }) => {
    const target = station.newTarget();
    const before = await open(target);
    const queue = before.queue('work');
    await queue.upsertJobScheduler('nightly', { pattern: '0 3 * * *', tz: 'UTC' }, { name: 'nightly' });
    await queue.add('waiting', { n: 1 });
    await queue.add('delayed', { n: 2 }, { delay: 300 });
    await before.close();
    const after = await open(target);
    assert.deepEqual(
      (await after.queue('work').getJobSchedulers()).map(({ key, pattern, tz }) => [key, pattern, tz]),
      [['nightly', '0 3 * * *', 'UTC']],
    );
    const seen: unknown[] = [];
    after.worker('work', async ({ name, data }) => seen.push([name, data]));
    await until('both have run', () => seen.length >= 2);
    assert.deepEqual(seen, [
      ['waiting', { n: 1 }],
      ['delayed', { n: 2 }],
    ]);
  });

  play('emptied from outside, it takes jobs and schedules again', async ({ station, open }) => {
    const target = station.newTarget();
    const backend = await open(target);
    const runs: string[] = [];
    backend.worker('work', async ({ name }) => runs.push(name));
    const queue = backend.queue('work');
    await queue.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    await queue.add('before', {}, { delay: HOUR });
    await until('the first ring', () => runs.includes('tick'));
    await station.flush(target);
    // A file that was deleted is missed within a second.
    await until('it is empty', async () => (await queue.getDelayedCount()) === 0);
    assert.deepEqual(await queue.getJobSchedulers(), []);
    runs.length = 0;
    await queue.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    await queue.add('after', {});
    await until('both have run', () => runs.includes('after') && runs.includes('tick'));
  });
}
