import assert from 'node:assert/strict';
import { DelayedError, RateLimitError } from 'bullmq';
import { until } from '../../support/until.ts';
import type { Play } from './station.ts';

export function pacing(play: Play): void {
  play('a limiter lets through so many jobs in a time and no more', async ({ queue, work }) => {
    await queue.addBulk(Array.from({ length: 5 }, () => ({ name: 'n', data: {} })));
    const starts: number[] = [];
    work(async () => starts.push(Date.now()), { concurrency: 5, limiter: { max: 2, duration: 1000 } });
    await until('all have run', () => starts.length >= 5);
    const [first = 0] = starts;
    const last = starts.at(-1) ?? 0;
    // Three windows for five jobs. The first begins before its first job does, on a busy machine a good while before.
    assert.ok(last - first >= 1000, `${last - first} ms`);
  });

  play(
    'a job that meets a closed door holds up the whole queue, and loses no attempt by it',
    async (scene) => {
      const { queue, work } = scene;
      await queue.addBulk(Array.from({ length: 3 }, () => ({ name: 'n', data: {} })));
      const starts: number[] = [];
      const attempts: number[] = [];
      let closedAt = 0;
      work(async ({ attemptsMade }) => {
        starts.push(Date.now());
        if (closedAt > 0) return attempts.push(attemptsMade);
        closedAt = Date.now();
        await queue.rateLimit(500);
        throw new RateLimitError();
      });
      await until('all are done', async () => (await queue.getCompletedCount()) >= 3);
      const [, second = 0] = starts;
      assert.equal(starts.length, 4);
      assert.deepEqual(attempts, [0, 0, 0]);
      assert.ok(second - closedAt >= 480, `${second - closedAt} ms`);
    },
  );

  play('a job that puts itself off comes back later, and loses no attempt by it', async ({ queue, work }) => {
    await queue.add('n', {});
    const attempts: number[] = [];
    work(async (job) => {
      attempts.push(job.attemptsMade);
      if (attempts.length > 1) return;
      await job.moveToDelayed(Date.now() + 10, job.token);
      throw new DelayedError();
    });
    await until('it is done', async () => (await queue.getCompletedCount()) >= 1);
    assert.deepEqual(attempts, [0, 0]);
  });
}
