import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type JobsOptions, type MinimalJob, Queue } from 'bullmq';
import type { WorkerSettings } from '../../src/queue/backend.ts';
import { createSqliteBackend } from '../../src/queue/sqlite/index.ts';
import { folderFor } from '../support/folder.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-01T00:00:00.000Z');

/** A queue in a file, without workers that run by themselves, on a clock that only moves when told to. */
function queueFor(t: TestContext, name = 'work') {
  t.mock.timers.enable({ apis: ['Date'], now: START });
  const connection = { file: join(folderFor(t, 'queue'), 'queue.db') };
  const queue = new Queue(name, { connection }, createSqliteBackend);
  t.after(() => queue.close());
  return {
    queue,
    /** What a worker asks and tells the queue; its token is its name. */
    worker(token: string, settings: WorkerSettings & { metrics?: { maxDataPoints: number } } = {}) {
      const backend = createSqliteBackend(name, { connection, ...settings }, {});
      t.after(() => backend.close());
      const named = (id: string) => ({ id }) as MinimalJob;
      return {
        backend,
        /** The id of the job that it is handed out, or an empty text. */
        take: async (): Promise<string> => String((await backend.moveToActive(token, token))[1]),
        /** For how long nothing is handed out because of a limit, and until when because nothing is due. */
        async waits() {
          const [job, , limitedFor, delayedUntil] = await backend.moveToActive(token, token);
          assert.equal(job, null);
          return { limitedFor, delayedUntil };
        },
        complete: (id: string, keep: boolean | number | { age?: number; count?: number } = false) =>
          backend.moveToCompleted(named(id), { ok: true }, keep as boolean, token, false),
        fail: (id: string, keep: boolean | number = false) =>
          backend.moveToFailed(named(id), 'why', keep, token, false),
        putOff: (id: string, delay: number) => backend.moveToDelayed(id, Date.now(), delay, token),
        again: (id: string) => backend.retryJob(id, false, token),
        handBack: (id: string) => backend.moveJobFromActiveToWait(id, token),
        renew: (id: string) => backend.extendLock(id, token, 30 * SECOND),
      };
    },
    add: async (id: string, options: JobsOptions = {}) => {
      await queue.add(id, {}, { jobId: id, ...options });
    },
    tick: (ms: number) => t.mock.timers.tick(ms),
    setBack: (ms: number) => t.mock.timers.setTime(Date.now() - ms),
  };
}

const LOCKED = { lockDuration: 30 * SECOND, stalledInterval: 5 * SECOND, maxStalledCount: 3 };

describe('a job of a worker that was thought dead', () => {
  it('is handed out again when its lock has run out, at the second look, and is no longer its own', async (t) => {
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

  it('has a whole interval to renew its lock, of which all workers look once', async (t) => {
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

  it('is looked for at once where the clock was set back', async (t) => {
    const { worker, add, setBack } = queueFor(t);
    const [first, second] = [worker('first', LOCKED), worker('second', LOCKED)];
    await add('a');
    await first.take();
    await second.backend.moveStalledJobsToWait();
    setBack(HOUR);
    assert.deepEqual(await second.backend.moveStalledJobsToWait(), ['a']);
  });

  it('fails when it is handed out once too often', async (t) => {
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

describe('a job that is not done', () => {
  it('comes back after its delay, and counts as tried only where it failed', async (t) => {
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

  it('that is tried again at once comes behind what waits and what is due by now', async (t) => {
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

  it('is not before its time, and goes at once when it is promoted or its delay is taken back', async (t) => {
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

describe('what a queue hands out', () => {
  it('is the least priority number first, then in the order of arrival', async (t) => {
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

  it('is as much as a limiter allows in its window, and then nothing until that is over', async (t) => {
    const { worker, add, tick } = queueFor(t);
    const ours = worker('ours', { limiter: { max: 2, duration: MINUTE } });
    for (const id of ['a', 'b', 'c']) await add(id);
    assert.equal(await ours.take(), 'a');
    tick(10 * SECOND);
    assert.equal(await ours.take(), 'b');
    assert.deepEqual(await ours.waits(), { limitedFor: 50 * SECOND, delayedUntil: 0 });
    tick(50 * SECOND);
    assert.equal(await ours.take(), 'c');
  });

  it('is nothing while a limit was set, is told so, and goes on after it', async (t) => {
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

  it('is nothing while it is paused, and no more than may run at once', async (t) => {
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

describe('a job that has ended', () => {
  it('is kept as long, or as one of as many, as was asked for, and its result with it', async (t) => {
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

  it('may be added again only once it is gone', async (t) => {
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

describe('a job that is to leave the queue', () => {
  it('stays while a worker has it, and is gone where its lock has run out', async (t) => {
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

  it('frees what it kept out, and nothing of another queue', async (t) => {
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

describe('a schedule', () => {
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

  it('begins at once, has its next turn an interval later, and one that was missed is counted from now', async (t) => {
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

  it('said again keeps its next turn, and in another rhythm has one of its own', async (t) => {
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

  it('plans one job for a turn, whoever else still runs the one before', async (t) => {
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

  it('that is removed takes the job of its next turn with it, and leaves one that waits for a worker', async (t) => {
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

describe('jobs that are not to be doubled', () => {
  it('are kept out until the one there has ended, and for as long as was asked for', async (t) => {
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
});
