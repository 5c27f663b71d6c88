import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { startSandbox } from '../laboratory/server.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { openFixture } from './fixture.ts';

describe('sending through the queue', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  const open = (t: Parameters<typeof openFixture>[0], options = {}) =>
    openFixture(t, { queueUrl: redis.url, ...options });

  it('sends the rows of the outbox in order, and later rows at once', async (t) => {
    const fixture = await open(t);
    await fixture.add('One', 'Two', 'Three');
    // So rare a tick that only the watching of the file can be the reason.
    await fixture.start({}, { tick: 3_600_000, ensure: 3_600_000 });
    await until('three posts', () => fixture.posted().length >= 3);
    await fixture.add('Four');
    await until('four posts', () => fixture.posted().length >= 4);
    assert.deepEqual(fixture.posted(), ['One', 'Two', 'Three', 'Four']);
  });

  it('has the queue try again what was not sent, at the time the outbox says', async (t) => {
    const fixture = await open(t);
    const { port } = new URL(fixture.sandbox.url);
    const service = await fixture.start({}, { tick: 60_000, ensure: 60_000, watch: 60_000 });
    await until('the first sweeps', () => service.app.state.lastPasses()[0]?.finishedAt !== null);
    await fixture.sandbox.close();
    const [id = 0] = await fixture.add('Late');
    // Enqueued once, by hand: everything after that is the queue's own doing.
    await service.backend.queue('push').add('push', { outbox: id }, ENQUEUED(id));
    await until('a request that did not leave', async () => (await fixture.row(id)).not_before !== null);
    const again = await startSandbox({ posts: 12, port: Number(port) });
    t.after(() => again.close());
    await until('a post', () => again.world.ledger().length >= 1);
    await until('it is confirmed', async () => (await fixture.row(id)).state === 'confirmed');
    assert.deepEqual(
      fixture.app.outbox.attempts(id).map(({ outcome }) => outcome),
      ['confirmed'],
    );
  });

  it('lets every create wait that the upstream asked to wait, also after a restart, and claims nothing meanwhile', async (t) => {
    const fixture = await open(t, { sandbox: { faults: 'throttle on=creates nth=1 retry-after=3' } });
    const [first = 0] = await fixture.add('One', 'Two');
    const service = await fixture.start({ SYNC_HEAD_EVERY: '1s' });
    await until('a refusal', async () => (await fixture.row(first)).not_before !== null);
    const opens = fixture.app.state.closing('creates')?.until ?? 0;
    assert.equal(
      opens,
      Date.parse((await fixture.row(first)).not_before ?? ''),
      'another process knows of it',
    );
    // On the monotonic clock a wait ends a few milliseconds off.
    assert.ok(Math.abs(((await service.progress()).closedUntil ?? opens) - opens) < 1000);
    await service.close();
    await fixture.start({ SYNC_HEAD_EVERY: '1s' });
    await until('a post', () => fixture.posted().length > 0);
    assert.ok(Date.now() >= opens, 'nothing was sent before; reads have a limit of their own');
    await until('two posts', () => fixture.posted().length >= 2);
    assert.deepEqual(
      await Promise.all([first, first + 1].map(async (id) => (await fixture.row(id)).attempts)),
      [2, 1],
    );
  });

  it('pauses for a refused token and resumes when the token is accepted again', async (t) => {
    const fixture = await open(t);
    const service = await fixture.start();
    await until('the first sweeps', () => service.app.state.lastPasses()[0]?.finishedAt !== null);
    fixture.sandbox.revoke('sandbox');
    const [id = 0] = await fixture.add('One', 'Two');
    await until('a pause', async () => (await fixture.app.outbox.paused()) !== null);
    assert.match((await service.progress()).outbox.paused ?? '', /refused the token/);
    fixture.sandbox.allow({ token: 'sandbox', email: 'owner@example.com', name: 'Owner' });
    await until('two posts', () => fixture.posted().length >= 2);
    assert.equal(await fixture.app.outbox.paused(), null);
    assert.equal((await fixture.row(id)).state, 'confirmed');
  });

  it('looks for what is unclear, and sends it once', async (t) => {
    const fixture = await open(t, {
      sandbox: { faults: 'reset-after on=creates nth=1; reset on=creates nth=2' },
      env: { PUSH_SETTLE: '200ms' },
    });
    const ids = await fixture.add('Arrived', 'Lost');
    const service = await fixture.start();
    await until('both are unclear', async () => (await fixture.app.outbox.counts(null)).ambiguous === 2);
    // Their deadlines are half a minute away: what they wait for is brought about by hand. The process that sent them would wait all the same.
    await service.close();
    for (const id of ids)
      await fixture.app.outbox.move(id, TRANSITIONS.recheck, { now: Date.now(), notBefore: Date.now() });
    await fixture.start();
    await until('both are confirmed', async () => (await fixture.app.outbox.counts(null)).confirmed >= 2);
    assert.deepEqual(fixture.posted(), ['Arrived', 'Lost']);
  });

  it('reconciles a row in state sending that no handler of this process sends', async (t) => {
    const fixture = await open(t, { env: { PUSH_SETTLE: '200ms' } });
    await fixture.start();
    // In one go: the service, which runs in this process, has no moment in which to send it.
    const adding = fixture.add('Left behind');
    const now = Date.now();
    fixture.app.outbox.claim({ id: 1, transition: TRANSITIONS.claim, now, deadline: now, listedMaxId: null });
    await adding;
    await until('it is confirmed', async () => (await fixture.row(1)).state === 'confirmed');
    const outcomes = fixture.app.outbox.attempts(1).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['unknown', 'confirmed']);
    assert.deepEqual(fixture.posted(), ['Left behind']);
  });

  it('looks for a row that a sender left behind when it died, before it sends it again', async (t) => {
    const fixture = await open(t, { env: { PUSH_SETTLE: '200ms' } });
    const [id = 0] = await fixture.add('Left behind');
    const now = Date.now();
    fixture.app.outbox.claim({ id, transition: TRANSITIONS.claim, now, deadline: now, listedMaxId: null });
    await fixture.start();
    await until('it is confirmed', async () => (await fixture.row(id)).state === 'confirmed');
    const outcomes = fixture.app.outbox.attempts(id).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['unknown', 'confirmed']);
    assert.deepEqual(fixture.posted(), ['Left behind']);
  });

  it('finishes the cancelling of an import that another process left half way', async (t) => {
    const fixture = await open(t);
    const [id = 0] = await fixture.addTo('left', 'Left');
    fixture.app.outbox.stopBatch('left', Date.now());
    await fixture.start();
    await until('it is cancelled', async () => (await fixture.row(id)).state === 'cancelled');
    assert.deepEqual(fixture.posted(), []);
  });

  it('sends once what the queue hands out twice', async (t) => {
    const fixture = await open(t, { sandbox: { faults: 'latency ms=400 on=creates' } });
    const [id = 0] = await fixture.add('Once');
    const service = await fixture.start({ PUSH_CONCURRENCY: '4' });
    await until('the create is under way', () =>
      fixture.sandbox.requests.some(({ method }) => method === 'POST'),
    );
    for (const twice of ['a', 'b'])
      await service.backend
        .queue('push')
        .add('push', { outbox: id }, { jobId: `twice-${twice}`, attempts: 3 });
    await until('it is confirmed', async () => (await fixture.row(id)).state === 'confirmed');
    const left = async () =>
      (await service.backend.queue('push').getJobCounts('waiting', 'active')) as Record<string, number>;
    await until('the queue is empty', async () => Object.values(await left()).every((n) => n === 0));
    assert.deepEqual(fixture.posted(), ['Once']);
    // Nor is it taken for one that was left on its way, which would make it unclear.
    assert.partialDeepStrictEqual(await fixture.row(id), { attempts: 1, was_ambiguous: false });
  });

  it('sends rows with the same words one after the other, as soon as the one before is answered', async (t) => {
    const fixture = await open(t, { sandbox: { faults: 'latency ms=50 on=creates' } });
    await fixture.add('Same', 'Same', 'Same', 'Same', 'Other');
    // Nothing but the end of a job makes it look for more.
    await fixture.start({ PUSH_CONCURRENCY: '2' }, { tick: 3_600_000, ensure: 3_600_000, watch: 3_600_000 });
    await until('five posts', () => fixture.posted().length >= 5);
    assert.equal(fixture.posted().filter((title) => title === 'Same').length, 4);
  });

  it('begins no attempt before the one before it has ended', async (t) => {
    const fixture = await open(t, { sandbox: { faults: 'latency ms=50 on=creates' } });
    const ids = await fixture.add(...Array.from({ length: 12 }, (_, n) => `Wish ${n}`));
    await fixture.start({ PUSH_PER_MINUTE: '1000000' });
    await until('twelve posts', async () => (await fixture.app.outbox.counts(null)).confirmed >= 12);
    const attempts = ids.flatMap((id) => fixture.app.outbox.attempts(id));
    assert.equal(attempts.length, 12);
    for (const [n, { started_at }] of attempts.entries())
      assert.ok(n === 0 || started_at >= (attempts[n - 1]?.ended_at ?? ''), `attempt ${n} began too early`);
  });

  it('sends at an even pace, in the order of the outbox', async (t) => {
    const fixture = await open(t);
    await fixture.add(...Array.from({ length: 6 }, (_, n) => `Wish ${n}`));
    const service = await fixture.start({ PUSH_PER_MINUTE: '240' });
    await until('six posts', () => fixture.posted().length >= 6);
    const times: number[] = [];
    for (const row of await service.app.outbox.list({ limit: 10 }))
      times.push(Date.parse((await service.app.outbox.attempts(row.id))[0]?.started_at ?? ''));
    const gaps = times.slice(1).map((time, n) => time - (times[n] ?? 0));
    assert.ok(
      gaps.every((gap) => gap > 150),
      `no two at once: ${gaps}`,
    );
    assert.ok(
      (times.at(-1) ?? 0) - (times[0] ?? 0) > 1100,
      'six posts at four a second take more than a second',
    );
  });

  it('is done by one process, and by the next as soon as that one has gone', async (t) => {
    const fixture = await open(t);
    const first = await fixture.start();
    await until('the first one sends', async () => (await first.progress()).outbox.isSender);
    const second = await fixture.start();
    await fixture.add('One');
    await until('a post', () => fixture.posted().length >= 1);
    assert.equal((await second.progress()).outbox.isSender, false);
    await first.close();
    await fixture.add('Two');
    await until('another post', () => fixture.posted().length >= 2);
    assert.equal((await second.progress()).outbox.isSender, true);
  });

  it('is left to a command that sends, and taken up after it', async (t) => {
    const fixture = await open(t);
    const lock = await fixture.app.outbox.lockSender();
    assert.ok(lock.ok);
    const service = await fixture.start();
    await fixture.add('One');
    await until('two ticks', async () => ((await service.progress()).lastTickAt ?? 0) > 0);
    assert.deepEqual(fixture.posted(), []);
    lock.release();
    await until('a post', () => fixture.posted().length >= 1);
  });
});

const ENQUEUED = (id: number) => ({
  jobId: `push-${id}`,
  attempts: 50,
  backoff: { type: 'custom' },
  removeOnComplete: true,
  removeOnFail: true,
});
