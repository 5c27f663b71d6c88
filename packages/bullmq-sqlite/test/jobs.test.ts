import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JobsOptions, Queue } from 'bullmq';
import { createSqliteBackend } from '../src/index.ts';
import { HOUR, MINUTE, queueFor, SECOND, START } from './queue.ts';

const LOCKED = { lockDuration: 30 * SECOND, stalledInterval: 5 * SECOND, maxStalledCount: 3 };

describe('a stalled job', () => {
  it('is handed to another worker at the second check after its lock ran out, and its first worker cannot end it', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const [first, second] = [worker('first', LOCKED), worker('second', LOCKED)];
    await add('a');
    assert.equal(await first.take(), 'a');
    assert.deepEqual(await second.backend.moveStalledJobsToWait(), [], 'its lock holds');
    tick(20 * SECOND);
    assert.equal(await first.renew('a'), 1);
    tick(20 * SECOND);
    assert.deepEqual(await second.backend.moveStalledJobsToWait(), [], 'it was renewed');
    tick(11 * SECOND);
    assert.deepEqual(await second.backend.moveStalledJobsToWait(), ['a']);
    assert.equal(await first.renew('a'), 0, 'nobody has it');
    assert.equal(await second.take(), 'a');
    assert.equal(await first.renew('a'), 0, 'another has it');
    for (const late of [first.complete, first.fail, first.again, (id: string) => first.putOff(id, MINUTE)])
      await assert.rejects(late('a'), /Lock mismatch/);
    await first.handBack('a');
    assert.equal(await queue.getJobState('a'), 'active');
    tick(31 * SECOND);
    assert.deepEqual(await first.backend.moveStalledJobsToWait(), [], 'it was handed out anew');
    await second.complete('a');
    assert.equal(await queue.getJobState('a'), 'completed');
    await assert.rejects(first.complete('a'), /not in the active state/);
  });

  it('has a whole stalledInterval to renew its lock, and all workers together check once in it', async (t) => {
    const { worker, add, tick } = queueFor(t);
    const [first, second, third] = ['first', 'second', 'third'].map((name) => worker(name, LOCKED));
    assert.ok(first && second && third);
    await add('a');
    await first.take();
    tick(31 * SECOND);
    assert.deepEqual(await second.backend.moveStalledJobsToWait(), [], 'the first look at it');
    assert.deepEqual(await third.backend.moveStalledJobsToWait(), [], 'another has just looked');
    tick(4 * SECOND);
    assert.deepEqual(await third.backend.moveStalledJobsToWait(), []);
    tick(SECOND);
    assert.deepEqual(await third.backend.moveStalledJobsToWait(), ['a']);
  });

  it('is checked at once where the clock was set back', async (t) => {
    const { worker, add, setBack } = queueFor(t);
    const [first, second] = [worker('first', LOCKED), worker('second', LOCKED)];
    await add('a');
    await first.take();
    await second.backend.moveStalledJobsToWait();
    setBack(HOUR);
    assert.deepEqual(await second.backend.moveStalledJobsToWait(), ['a']);
  });

  it('fails when it stalled more often than maxStalledCount', async (t) => {
    const { worker, add, tick } = queueFor(t);
    const settings = { ...LOCKED, maxStalledCount: 1 };
    const dying = worker('dying', settings);
    await add('a');
    const reasons: unknown[] = [];
    for (let death = 0; death < 3; death++) {
      const [job] = await dying.backend.moveToActive('dying', 'dying');
      reasons.push(job.deferredFailure);
      tick(31 * SECOND);
      await dying.backend.moveStalledJobsToWait();
      tick(5 * SECOND);
      await dying.backend.moveStalledJobsToWait();
    }
    assert.deepEqual(reasons, [undefined, undefined, 'job stalled more than allowable limit']);
  });
});

describe('a lock', () => {
  it('lasts for the lockDuration of its worker, and is renewed for jobs that the worker still has', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours', { ...LOCKED, lockDuration: MINUTE });
    for (const id of ['a', 'b']) await add(id);
    await ours.take();
    await ours.take();
    tick(MINUTE - SECOND);
    assert.equal(await queue.remove('a'), 0);
    assert.deepEqual(await ours.backend.extendLocks(['a', 'b', 'c'], ['ours', 'other', 'ours'], MINUTE), [
      'b',
      'c',
    ]);
    tick(2 * SECOND);
    assert.deepEqual([await queue.remove('a'), await queue.remove('b')], [0, 1]);
  });

  it('that runs out again and again never fails the job of a scheduler', async (t) => {
    const { queue, worker, tick } = queueFor(t);
    const dying = worker('dying', { ...LOCKED, maxStalledCount: 0 });
    await queue.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    for (let death = 0; death < 3; death++) {
      const [job] = await dying.backend.moveToActive('dying', 'dying');
      assert.equal(job.deferredFailure, undefined);
      for (const ms of [31 * SECOND, 5 * SECOND]) {
        tick(ms);
        await dying.backend.moveStalledJobsToWait();
      }
    }
  });
});

describe('a job that is tried again', () => {
  it('comes back after its delay, and only a failure counts as an attempt', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    await add('a');
    await ours.take();
    await ours.backend.moveToDelayed('a', Date.now(), MINUTE, 'ours', {
      fieldsToUpdate: { failedReason: 'why', stacktrace: '["where"]' },
    });
    assert.deepEqual(await ours.waits(), { limitedFor: 0, delayedUntil: START + MINUTE });
    const { attemptsMade, failedReason, stacktrace } = (await queue.getJob('a')) ?? {};
    assert.deepEqual([attemptsMade, failedReason, stacktrace], [1, 'why', ['where']]);
    tick(MINUTE);
    assert.equal(await ours.take(), 'a');
    const fieldsToUpdate = { failedReason: 'another' };
    await ours.backend.moveToDelayed('a', Date.now(), MINUTE, 'ours', { skipAttempt: true, fieldsToUpdate });
    const after = await queue.getJob('a');
    assert.deepEqual([after?.attemptsMade, after?.failedReason], [1, 'another']);
    tick(MINUTE);
    await ours.take();
    await ours.again('a');
    assert.deepEqual([(await queue.getJob('a'))?.attemptsMade, await queue.getJobState('a')], [2, 'waiting']);
    await ours.take();
    await ours.handBack('a');
    assert.deepEqual([(await queue.getJob('a'))?.attemptsMade, await queue.getJobState('a')], [2, 'waiting']);
    await ours.take();
    await ours.putOff('a', MINUTE);
    assert.equal(await queue.remove('a'), 1, 'nobody has it while it waits for its time');
  });

  it('at once comes after waiting jobs and after delayed jobs that are due', async (t) => {
    const { worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    await add('first');
    await add('second');
    await add('due', { delay: MINUTE });
    assert.equal(await ours.take(), 'first');
    tick(MINUTE);
    await ours.again('first');
    assert.deepEqual([await ours.take(), await ours.take(), await ours.take()], ['second', 'due', 'first']);
  });

  it('waits for its delay, and runs at once when it is promoted or its delay is set to 0', async (t) => {
    const { queue, worker, add } = queueFor(t);
    const ours = worker('ours');
    await add('later', { delay: HOUR });
    await add('other', { delay: HOUR });
    assert.equal(await ours.take(), '');
    await (await queue.getJob('later'))?.promote();
    assert.equal((await queue.getJob('later'))?.delay, 0);
    assert.equal(await ours.take(), 'later');
    await (await queue.getJob('other'))?.changeDelay(MINUTE);
    assert.deepEqual(await ours.waits(), { limitedFor: 0, delayedUntil: START + MINUTE });
    await (await queue.getJob('other'))?.changeDelay(0);
    assert.equal(await ours.take(), 'other');
    await assert.rejects((await queue.getJob('other'))?.promote() ?? Promise.resolve(), /not in the delayed/);
  });
});

describe('the next job of a queue', () => {
  it('is the one with the smallest priority number, then the one that was added first', async (t) => {
    const { queue, worker, add } = queueFor(t);
    const ours = worker('ours');
    await add('low', { priority: 5 });
    await add('first');
    await add('high', { priority: 1 });
    await add('second');
    assert.deepEqual(await queue.getRanges(['waiting'], 0, -1), ['second', 'first']);
    const order = [await ours.take(), await ours.take(), await ours.take(), await ours.take()];
    assert.deepEqual(order, ['first', 'second', 'high', 'low']);
  });

  it('is withheld when the limiter is used up, until its window is over', async (t) => {
    const { worker, add, tick } = queueFor(t);
    const ours = worker('ours', { limiter: { max: 2, duration: MINUTE } });
    for (const id of ['a', 'b', 'c', 'd', 'e']) await add(id);
    assert.equal(await ours.take(), 'a');
    tick(10 * SECOND);
    assert.equal(await ours.take(), 'b');
    assert.deepEqual(await ours.waits(), { limitedFor: 50 * SECOND, delayedUntil: 0 });
    tick(50 * SECOND);
    assert.deepEqual([await ours.take(), await ours.take()], ['c', 'd']);
    assert.deepEqual(await ours.waits(), { limitedFor: MINUTE, delayedUntil: 0 });
  });

  it('is withheld while a rate limit is set, and the worker learns for how long', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours', { limiter: { max: 1000, duration: MINUTE } });
    await add('a');
    await queue.rateLimit(MINUTE);
    assert.deepEqual(await ours.waits(), { limitedFor: MINUTE, delayedUntil: 0 });
    tick(20 * SECOND);
    assert.equal(await queue.getRateLimitTtl(), 40 * SECOND);
    tick(40 * SECOND);
    assert.equal(await queue.getRateLimitTtl(), -2);
    assert.equal(await ours.take(), 'a');
  });

  it('obeys the limiter of the queue before that of the worker', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours', { limiter: { max: 5, duration: MINUTE } });
    await queue.setGlobalRateLimit(1, HOUR);
    for (const id of ['a', 'b']) await add(id);
    assert.equal(await ours.take(), 'a');
    assert.deepEqual(await ours.waits(), { limitedFor: MINUTE, delayedUntil: 0 });
    assert.equal(await queue.getRateLimitTtl(), MINUTE);
    assert.equal(await queue.getRateLimitTtl(2), 0);
    await queue.removeRateLimitKey();
    assert.equal(await ours.take(), 'b');
    tick(MINUTE);
    assert.equal(await queue.getRateLimitTtl(), 0);
  });

  it('is a job that was handed back or added LIFO, and a job with a changed priority comes after its equals', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    await add('a');
    await add('b');
    await add('c', { priority: 3 });
    await add('d', { priority: 3 });
    await add('first', { lifo: true });
    assert.deepEqual([await ours.take(), await ours.take()], ['first', 'a']);
    await ours.handBack('a');
    await ours.backend.retryJob('first', true, 'ours');
    assert.deepEqual([await ours.take(), await ours.take(), await ours.take()], ['first', 'b', 'a']);
    assert.equal(await ours.take(), 'c');
    await ours.handBack('c');
    assert.equal(await ours.take(), 'c', 'before those of its priority');
    await ours.handBack('c');
    await (await queue.getJob('c'))?.changePriority({ priority: 3 });
    assert.deepEqual([await ours.take(), await ours.take()], ['d', 'c']);
    await add('first due', { delay: MINUTE });
    await add('second due', { delay: MINUTE });
    await (await queue.getJob('first due'))?.changePriority({ priority: 0 });
    tick(MINUTE);
    assert.deepEqual([await ours.take(), await ours.take()], ['first due', 'second due']);
  });

  it('is the delayed job that is due first, also where the clock was set back', async (t) => {
    const { worker, add, tick, setBack } = queueFor(t);
    const ours = worker('ours');
    await add('later', { delay: 2 * MINUTE });
    await add('sooner', { delay: MINUTE });
    tick(2 * MINUTE);
    assert.deepEqual([await ours.take(), await ours.take()], ['sooner', 'later']);
    await add('ahead', { delay: MINUTE });
    setBack(HOUR);
    assert.equal(await ours.take(), 'ahead', 'nobody knows how long it has waited');
  });

  it('is withheld while the queue is paused or its global concurrency is reached', async (t) => {
    const { queue, worker, add } = queueFor(t);
    const ours = worker('ours');
    for (const id of ['a', 'b']) await add(id);
    await queue.pause();
    assert.equal(await ours.take(), '');
    await queue.resume();
    await queue.setGlobalConcurrency(1);
    assert.deepEqual([await ours.take(), await ours.take()], ['a', '']);
    assert.equal(await queue.isMaxed(), true);
    await ours.complete('a');
    assert.equal(await ours.take(), 'b');
  });
});

describe('a worker that waits', () => {
  it('is woken when a job is added, becomes due earlier, or concurrency is free, and for nothing else', async (t) => {
    const { queue, worker, add } = queueFor(t);
    const [ours, other] = [worker('ours'), worker('other')];
    const woken: string[] = [];
    const wait = async (what: string): Promise<void> => {
      await ours.backend.waitForJob(3600);
      woken.push(what);
    };
    const turn = () => new Promise((next) => setImmediate(next));
    await add('later', { delay: HOUR });
    let waiting = wait('its delay was taken back');
    await turn();
    await other.backend.publishEvent({ event: 'progress' }, 0);
    await turn();
    assert.deepEqual(woken, []);
    await (await queue.getJob('later'))?.changeDelay(SECOND);
    await waiting;
    await (await queue.getJob('later'))?.promote();
    assert.equal(await other.take(), 'later');
    await queue.setGlobalConcurrency(1);
    await add('next');
    waiting = wait('a place is free');
    await turn();
    await turn();
    assert.equal(woken.length, 1, 'it may not be taken while the other runs');
    await other.complete('later');
    await waiting;
    assert.deepEqual(woken, ['its delay was taken back', 'a place is free']);
  });
});

describe('a job that has ended', () => {
  it('is kept with its result by the age and count of removeOnComplete and removeOnFail', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    const end = async (id: string, keep: boolean | number | { age?: number; count?: number }) => {
      await add(id);
      await ours.take();
      await ours.complete(id, keep);
      tick(MINUTE);
    };
    const kept = async () => (await queue.getCompleted()).map(({ id }) => id);
    for (const id of ['a', 'b', 'c']) await end(id, false);
    assert.deepEqual(await kept(), ['c', 'b', 'a']);
    await end('d', 3);
    assert.deepEqual(await kept(), ['d', 'c', 'b'], 'the newest three');
    await add('waiting', { priority: 9 });
    await end('e', { age: 120 });
    assert.equal(await queue.getJobState('waiting'), 'prioritized', 'only what has ended grows old');
    assert.deepEqual(await kept(), ['e', 'd'], 'those of the last two minutes');
    await end('f', true);
    assert.deepEqual(await kept(), ['e', 'd'], 'that one only');
    assert.equal(await queue.getJobState('f'), 'unknown');
    assert.deepEqual((await queue.getJob('e'))?.returnvalue, { ok: true });
    await add('bad');
    await ours.take();
    await ours.fail('bad');
    const { failedReason, attemptsMade, finishedOn } = (await queue.getJob('bad')) ?? {};
    assert.deepEqual([failedReason, attemptsMade, finishedOn], ['why', 1, Date.now()]);
    assert.deepEqual(await kept(), ['e', 'd'], 'a failed one removes no completed ones');
  });

  it('is kept as one of the last by count also where several ended in one moment', async (t) => {
    const { queue, worker, add } = queueFor(t);
    const ours = worker('ours');
    for (const id of ['a', 'b', 'c']) {
      await add(id);
      await ours.take();
      await ours.complete(id, 2);
    }
    assert.deepEqual(
      (await queue.getCompleted()).map(({ id }) => id),
      ['c', 'b'],
    );
    await add('d');
    await ours.take();
    await ours.complete('d', 0);
    assert.deepEqual(await queue.getCompleted(), []);
  });

  it('is counted in the metrics of its minute, and minutes without a job count 0', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours', { metrics: { maxDataPoints: 3 } });
    const end = async (id: string): Promise<void> => {
      await add(id);
      await ours.take();
      await ours.complete(id);
    };
    const counted = async () => {
      const { data, meta, count } = await queue.getMetrics('completed');
      return { data: data.map(Number), total: Number(meta.count), count };
    };
    tick(50 * SECOND);
    await end('a');
    await end('b');
    tick(20 * SECOND);
    await end('c');
    assert.deepEqual(await counted(), { data: [2], total: 3, count: 1 }, 'the clock is in another minute');
    tick(2 * MINUTE);
    await end('d');
    assert.deepEqual(await counted(), { data: [0, 1, 2], total: 4, count: 3 });
    tick(MINUTE);
    await end('e');
    assert.deepEqual(await counted(), { data: [1, 0, 1], total: 5, count: 3 }, 'no more than were asked for');
    assert.deepEqual((await queue.getMetrics('failed')).data, []);
    assert.deepEqual((await queue.getMetrics('completed', 1, 1)).data.map(Number), [0]);
  });

  it('is retried with its attempts reset or kept, alone or with all failed jobs', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    for (const id of ['a', 'b', 'c']) {
      await add(id);
      await ours.take();
      await ours.fail(id);
      tick(MINUTE);
    }
    await add('d');
    await (await queue.getJob('a'))?.retry('failed');
    const { attemptsMade, failedReason, finishedOn } = (await queue.getJob('a')) ?? {};
    assert.deepEqual([attemptsMade, failedReason, finishedOn], [1, undefined, undefined]);
    assert.deepEqual([await ours.take(), await ours.take()], ['d', 'a']);
    await ours.fail('a');
    await (await queue.getJob('a'))?.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
    const reset = await queue.getJob('a');
    assert.deepEqual([reset?.attemptsMade, reset?.attemptsStarted], [0, 0]);
    await assert.rejects((await queue.getJob('a'))?.retry('failed') ?? Promise.resolve(), /failed state/);
    assert.equal(await ours.backend.retryFinishedJobs('failed', 10, START + MINUTE), 1, 'those until then');
    assert.equal(await queue.getJobState('c'), 'failed');
    await queue.retryJobs({ state: 'failed' });
    assert.deepEqual([await ours.take(), await ours.take(), await ours.take()], ['a', 'b', 'c']);
    assert.equal((await queue.getJob('b'))?.attemptsMade, 0);
  });

  it('can be added under the same id again only once it is removed', async (t) => {
    const { queue, worker, add } = queueFor(t);
    const ours = worker('ours');
    await add('a');
    await ours.take();
    await ours.complete('a');
    await add('a');
    assert.equal(await ours.take(), '', 'its result is still kept');
    await queue.remove('a');
    await add('a');
    assert.equal(await ours.take(), 'a');
  });
});

describe('a job that is removed', () => {
  it('stays while a worker has its lock, and is removed once the lock ran out', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours', LOCKED);
    await add('a');
    await add('b');
    await ours.take();
    assert.deepEqual([await queue.remove('a'), await queue.remove('b'), await queue.remove('c')], [0, 1, 0]);
    tick(31 * SECOND);
    assert.equal(await queue.remove('a'), 1);
    assert.equal(await queue.getJobState('a'), 'unknown');
  });

  it('frees its deduplication key, and none of another queue', async (t) => {
    const { queue, worker, add } = queueFor(t);
    await queue.add('one', {}, { jobId: 'one', deduplication: { id: 'list' } });
    await queue.add('two', {}, { jobId: 'two', deduplication: { id: 'list' } });
    assert.deepEqual(await queue.getRanges(['waiting'], 0, -1), ['one']);
    assert.equal(await queue.getDeduplicationJobId('list'), 'one');
    await queue.remove('one');
    assert.equal(await queue.getDeduplicationJobId('list'), null);
    await queue.add('two', {}, { jobId: 'two', deduplication: { id: 'list' } });
    await queue.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    const ours = worker('ours');
    assert.equal(await ours.take(), 'two');
    const { file } = queue.opts.connection as { file: string };
    const other = new Queue('other', { connection: { file } }, createSqliteBackend);
    t.after(() => other.close());
    await other.add('theirs', {}, { jobId: 'theirs' });
    await assert.rejects(queue.obliterate(), /active jobs/);
    await queue.obliterate({ force: true });
    assert.deepEqual(await queue.getJobSchedulers(), []);
    assert.deepEqual(await queue.getJobCounts('waiting', 'active', 'delayed'), {
      waiting: 0,
      active: 0,
      delayed: 0,
    });
    assert.deepEqual(await other.getRanges(['waiting'], 0, -1), ['theirs']);
    await queue.resume();
    await add('a');
    assert.equal(await ours.take(), 'a');
  });
});

describe('a job scheduler', () => {
  const plan = (queue: Queue, every: number) =>
    queue.upsertJobScheduler('tick', { every }, { name: 'tick', data: { list: 'posts' } });
  const nextOf = async (queue: Queue) => (await queue.getJobScheduler('tick'))?.next;
  /** Takes the job of the turn, as a worker does: the one after it is planned before it is run. */
  const turn = async ({ queue, worker }: ReturnType<typeof queueFor>): Promise<string> => {
    const ours = worker('ours');
    const id = await ours.take();
    if (id === '') return id;
    const { name, opts } = (await queue.getJob(id)) as { name: string; opts: JobsOptions };
    await ours.backend.updateJobSchedulerNextMillis('tick', 0, '{}', opts, id);
    assert.equal(name, 'tick');
    await ours.complete(id, true);
    return id;
  };

  it('runs at once, then an interval later, and counts from now where a run was missed', async (t) => {
    const bench = queueFor(t);
    const queue = bench.queue as unknown as Queue;
    await plan(queue, HOUR);
    assert.equal(await turn(bench), `repeat:tick:${START}`);
    assert.equal(await nextOf(queue), START + HOUR);
    assert.equal(await turn(bench), '', 'not before its time');
    bench.tick(HOUR);
    assert.equal(await turn(bench), `repeat:tick:${START + HOUR}`);
    bench.tick(5 * HOUR + MINUTE);
    assert.equal(await turn(bench), `repeat:tick:${START + 2 * HOUR}`);
    assert.equal(await nextOf(queue), START + 7 * HOUR);
    assert.equal(await queue.getJobCountByTypes('waiting', 'delayed'), 1);
  });

  it('keeps its next run when it is upserted unchanged, and gets another with another interval', async (t) => {
    const bench = queueFor(t);
    const queue = bench.queue as unknown as Queue;
    await plan(queue, HOUR);
    await turn(bench);
    bench.tick(MINUTE);
    await plan(queue, HOUR);
    assert.equal(await nextOf(queue), START + HOUR);
    await plan(queue, 2 * HOUR);
    assert.equal(await nextOf(queue), START + MINUTE);
    assert.equal(await queue.getJobCountByTypes('waiting', 'delayed'), 1, 'the job of the old turn is gone');
    const { every, template } = (await queue.getJobScheduler('tick')) ?? {};
    assert.deepEqual([Number(every), template?.data], [2 * HOUR, { list: 'posts' }]);
  });

  it('adds one job for each run, also while the job before it is active', async (t) => {
    const bench = queueFor(t);
    const queue = bench.queue as unknown as Queue;
    await plan(queue, HOUR);
    const ours = bench.worker('ours');
    const id = await ours.take();
    const options = (await queue.getJob(id))?.opts ?? {};
    const planned = await ours.backend.updateJobSchedulerNextMillis('tick', 0, '{}', options, id);
    assert.equal(planned, `repeat:tick:${START + HOUR}`);
    assert.equal(await ours.backend.updateJobSchedulerNextMillis('tick', 0, '{}', options, id), null);
    assert.equal(await queue.getDelayedCount(), 1);
    assert.equal((await queue.getJob(planned ?? ''))?.data.list, 'posts');
  });

  it('that is removed removes its delayed job, and leaves a waiting one', async (t) => {
    const bench = queueFor(t);
    const queue = bench.queue as unknown as Queue;
    await plan(queue, HOUR);
    assert.equal(await queue.removeJobScheduler('tick'), true);
    assert.equal(await queue.getWaitingCount(), 1);
    await plan(queue, HOUR);
    await assert.rejects(queue.remove(`repeat:tick:${START + HOUR}`), /belongs to a job scheduler/);
    assert.equal(await queue.removeJobScheduler('tick'), true);
    assert.equal(await queue.removeJobScheduler('tick'), false);
    assert.equal(await queue.getDelayedCount(), 0);
  });
});

describe('a deduplicated job', () => {
  it('is not added until the first one has ended, or for its ttl', async (t) => {
    const { queue, worker, tick } = queueFor(t);
    const ours = worker('ours');
    const add = async (id: string, ttl?: number) =>
      (await queue.add(id, {}, { jobId: id, deduplication: { id: 'list', ...(ttl && { ttl }) } })).id;
    assert.deepEqual([await add('a'), await add('b')], ['a', 'a']);
    await ours.take();
    assert.equal(await add('b'), 'a');
    await ours.complete('a');
    assert.equal(await add('b', MINUTE), 'b');
    await ours.take();
    await ours.complete('b');
    tick(MINUTE - 1);
    assert.equal(await add('c', MINUTE), 'b', 'for a minute, done or not');
    tick(1);
    assert.equal(await add('c', MINUTE), 'c');
  });

  it('replaces a delayed job, or extends its delay, with replace and extend', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    const first = { id: 'list', ttl: MINUTE };
    const key = () => queue.getDeduplicationJobId('list');
    await add('a', { delay: HOUR, deduplication: first });
    tick(MINUTE / 2);
    await add('b', { delay: HOUR, deduplication: { ...first, replace: true } });
    assert.deepEqual([await queue.getJobState('a'), await key()], ['unknown', 'b']);
    tick(MINUTE / 2);
    assert.equal(await key(), null, 'for no longer than the first asked for');
    await add('c', { delay: HOUR, deduplication: first });
    tick(MINUTE / 2);
    await add('d', { delay: HOUR, deduplication: { ...first, replace: true, extend: true } });
    tick(MINUTE / 2);
    assert.equal(await key(), 'd', 'for longer, where that is asked for');
    tick(MINUTE / 2);
    await add('e', { deduplication: first });
    await add('f', { deduplication: { ...first, replace: true } });
    assert.deepEqual(
      [await key(), await queue.getJobState('f')],
      ['e', 'unknown'],
      'one that waits for a worker stays',
    );
    assert.equal(await ours.take(), 'e');
    const put = { id: 'put', reschedule: true };
    await add('g', { delay: MINUTE, deduplication: put });
    tick(MINUTE / 2);
    await add('h', { delay: MINUTE, deduplication: put });
    assert.equal((await queue.getJob('g'))?.delay, MINUTE);
    tick(MINUTE / 2);
    assert.equal(await ours.take(), '', 'its time began anew');
    tick(MINUTE / 2);
    assert.equal(await ours.take(), 'g');
  });

  it('extends the ttl of the key only with extend', async (t) => {
    const { queue, add, tick } = queueFor(t);
    const key = () => queue.getDeduplicationJobId('list');
    await add('a', { deduplication: { id: 'list', ttl: MINUTE } });
    tick(MINUTE / 2);
    await add('b', { deduplication: { id: 'list', ttl: MINUTE } });
    tick(MINUTE / 2);
    assert.equal(await key(), null);
    await add('c', { deduplication: { id: 'list', ttl: MINUTE } });
    tick(MINUTE / 2);
    await add('d', { deduplication: { id: 'list', ttl: MINUTE, extend: true } });
    tick(MINUTE / 2);
    assert.equal(await key(), 'c');
  });

  it('is added when the active one ends with keepLastIfActive, and only the last one', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    const deduplication = { id: 'list', keepLastIfActive: true, ttl: SECOND };
    await add('a', { deduplication });
    await add('early', { deduplication });
    assert.equal(await ours.take(), 'a');
    tick(MINUTE);
    await add('b', { deduplication, delay: MINUTE });
    await add('c', { deduplication, delay: MINUTE });
    assert.equal(await queue.getJobState('c'), 'unknown');
    tick(MINUTE);
    await ours.complete('a');
    assert.deepEqual(await queue.getRanges(['waiting', 'delayed'], 0, -1), ['c']);
    assert.equal(await queue.getDeduplicationJobId('list'), 'c');
    assert.deepEqual(await ours.waits(), { limitedFor: 0, delayedUntil: Date.now() + MINUTE });
  });

  it('is added where the job of the key is gone, and the end of another job does not free the key', async (t) => {
    const { queue, worker, add } = queueFor(t);
    const ours = worker('ours');
    const deduplication = { id: 'list' };
    await add('a', { deduplication });
    await queue.drain();
    await add('b', { deduplication });
    assert.equal(await ours.take(), 'b');
    await queue.removeDeduplicationKey('list');
    await add('c', { deduplication });
    await ours.complete('b');
    assert.equal(
      await queue.getDeduplicationJobId('list'),
      'c',
      'it is no longer the key of the one that ended',
    );
    await queue.remove('b');
    assert.equal(await queue.getDeduplicationJobId('list'), 'c');
    assert.equal(await (await queue.getJob('b'))?.removeDeduplicationKey(), undefined);
    assert.equal(await (await queue.getJob('c'))?.removeDeduplicationKey(), true);
    assert.equal(await queue.getDeduplicationJobId('list'), null);
  });
});
