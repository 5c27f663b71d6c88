import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { QUEUES } from '../../jobs/context.ts';
import { tell } from '../queue/psql.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { hasSwept, openFixture, type RunningService } from './fixture.ts';

describe('a queue that loses everything', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  const flush = async (): Promise<void> => {
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
  };

  it('has its schedules and its rows back without a restart', async (t) => {
    const fixture = await openFixture(t, { queueUrl: redis.url });
    const service = await fixture.start({ PUSH_PER_MINUTE: '120' });
    await until('the first sweeps', () => hasSwept(service));
    await until('the schedules', async () => (await schedulers(service)).length === ALL_SCHEDULES);
    const before = await schedulers(service);
    await fixture.add(...Array.from({ length: 5 }, (_, n) => `Wish ${n}`));
    await until('a post', () => fixture.posted().length >= 1);
    await flush();
    await until('all schedules', async () => (await schedulers(service)).length === before.length);
    assert.deepEqual(await schedulers(service), before);
    await until('every post', () => fixture.posted().length >= 5);
    assert.deepEqual(new Set(fixture.posted()).size, 5);
    const { lastTickAt } = await service.progress();
    await until('ticks again', async () => ((await service.progress()).lastTickAt ?? 0) > (lastTickAt ?? 0));
  });

  it('lets a running sweep finish, and starts no second one', async (t) => {
    const fixture = await openFixture(t, {
      queueUrl: redis.url,
      sandbox: { posts: 30, pageSize: 5, faults: 'latency ms=150 on=lists' },
    });
    const service = await fixture.start();
    await until('a sweep is under way', () => fixture.sandbox.requestCount > 3);
    await flush();
    await until('the first sweeps', () => hasSwept(service));
    await until('schedules again', async () => (await schedulers(service)).length > 0);
    const settled = fixture.sandbox.requestCount;
    const { lastTickAt } = await service.progress();
    await until(
      'two more ticks',
      async () => ((await service.progress()).lastTickAt ?? 0) > (lastTickAt ?? 0) + 900,
    );
    assert.ok(fixture.sandbox.requestCount - settled <= 12, 'heads only');
    const runs = (await fixture.app.store.status()).runs.filter(({ mode }) => mode === 'sweep');
    assert.equal(runs.length, 2);
  });

  it('is reported as away while its server is away, and continues when it is back', async (t) => {
    const fixture = await openFixture(t, { queueUrl: redis.url });
    const service = await fixture.start();
    await until('a tick', async () => (await service.progress()).lastTickAt !== null);
    await redis.kill();
    await until('it says so', async () => !(await service.progress()).queue.reachable);
    await fixture.add('Meanwhile');
    await redis.restart();
    await until('a post', () => fixture.posted().length >= 1);
    await until('it answers', async () => (await service.progress()).queue.reachable);
  });

  it('that is away when the service stops does not keep it from stopping', async (t) => {
    const fixture = await openFixture(t, { queueUrl: redis.url });
    const service = await fixture.start();
    await until('a tick', async () => (await service.progress()).lastTickAt !== null);
    await redis.kill();
    await service.close();
    await redis.restart();
  });
});

describe('a queue on PostgreSQL whose schema is dropped', skipUnless('postgres'), () => {
  it('is created again while the service runs, and no row is lost', async (t) => {
    const server = await startPostgres();
    t.after(() => server.stop());
    const fixture = await openFixture(t, { queueUrl: server.url });
    const service = await fixture.start({ PUSH_PER_MINUTE: '120' });
    await until('the first sweeps', () => hasSwept(service));
    const hasAll = async (): Promise<boolean> => (await schedulers(service)).length === ALL_SCHEDULES;
    await until('the schedules', hasAll);
    await fixture.add(...Array.from({ length: 5 }, (_, n) => `Wish ${n}`));
    await until('a post', () => fixture.posted().length >= 1);
    // Fails while it deadlocks with a query of the queue.
    await until('the schema is gone', () =>
      tell(server.url, 'DROP SCHEMA feedback_mirror_queue CASCADE').then(
        () => true,
        () => false,
      ),
    );
    await until('all schedules', hasAll);
    await until('every post', () => fixture.posted().length >= 5);
    assert.equal(new Set(fixture.posted()).size, 5);
    const { lastTickAt } = await service.progress();
    await until('ticks', async () => ((await service.progress()).lastTickAt ?? 0) > (lastTickAt ?? 0) + 100);
  });
});

describe('a service that starts again', () => {
  it('shows at once that its queue works, however far away the next tick of its schedule is', async (t) => {
    const fixture = await openFixture(t, { queueUrl: null, env: { SYNC_HEAD_EVERY: 'off' } });
    const hasTicked = async (service: RunningService) => (await service.progress()).lastTickAt !== null;
    for (const which of ['first', 'second']) {
      const service = await fixture.start({}, { tick: 3_600_000 });
      await until(`a tick of the ${which} start`, () => hasTicked(service));
      await service.close();
    }
  });
});

/** Dispatch, a head and a sweep of each list, and maintenance. */
const ALL_SCHEDULES = 6;

async function schedulers({ backend }: RunningService): Promise<string[]> {
  const each = QUEUES.map((queue) => backend.queue(queue).getJobSchedulers());
  return (await Promise.all(each))
    .flat()
    .map(({ key }) => key)
    .sort((a, b) => a.localeCompare(b));
}
