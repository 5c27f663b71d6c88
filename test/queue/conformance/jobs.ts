import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { until } from '../../support/until.ts';
import { SELDOM_POLLS } from '../child.ts';
import type { Play } from './station.ts';

export function jobs(play: Play): void {
  play('a job added is run once, with its data, and its result is kept', async ({ queue, work }) => {
    const job = await queue.add('greet', { id: 7 });
    const seen: unknown[] = [];
    work(async ({ name, data }) => {
      seen.push([name, data]);
      return { ok: true };
    });
    await until('the job is done', () => job.isCompleted());
    assert.deepEqual(seen, [['greet', { id: 7 }]]);
    assert.deepEqual((await queue.getJob(job.id ?? ''))?.returnvalue, { ok: true });
  });

  play('a worker that waits hears of a new job at once', async ({ queue, work }) => {
    const worker = work(async () => undefined, SELDOM_POLLS);
    await once(worker, 'drained');
    const job = await queue.add('now', {});
    await until('it has run', () => job.isCompleted());
  });

  play('jobs run in the order in which they were added', async ({ queue, work }) => {
    await queue.addBulk([1, 2, 3, 4, 5].map((n) => ({ name: 'n', data: n })));
    const order: unknown[] = [];
    work(async ({ data }) => order.push(data));
    await until('all have run', () => order.length >= 5);
    assert.deepEqual(order, [1, 2, 3, 4, 5]);
  });

  play('added twice under one id, a job runs once', async ({ queue, work }) => {
    await Promise.all([1, 2, 3].map((n) => queue.add('n', { n }, { jobId: 'row-1' })));
    const last = await queue.add('last', {});
    const runs: string[] = [];
    work(async ({ name }) => runs.push(name));
    await until('the last has run', () => last.isCompleted());
    assert.deepEqual(runs, ['n', 'last']);
  });

  play('a job that ends leaves the deduplication id alone that another one has by then', async (scene) => {
    const { queue, work } = scene;
    const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const worker = work(async () => {
      started.resolve();
      await finish.promise;
    });
    const opts = { deduplication: { id: 'list' } };
    const first = await queue.add('first', {}, opts);
    await started.promise;
    await queue.removeDeduplicationKey('list');
    const second = await queue.add('second', {}, opts);
    const closed = worker.close();
    finish.resolve();
    await closed;
    assert.deepEqual([await first.getState(), await second.getState()], ['completed', 'waiting']);
    assert.equal((await queue.add('third', {}, opts)).id, second.id);
  });

  play('jobs that are kept for a minute are kept when the next one ends', async ({ queue, work }) => {
    work(async () => undefined);
    const opts = { removeOnComplete: { age: 60 } };
    const first = await queue.add('first', {}, opts);
    await until('the first is done', () => first.isCompleted());
    const since = Date.now();
    await until('that is more milliseconds ago', () => Date.now() - since > 100);
    const second = await queue.add('second', {}, opts);
    await until('the second is done', () => second.isCompleted());
    assert.equal(await first.isCompleted(), true);
  });

  play('a delayed job waits for its time', async ({ queue, work }) => {
    const ran = Promise.withResolvers<number>();
    work(async () => ran.resolve(Date.now()));
    const job = await queue.add('later', {}, { delay: 400 });
    assert.ok((await ran.promise) >= job.timestamp + 400);
  });

  play(
    'a job that fails is tried again after the pauses of the strategy, and then given up',
    async ({ queue, work }) => {
      const starts: number[] = [];
      const asked: [number, string | undefined, string | undefined][] = [];
      const fail = async (job: Job): Promise<void> => {
        starts.push(Date.now());
        throw new Error(`attempt ${job.attemptsMade + 1}`);
      };
      work(fail, {
        backoffStrategy: (made, type, error) => {
          asked.push([made, type, error?.message]);
          return made * 150;
        },
      });
      const job = await queue.add('x', {}, { attempts: 3, backoff: { type: 'ours' } });
      await until('it has failed for good', () => job.isFailed());
      assert.deepEqual(asked, [
        [1, 'ours', 'attempt 1'],
        [2, 'ours', 'attempt 2'],
      ]);
      const [first = 0, second = 0, third = 0] = starts;
      assert.equal(starts.length, 3);
      assert.ok(second - first >= 150 && third - second >= 300, `${second - first}, ${third - second}`);
    },
  );

  play(
    'what is deduplicated is not added while one like it waits, runs or waits to be tried again',
    async ({ queue, work }) => {
      const one = { attempts: 2, backoff: { type: 'ours' }, deduplication: { id: 'posts' } };
      const ids: (string | undefined)[] = [];
      const add = async () => ids.push((await queue.add('sync', {}, one)).id);
      await add();
      await add();
      let parallel = 0;
      let most = 0;
      let runs = 0;
      const run = async (): Promise<void> => {
        most = Math.max(most, ++parallel);
        await add();
        await setTimeout(20);
        parallel--;
        if (++runs === 1) throw new Error('once more');
      };
      const first = await queue.getJob(ids[0] ?? '');
      work(run, { concurrency: 4, backoffStrategy: () => 50 });
      await until('the first is done', async () => (await first?.isCompleted()) ?? false);
      assert.deepEqual([new Set(ids).size, runs, most], [1, 2, 1]);
      await add();
      assert.equal(new Set(ids).size, 2);
      await until('the next is done', () => runs >= 3);
    },
  );
}
