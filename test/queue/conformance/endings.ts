import assert from 'node:assert/strict';
import { UnrecoverableError } from 'bullmq';
import { until } from '../../support/until.ts';
import { SHORT_LOCKS, startChild } from '../child.ts';
import type { Play } from './station.ts';

export function endings(play: Play): void {
  play('a job that is cancelled is told so by its signal, and with which reason', async ({ queue, work }) => {
    const started = Promise.withResolvers<AbortSignal>();
    const worker = work(async (_job, _token, signal) => {
      assert.ok(signal);
      started.resolve(signal);
      const aborted = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => aborted.reject(new UnrecoverableError(String(signal.reason))));
      await aborted.promise;
    });
    const job = await queue.add('long', {}, { attempts: 3 });
    const signal = await started.promise;
    assert.equal(signal.aborted, false);
    assert.equal(worker.cancelJob(job.id ?? '', 'no longer wanted'), true);
    await until('it has failed', () => job.isFailed());
    assert.match((await queue.getJob(job.id ?? ''))?.failedReason ?? '', /no longer wanted/);
  });

  play('a worker that is closed ends the job it has, and takes no other', async ({ queue, work }) => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const worker = work(async () => {
      started.resolve();
      await finish.promise;
    });
    const first = await queue.add('first', {});
    await started.promise;
    const second = await queue.add('second', {});
    const closed = worker.close();
    finish.resolve();
    await closed;
    assert.deepEqual([await first.getState(), await second.getState()], ['completed', 'waiting']);
  });

  play(
    'closed under a job that does not end, the backend tells it and is closed soon all the same',
    async (scene) => {
      const backend = await scene.open(scene.station.newTarget());
      const told = Promise.withResolvers<AbortSignal>();
      backend.worker('work', (_job, _token, signal) => {
        if (signal) told.resolve(signal);
        return new Promise(() => undefined);
      });
      await backend.queue('work').add('endless', {});
      const signal = await told.promise;
      await Promise.all([backend.close(), backend.close()]);
      await backend.close();
      assert.equal(signal.aborted, true);
    },
  );

  play('a job whose process was killed is taken over by another', async ({ station, open }) => {
    const target = station.newTarget();
    const backend = await open(target);
    const job = await backend.queue('work').add('heavy', { id: 3 });
    const child = startChild(target);
    try {
      await child.busy;
    } finally {
      await child.kill();
    }
    const seen: unknown[] = [];
    backend.worker('work', async ({ data }) => seen.push(data), SHORT_LOCKS);
    await until(
      'it is done',
      async () => (await backend.queue('work').getJobState(job.id ?? '')) === 'completed',
    );
    assert.deepEqual(seen, [{ id: 3 }]);
  });
}
