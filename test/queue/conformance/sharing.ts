import assert from 'node:assert/strict';
import { codeOf } from '../../../src/base/errors.ts';
import type { QueueBackend } from '../../../src/queue/backend.ts';
import { until } from '../../support/until.ts';
import type { Play, Station } from './station.ts';

const HOUR = 3_600_000;

/** Of a server that several processes share, and that can be away. */
export function sharing(play: Play, server: NonNullable<Station['server']>): void {
  play('two mirrors on one server do not see each other', async ({ station, open }) => {
    const [ours, theirs] = [await open(station.newTarget()), await open(station.newTarget())];
    const [our, their] = [ours.queue('work'), theirs.queue('work')];
    await our.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    await Promise.all([our.add('ours', {}, { jobId: 'row-1' }), their.add('theirs', {}, { jobId: 'row-1' })]);
    const seen: string[] = [];
    theirs.worker('work', async ({ name }) => seen.push(name));
    await until('it has run', async () => (await their.getCompletedCount()) >= 1);
    assert.deepEqual(seen, ['theirs']);
    assert.deepEqual(await their.getJobSchedulers(), []);
    assert.equal(await our.getJobCountByTypes('waiting', 'delayed'), 2);
    await their.obliterate({ force: true });
    assert.equal(await our.getJobCountByTypes('waiting', 'delayed'), 2);
  });

  play(
    'what is added while the server is away is run when it is back, and so is what was running',
    async (scene) => {
      const lines: string[] = [];
      const backend = await scene.open(scene.station.newTarget(), lines);
      const queue = backend.queue('work');
      const started = Promise.withResolvers<void>();
      const finish = Promise.withResolvers<void>();
      const seen: string[] = [];
      backend.worker('work', async ({ name }) => {
        seen.push(name);
        started.resolve();
        if (name === 'running') await finish.promise;
      });
      const running = await queue.add('running', {});
      const delayed = await queue.add('delayed', {}, { delay: 200 });
      await started.promise;
      await server.kill();
      await untilAway(backend);
      const added = Promise.all(['one', 'two', 'three'].map((name) => queue.add(name, {})));
      finish.resolve();
      await until('the trouble is in the log', () => lines.length > 0);
      await server.restart();
      const jobs = [running, delayed, ...(await added)];
      await backend.ping(10_000);
      for (const job of jobs) await until(`${job.name} is done`, () => job.isCompleted());
      assert.deepEqual(new Set(seen), new Set(['running', 'delayed', 'one', 'two', 'three']));
      assert.ok(lines.length < 10, `one trouble, ${lines.length} lines`);
    },
  );

  play('closed while the server is away, it is closed soon, and what waited fails', async (scene) => {
    const backend = await scene.open(scene.station.newTarget());
    const queue = backend.queue('work');
    const worker = backend.worker('work', async () => undefined);
    await worker.waitUntilReady();
    await server.kill();
    await untilAway(backend);
    try {
      const pending = assert.rejects(queue.add('never', {}));
      await backend.close();
      await pending;
    } finally {
      await server.restart();
    }
  });
}

/** The sessions of a PostgreSQL that was killed may answer for a moment longer than the server does. */
async function untilAway(backend: QueueBackend): Promise<void> {
  const isAway = (error: unknown): boolean => codeOf(error) === 'unreachable';
  await until('the server is away', () => backend.ping(500).then(() => false, isAway));
}
