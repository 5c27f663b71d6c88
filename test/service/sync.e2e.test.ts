import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { hasSwept, openFixture, type RunningService } from './fixture.ts';

describe('keeping the mirror fresh through the queue', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  const open = (t: Parameters<typeof openFixture>[0], options = {}) =>
    openFixture(t, { queueUrl: redis.url, ...options });
  const sweepsOf = async ({ app }: Pick<RunningService, 'app'>) =>
    (await app.store.status()).runs.filter(({ mode, outcome }) => mode === 'sweep' && outcome === 'complete');

  it('reads everything at the start where that is due, and not where it is not', async (t) => {
    const fixture = await open(t);
    const first = await fixture.start();
    await until('the first sweeps', () => hasSwept(first));
    await first.close();
    const second = await fixture.start();
    await until('a tick', async () => (await second.progress()).lastTickAt !== null);
    assert.equal((await sweepsOf(second)).length, 2, 'the mirror is fresh');
    await second.close();
    const third = await fixture.start({ SYNC_SWEEP_EVERY: '1s' });
    await until('sweeps that are due', async () => (await sweepsOf(third)).length >= 4);
  });

  it('reads the lists again and again as the settings say', async (t) => {
    const fixture = await open(t);
    const service = await fixture.start({ SYNC_SWEEP_EVERY: '1s', SYNC_HEAD_EVERY: 'off' });
    await until('three rounds', async () => (await sweepsOf(service)).length >= 6);
    const runs = (await service.app.store.status()).runs;
    assert.ok(runs.every(({ mode }) => mode === 'sweep'));
  });

  it('reads them by a cron pattern', async (t) => {
    const fixture = await open(t);
    const service = await fixture.start({ SYNC_SWEEP_CRON: '*/2 * * * * *', TZ: 'Europe/Berlin' });
    await until('a second round', async () => (await sweepsOf(service)).length >= 4);
    const { pattern, tz } =
      (await service.backend.queue('sync-posts').getJobScheduler('sync-sweep-posts')) ?? {};
    assert.deepEqual([pattern, tz], ['*/2 * * * * *', 'Europe/Berlin']);
  });

  it('looks at the newest rows in between', async (t) => {
    const fixture = await open(t);
    const service = await fixture.start({ SYNC_HEAD_EVERY: '1s' });
    const heads = async () =>
      (await service.app.store.status()).runs.filter(
        ({ mode, resource }) => mode === 'head' && resource === 'posts',
      );
    await until(
      'two looks',
      async () => (await heads()).filter(({ outcome }) => outcome === 'complete').length >= 2,
    );
  });

  it('has one pass of a list at a time, however many services there are', async (t) => {
    const fixture = await open(t, { sandbox: { posts: 30, faults: 'latency ms=30 on=lists' } });
    const env = { SYNC_SWEEP_EVERY: '1s', SYNC_HEAD_EVERY: '1s' };
    const [service] = await Promise.all([fixture.start(env), fixture.start(env)]);
    await until('three rounds', async () => (await sweepsOf(service)).length >= 6);
    const runs = (await fixture.app.store.status()).runs;
    const sorted = runs.filter(({ resource }) => resource === 'posts').sort((a, b) => a.id - b.id);
    for (const [n, run] of sorted.entries()) {
      const next = sorted[n + 1];
      if (next && run.finished_at) assert.ok(run.finished_at <= next.started_at, 'no two passes overlap');
    }
  });

  it('tries a pass that failed again before its next turn', async (t) => {
    const fixture = await open(t, { sandbox: { faults: 'status code=404 on=lists to=2' } });
    const service = await fixture.start();
    await until('the first sweeps', () => hasSwept(service));
    const runs = (await service.app.store.status()).runs;
    assert.ok(runs.some(({ outcome }) => outcome === 'failed'));
  });

  it('tries a pass that failed before a restart at once, however long it was to wait', async (t) => {
    const fixture = await open(t, { sandbox: { faults: 'status code=404 on=lists' } });
    const patient = { firstPassRetry: 3_600_000, lastPassRetry: 3_600_000 };
    const first = await fixture.start({ SYNC_HEAD_EVERY: 'off' }, patient);
    // The sweeps of the start, and those that the new schedules add.
    await until('four failures', async () => {
      const { runs } = await fixture.app.store.status();
      return runs.filter(({ outcome }) => outcome === 'failed').length >= 4;
    });
    await first.close();
    fixture.sandbox.faults.set('');
    const second = await fixture.start({ SYNC_HEAD_EVERY: 'off' }, patient);
    await until('sweeps', () => hasSwept(second));
  });

  it('waits for a list that another process reads', async (t) => {
    const fixture = await open(t);
    const lock = await fixture.app.store.lock('posts');
    assert.ok(lock.ok);
    const service = await fixture.start();
    await until('the comments', () => service.app.state.lastPasses()[2]?.finishedAt !== null);
    await until(
      'a job that waits',
      async () => (await service.backend.queue('sync-posts').getActiveCount()) === 1,
    );
    lock.release();
    await until('the posts', () => hasSwept(service));
  });

  it('resumes a sweep that was interrupted by closing', async (t) => {
    const fixture = await open(t, { sandbox: { posts: 60, faults: 'hang on=posts from=5' } });
    const first = await fixture.start();
    await until(
      'some pages',
      () => fixture.sandbox.requests.filter(({ operation }) => operation === 'listPosts').length >= 5,
    );
    await first.close();
    fixture.sandbox.faults.set('');
    assert.equal(fixture.app.state.lastPasses()[0]?.unfinished, true);
    const second = await fixture.start();
    await until('the sweeps', () => hasSwept(second));
    const posts = (await second.app.store.status()).runs.filter(
      ({ resource, mode }) => resource === 'posts' && mode === 'sweep',
    );
    assert.equal(posts.at(-1)?.outcome, 'complete', 'the sweep that was interrupted was finished');
  });

  it('shows how far it has come', async (t) => {
    const held = Promise.withResolvers<void>();
    const clock = { ...systemClock, sleep: () => held.promise };
    const fixture = await open(t, { sandbox: { posts: 60, faults: 'latency ms=1 on=posts from=4', clock } });
    const service = await fixture.start();
    const list = async () => (await service.progress()).lists.find(({ resource }) => resource === 'posts');
    await until('it is under way', async () => (await list())?.running?.mode === 'sweep');
    const other = await fixture.start();
    const seen = (await other.progress()).lists.find(({ resource }) => resource === 'posts');
    assert.equal(seen?.running?.mode, 'sweep', 'also to the other service');
    held.resolve();
    await until(
      'it is done',
      async () => (await list())?.running === null && (await list())?.lastSweepAt !== null,
    );
    const { sweepDueAt, lastSweepAt } = (await list()) ?? {};
    assert.equal((sweepDueAt ?? 0) - (lastSweepAt ?? 0), 3_600_000);
  });
});
