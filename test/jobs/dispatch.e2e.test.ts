import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { batchFor, createDispatcher, type Dispatcher, RECONCILE } from '../../jobs/dispatch.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { push } from '../../src/outbox/send/push.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { type Bench, benchFor, HOUR, MINUTE, SETTLE_MS } from '../outbox/bench.ts';
import { unknown } from '../outbox/scripted-upstream.ts';
import { openTarget } from '../queue/target.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';

describe('enqueueing rows of the outbox', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  interface Setup {
    bench: Bench;
    backend: QueueBackend;
    gate: ReturnType<typeof createRateLimit>;
    dispatcher: Dispatcher;
    /** Rows in the queue, in the order they will be taken. */
    enqueued(name?: string): Promise<number[]>;
  }
  const open = async (t: TestContext, perMinute = 60): Promise<Setup> => {
    const bench = benchFor(t);
    const backend = await openTarget({ url: redis.url, dataDir: '/nowhere', mirrorId: randomUUID() });
    t.after(() => backend.close());
    const { store: outbox, clock } = bench;
    const gate = createRateLimit(clock);
    const settings = { pushPerMinute: perMinute, pushSettle: SETTLE_MS };
    const dispatcher = createDispatcher({
      app: { outbox, gate, clock, settings },
      backend,
      forgetMs: 20_000,
    });
    const enqueued = async (name = 'push') =>
      (await backend.queue(name).getJobs(['waiting'], 0, -1, true)).map(({ data }) => data.outbox as number);
    return { bench, backend, gate, dispatcher, enqueued };
  };

  it('enqueues what is due, once, with nothing but the id', async (t) => {
    const { bench, backend, dispatcher, enqueued } = await open(t);
    const ids = [await bench.add({ title: 'One' }), await bench.add({ title: 'Two' })];
    assert.equal(await dispatcher.look(), 2);
    assert.equal(await dispatcher.look(), 0);
    assert.deepEqual(await enqueued(), ids);
    const [job] = await backend.queue('push').getWaiting();
    assert.deepEqual(Object.keys(job?.data), ['outbox']);
    const third = await bench.add({ title: 'Three' });
    assert.equal(await dispatcher.look(), 1);
    assert.deepEqual(await enqueued(), [...ids, third]);
  });

  it('enqueues again what the queue has lost, after a while, and nothing twice that it has not', async (t) => {
    const { bench, backend, dispatcher, enqueued } = await open(t);
    const ids = [await bench.add({ title: 'One' }), await bench.add({ title: 'Two' })];
    await dispatcher.look();
    await backend.queue('push').obliterate({ force: true });
    assert.equal(await dispatcher.look(), 0, 'it believes that they are there');
    bench.clock.advance(20_000);
    assert.equal(await dispatcher.look(), 2);
    bench.clock.advance(20_000);
    await dispatcher.look();
    assert.deepEqual(await enqueued(), ids);
  });

  it('enqueues a limited number however many wait, and more when those are through', async (t) => {
    const { bench, dispatcher, enqueued } = await open(t);
    for (let n = 0; n < 50; n++) await bench.add({ title: `Wish ${n}` });
    assert.equal(await dispatcher.look(), batchFor(60, 20_000));
    assert.equal(await dispatcher.look(), 0);
    assert.equal(dispatcher.isLow(), false);
    const first = await enqueued();
    for (const id of first.slice(0, 10)) {
      await push(bench.context, id);
      dispatcher.ended(id);
    }
    assert.equal(dispatcher.isLow(), true);
    assert.equal(await dispatcher.look(), 10);
  });

  it('enqueues rows that waited for their time before those that were never tried', async (t) => {
    const { bench, dispatcher, enqueued } = await open(t);
    const ids: number[] = [];
    for (let n = 0; n < 3; n++) ids.push(await bench.add({ title: `Wish ${n}` }));
    bench.upstream.outcomes = [{ outcome: 'not-sent', reason: 'refused' }];
    await push(bench.context, ids[2] ?? 0);
    bench.clock.advance(MINUTE);
    await dispatcher.look();
    assert.deepEqual(await enqueued(), [ids[2], ids[0], ids[1]]);
  });

  it('leaves out a row while a row with the same words is being sent, and enqueues the rows after it', async (t) => {
    const { bench, dispatcher, enqueued } = await open(t);
    const [first, twin, other] = [
      await bench.add(),
      await bench.add(),
      await bench.add({ title: 'Another' }),
    ];
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, first);
    await dispatcher.look();
    assert.deepEqual(await enqueued(), [other]);
    assert.ok((dispatcher.nextAt() ?? 0) > bench.clock.now(), 'there is a time to come back');
    bench.clock.advance(HOUR);
    await dispatcher.look();
    assert.deepEqual(await enqueued('reconcile'), [RECONCILE]);
    assert.ok(!(await enqueued()).includes(twin));
  });

  it('takes the rows of a paused import out of the queue, also those that another process enqueued', async (t) => {
    const { bench, backend, gate, dispatcher, enqueued } = await open(t);
    for (let n = 0; n < 5; n++) await bench.add({ title: `Big ${n}` }, 'big');
    const small = await bench.add({ title: 'Small' }, 'small');
    await dispatcher.look();
    bench.store.pauseBatch('big', bench.clock.now());
    const settings = { pushPerMinute: 60, pushSettle: SETTLE_MS };
    const app = { outbox: bench.store, gate, clock: bench.clock, settings };
    await createDispatcher({ app, backend, forgetMs: 20_000 }).look();
    assert.deepEqual(await enqueued(), [small]);
    await dispatcher.look();
    bench.store.resumeBatch('big', bench.clock.now());
    assert.equal(await dispatcher.look(), 5);
  });

  it('takes the rows of a refused board out of the queue, and comes back to them', async (t) => {
    const { bench, dispatcher, enqueued } = await open(t);
    const ideas = [await bench.add(), await bench.add({ title: 'Light mode' })];
    const bugs = await bench.add({ board: 'bugs' });
    await dispatcher.look();
    bench.upstream.outcomes = [{ outcome: 'unauthorised', httpStatus: 403, reason: 'not here' }];
    await push(bench.context, ideas[0] ?? 0);
    await dispatcher.look();
    assert.deepEqual(await enqueued(), [bugs]);
    const at = dispatcher.nextAt() ?? 0;
    assert.equal(at, bench.clock.now() + MINUTE / 2);
    bench.clock.advance(MINUTE / 2);
    await dispatcher.look();
    assert.ok((await enqueued()).includes(ideas[1] ?? 0));
  });

  it('enqueues nothing while sending is paused or the upstream wants no calls', async (t) => {
    const { bench, gate, dispatcher } = await open(t);
    await bench.add();
    await bench.store.setPaused('the token');
    assert.equal(await dispatcher.look(), 0);
    await bench.store.setPaused(null);
    gate.closeUntil(bench.clock.now() + MINUTE);
    assert.equal(await dispatcher.look(), 0);
    assert.equal(dispatcher.nextAt(), bench.clock.now() + MINUTE);
    bench.clock.advance(MINUTE);
    assert.equal(await dispatcher.look(), 1);
  });
});

describe('how many rows are in the queue at a time', () => {
  it('is the number that is sent until rows are enqueued again, between 10 and 300', () => {
    assert.equal(batchFor(1, 20_000), 10);
    assert.equal(batchFor(60, 20_000), 20);
    assert.equal(batchFor(600, 20_000), 200);
    assert.equal(batchFor(1_000_000, 20_000), 300);
  });
});
