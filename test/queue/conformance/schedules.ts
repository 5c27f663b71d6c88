import assert from 'node:assert/strict';
import { CronExpressionParser } from 'cron-parser';
import { until } from '../../support/until.ts';
import type { Play } from './station.ts';

const SECONDS = 1000;
const HOURS = 3600 * SECONDS;

export function schedules(play: Play): void {
  play('an interval rings again and again, and keeps its data', async ({ queue, work }) => {
    const rings: unknown[] = [];
    work(async ({ name, data }) => rings.push([name, data]));
    await queue.upsertJobScheduler('tick', { every: 100 }, { name: 'tick', data: { list: 'posts' } });
    await until('three rings', () => rings.length >= 3);
    assert.deepEqual(rings[2], ['tick', { list: 'posts' }]);
  });

  play('said again at every start, it rings no more often', async ({ queue, work }) => {
    let rings = 0;
    work(async () => rings++);
    for (let start = 0; start < 5; start++) {
      await queue.upsertJobScheduler('tick', { every: HOURS }, { name: 'tick' });
      if (start === 0) await until('the first ring', () => rings === 1);
    }
    const last = await queue.add('last', {});
    await until('nothing is left', () => last.isCompleted());
    assert.equal(rings, 2);
    assert.equal((await queue.getJobSchedulers()).length, 1);
  });

  play('changed, it rings in the new rhythm', async ({ queue, work }) => {
    let rings = 0;
    work(async () => rings++);
    await queue.upsertJobScheduler('tick', { every: HOURS }, { name: 'tick' });
    // A worker that still ends the first ring would plan the next one in the old rhythm.
    await until('the next ring is planned', async () => {
      const { active, delayed } = await queue.getJobCounts('active', 'delayed');
      return rings === 1 && active === 0 && delayed === 1;
    });
    // Otherwise BullMQ keeps the offset of the old rhythm, and plans the turn after a missed one by it.
    await queue.removeJobScheduler('tick');
    await queue.upsertJobScheduler('tick', { every: 100 }, { name: 'tick' });
    await until('the next ones', () => rings >= 4);
    assert.deepEqual(
      (await queue.getJobSchedulers()).map(({ key, every }) => [key, every]),
      [['tick', 100]],
    );
  });

  play('a pattern rings at its times of its zone', async ({ queue }) => {
    const pattern = '30 1 * * 1-5';
    for (const tz of ['Pacific/Auckland', 'America/St_Johns'])
      await queue.upsertJobScheduler(tz, { pattern, tz }, { name: 'nightly' });
    for (const tz of ['Pacific/Auckland', 'America/St_Johns']) {
      const next = CronExpressionParser.parse(pattern, { tz }).next().getTime();
      const scheduler = await queue.getJobScheduler(tz);
      assert.deepEqual([scheduler?.pattern, scheduler?.tz, scheduler?.next], [pattern, tz, next]);
    }
    assert.equal(await queue.getDelayedCount(), 2);
  });

  play('a pattern of seconds rings, and not before its time', async ({ queue, work }) => {
    const rang = Promise.withResolvers<number>();
    work(async () => rang.resolve(Date.now()));
    const before = Date.now();
    await queue.upsertJobScheduler('tick', { pattern: '* * * * * *', tz: 'UTC' }, { name: 'tick' });
    assert.ok((await rang.promise) >= Math.ceil(before / SECONDS) * SECONDS);
  });

  play('removed, it rings no more', async ({ queue, work }) => {
    let rings = 0;
    work(async () => rings++);
    await queue.upsertJobScheduler('tick', { every: 100 }, { name: 'tick' });
    await until('it rings', () => rings >= 2);
    assert.equal(await queue.removeJobScheduler('tick'), true);
    // One that was already waiting may still run; then the queue is empty for good.
    await until('nothing is left', async () => {
      const {
        waiting = 0,
        delayed = 0,
        active = 0,
      } = await queue.getJobCounts('waiting', 'delayed', 'active');
      return waiting + delayed + active === 0;
    });
    assert.deepEqual(await queue.getJobSchedulers(), []);
    const before = rings;
    const last = await queue.add('last', {});
    await until('the last has run', () => last.isCompleted());
    assert.equal(rings, before + 1);
  });
}
