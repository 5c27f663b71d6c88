import assert from 'node:assert/strict';
import { once } from 'node:events';
import { until } from '../../support/until.ts';
import { startChild } from '../child.ts';
import type { Play, Station } from './station.ts';

const HOUR = 3_600_000;

/** Several processes, several queues, many jobs, and a clock that is not to be trusted. */
export function company(play: Play, { server }: Station): void {
  play('two processes share the jobs, and each job is run by one of them', async ({ station, open }) => {
    const target = station.newTarget();
    const backend = await open(target);
    const queue = backend.queue('work');
    const runs = new Map<unknown, number>();
    const count = async ({ id }: { id?: string | undefined }, process: string): Promise<string> => {
      runs.set(id, (runs.get(id) ?? 0) + 1);
      return process;
    };
    const child = startChild(target, 'pid');
    try {
      await child.busy;
      // Neither is to be done before the other has begun.
      backend.worker('work', (job) => new Promise((done) => setTimeout(() => done(count(job, 'here')), 20)));
      await queue.addBulk(Array.from({ length: 60 }, (_, n) => ({ name: 'n', data: n })));
      await until('all are done', async () => (await queue.getCompletedCount()) >= 61);
    } finally {
      await child.kill();
    }
    const done = await queue.getCompleted();
    const here = done.filter(({ returnvalue }) => returnvalue === 'here');
    assert.ok(here.length > 0 && here.length < 60, `${here.length} of 60 here`);
    assert.deepEqual([here.length, new Set(runs.values())], [runs.size, new Set([1])]);
  });

  play('a worker that waits hears of a job from another process', async ({ station, open }) => {
    const target = station.newTarget();
    const queue = (await open(target)).queue('work');
    const child = startChild(target, 'pid');
    try {
      await child.busy;
      // The bench measures how soon.
      const job = await queue.add('now', {});
      await until('it is done', () => job.isCompleted());
    } finally {
      await child.kill();
    }
  });

  play('a long queue holds up neither another queue nor its own counts', async ({ station, open }) => {
    const backend = await open(station.newTarget());
    const [long, short] = [backend.queue('long'), backend.queue('short')];
    const many = server ? 5000 : 20_000;
    const jobs = Array.from({ length: 5000 }, (_, n) => ({ name: 'n', data: n }));
    for (let added = 0; added < many; added += jobs.length) await long.addBulk(jobs);
    assert.equal(await long.getWaitingCount(), many);
    const first = Promise.withResolvers<unknown>();
    const worker = backend.worker('long', async ({ data }) => first.resolve(data));
    const ran = Promise.withResolvers<void>();
    backend.worker('short', async () => ran.resolve());
    await short.add('n', {});
    await ran.promise;
    assert.equal(await first.promise, 0);
    assert.ok((await long.getWaitingCount()) > 0);
    await worker.close();
  });

  play('workers of one queue take turns', async ({ queue, work }) => {
    const runs = [0, 0];
    const workers = runs.map((_, n) =>
      work(async () => {
        runs[n] = (runs[n] ?? 0) + 1;
      }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'drained')));
    for (let n = 0; n < 40; n++) {
      const job = await queue.add('n', n);
      await until('it is done', () => job.isCompleted());
    }
    assert.ok(Math.min(...runs) > 0, `${runs.join(' and ')}`);
  });

  play('with the clock set back, jobs go on being run', async ({ t, queue, work }) => {
    await queue.add('later', {}, { delay: HOUR });
    const runs: string[] = [];
    work(async ({ name }) => runs.push(name));
    await queue.add('before', {});
    await until('the first has run', () => runs.includes('before'));
    const now = Date.now.bind(Date);
    t.mock.method(Date, 'now', () => now() - HOUR);
    await queue.add('after', {});
    await queue.add('soon', {}, { delay: 100 });
    await until('both have run', () => runs.includes('after') && runs.includes('soon'));
  });
}
