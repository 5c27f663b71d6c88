import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Queue } from 'bullmq';
import { createSqliteBackend } from '../src/index.ts';
import { HOUR, MINUTE, queueFor, SECOND, START } from './queue.ts';

describe('the getters of a queue', () => {
  it('count and list jobs of each state, from either end and in pages', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await add(id);
      await ours.take();
    }
    for (const id of ['a', 'b', 'c']) {
      await ours.complete(id);
      tick(SECOND);
    }
    await ours.fail('d');
    for (const id of ['w1', 'w2', 'w3']) await add(id);
    await add('p1', { priority: 2 });
    await add('p2', { priority: 2 });
    await add('late', { delay: HOUR });
    await add('soon', { delay: MINUTE });
    assert.deepEqual(
      await queue.getJobCounts('waiting', 'active', 'delayed', 'completed', 'failed', 'prioritized'),
      { waiting: 3, active: 1, delayed: 2, completed: 3, failed: 1, prioritized: 2 },
    );
    const ids = (jobs: { id?: string | undefined }[]) => jobs.map(({ id }) => id);
    assert.deepEqual(ids(await queue.getWaiting()), ['w1', 'w2', 'w3']);
    assert.deepEqual(ids(await queue.getWaiting(1, 1)), ['w2']);
    assert.deepEqual(ids(await queue.getDelayed()), ['soon', 'late']);
    assert.deepEqual(ids(await queue.getCompleted(0, 1)), ['c', 'b']);
    assert.deepEqual(ids(await queue.getJobs(['completed'], 0, 1, true)), ['a', 'b']);
    assert.deepEqual(ids(await queue.getJobs(['completed'], 2, 5, true)), ['c']);
    assert.deepEqual(ids(await queue.getPrioritized()), ['p1', 'p2']);
    assert.deepEqual(await queue.getCountsPerPriority([0, 2, 3]), { 0: 3, 2: 2, 3: 0 });
    assert.deepEqual(await ours.backend.getCounts(['delayed', 'completed'], START + HOUR), [1, 3]);
    assert.deepEqual(
      [await queue.getJobState('p1'), await queue.getJobState('w1'), await queue.getJobState('no')],
      ['prioritized', 'waiting', 'unknown'],
    );
    const failed = await queue.getJob('d');
    assert.deepEqual([await failed?.isFailed(), await failed?.isCompleted()], [true, false]);
    assert.deepEqual(await ours.backend.isFinished('d', true), [2, 'why']);
    assert.deepEqual(await ours.backend.isFinished('a', true), [1, '{"ok":true}']);
    assert.deepEqual(
      [await ours.backend.isFinished('e', false), await ours.backend.isFinished('no', false)],
      [0, -1],
    );
    const running = await queue.getJob('e');
    assert.deepEqual(
      [running?.processedOn, running?.processedBy, running?.attemptsStarted],
      [START, 'ours', 1],
    );
  });

  it('give the data, progress and last log lines of a job', async (t) => {
    const { queue, worker, add } = queueFor(t);
    const ours = worker('ours');
    await add('a');
    const job = await queue.getJob('a');
    assert.ok(job);
    await job.updateData({ list: 'posts' });
    await job.updateProgress({ rows: 7 });
    const after = await queue.getJob('a');
    assert.deepEqual([after?.data, after?.progress], [{ list: 'posts' }, { rows: 7 }]);
    for (const line of ['one', 'two', 'three']) assert.ok((await queue.addJobLog('a', line)) > 0);
    assert.deepEqual(await queue.getJobLogs('a'), { logs: ['one', 'two', 'three'], count: 3 });
    assert.deepEqual((await queue.getJobLogs('a', 0, 1, false)).logs, ['three', 'two']);
    assert.deepEqual((await queue.getJobLogs('a', -2, -1)).logs, ['two', 'three']);
    assert.equal(await queue.addJobLog('a', 'four', 2), 2);
    assert.deepEqual((await queue.getJobLogs('a')).logs, ['three', 'four']);
    await job.clearLogs(1);
    assert.deepEqual((await queue.getJobLogs('a')).logs, ['four']);
    await job.clearLogs();
    assert.deepEqual(await queue.getJobLogs('a'), { logs: [], count: 0 });
    await queue.remove('a');
    await assert.rejects(job.updateData({}), /Missing key/);
    await assert.rejects(ours.backend.updateProgress('a', 1), /Missing key/);
    await assert.rejects(queue.addJobLog('a', 'five'), /Missing key/);
  });

  it('give the settings of the queue itself', async (t) => {
    const { queue, worker } = queueFor(t);
    const { backend } = worker('ours');
    await queue.pause();
    assert.deepEqual([await queue.isPaused(), await backend.hasQueueMetaField('paused')], [true, true]);
    await queue.resume();
    assert.equal(await queue.isPaused(), false);
    await queue.setGlobalConcurrency(4);
    assert.equal(await queue.getGlobalConcurrency(), 4);
    assert.deepEqual(await backend.getQueueMetaFields(['concurrency', 'other']), ['4', null]);
    await queue.removeGlobalConcurrency();
    assert.equal(await queue.getGlobalConcurrency(), null);
  });
});

describe('events', () => {
  it('are read in order from the position of a listener, and the oldest are trimmed', async (t) => {
    const { worker, add } = queueFor(t);
    const { backend, take, complete, fail } = worker('ours');
    const events = async (from: string) => {
      const [[, entries] = ['', []]] = (await backend.readEvents(from, 1)) ?? [];
      return entries.map(([id, fields]) => [id, fields[1], fields[3]]);
    };
    await add('a');
    await take();
    await complete('a');
    assert.deepEqual(await events('0'), [
      ['1', 'added', 'a'],
      ['2', 'waiting', 'a'],
      ['3', 'active', 'a'],
      ['4', 'completed', 'a'],
      ['5', 'drained', undefined],
    ]);
    assert.equal(await backend.readEvents('$', 1), null, 'nothing since');
    assert.equal(await backend.trimEvents(1), 4);
    assert.deepEqual(await events('0'), [['5', 'drained', undefined]]);
    await backend.trimEvents(0);
    await add('b');
    await add('c');
    await take();
    await fail('b');
    assert.deepEqual(
      (await events('5')).map(([id, event]) => [id, event]),
      [
        ['6', 'added'],
        ['7', 'waiting'],
        ['8', 'added'],
        ['9', 'waiting'],
        ['10', 'active'],
        ['11', 'failed'],
        ['12', 'retries-exhausted'],
      ],
      'counted on, and not drained while a job waits',
    );
  });

  it('beyond maxLen are trimmed from time to time', async (t) => {
    const { queue, worker } = queueFor(t);
    const { backend } = worker('ours');
    await queue.waitUntilReady();
    await backend.setQueueMeta({ 'opts.maxLenEvents': 10 });
    for (let n = 0; n < 256; n++) await backend.publishEvent({ event: 'progress', n }, 0);
    const [[, entries] = ['', []]] = (await backend.readEvents('0', 1)) ?? [];
    assert.deepEqual([entries.length, entries.at(-1)?.[0]], [10, '256']);
    assert.equal(await queue.getWaitingCount(), 0);
  });
});

describe('cleaning a queue', () => {
  it('removes jobs of the state that are old enough, and none of a scheduler', async (t) => {
    const { queue, worker, add, tick } = queueFor(t);
    const ours = worker('ours');
    for (const id of ['a', 'b', 'c']) {
      await add(id);
      await ours.take();
      await ours.complete(id);
      tick(MINUTE);
    }
    assert.deepEqual(await queue.clean(2 * MINUTE, 1, 'completed'), ['a']);
    assert.deepEqual(await queue.clean(2 * MINUTE, 10, 'completed'), ['b']);
    assert.equal(await queue.getJobState('c'), 'completed');
    await add('long');
    await ours.take();
    tick(HOUR);
    await ours.complete('long');
    assert.deepEqual(await queue.clean(MINUTE, 10, 'completed'), ['c'], 'by when they ended');
    await queue.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    await add('w');
    await add('p', { priority: 1 });
    await add('d', { delay: HOUR });
    assert.deepEqual(await queue.clean(0, 10, 'prioritized'), ['p']);
    assert.deepEqual(await queue.clean(0, 10, 'wait'), ['w']);
    assert.deepEqual(await queue.clean(0, 10, 'delayed'), ['d']);
    await add('w');
    await add('d', { delay: HOUR });
    await queue.drain();
    assert.deepEqual([await queue.getJobState('w'), await queue.getJobState('d')], ['unknown', 'delayed']);
    await queue.drain(true);
    assert.equal(await queue.getJobState('d'), 'unknown');
    assert.equal(await queue.getJobCountByTypes('waiting', 'delayed'), 1, 'that of the schedule');
  });

  it('by obliterate removes all jobs in batches, and the settings of the queue', async (t) => {
    const { queue, worker, add, connection } = queueFor(t);
    const { backend } = worker('ours');
    await assert.rejects(backend.obliterate({ count: 10, force: true }), /non-paused/);
    for (const id of ['a', 'b', 'c']) await add(id);
    await queue.add('numbered', {});
    await add('late', { delay: HOUR, deduplication: { id: 'list', ttl: HOUR } });
    await queue.pause();
    assert.equal(await backend.obliterate({ count: 3, force: false }), 1);
    assert.equal(await queue.getJobCountByTypes('waiting', 'delayed'), 2);
    await queue.rateLimit(HOUR);
    assert.equal(await backend.obliterate({ count: 3, force: false }), 0);
    assert.deepEqual([await queue.getWaitingCount(), await queue.isPaused()], [0, false]);
    assert.equal(await queue.getRateLimitTtl(), -2);
    assert.equal(await queue.getDeduplicationJobId('list'), null);
    assert.equal((await queue.add('numbered', {})).id, '1', 'its numbers begin anew');
    const other = new Queue('other', { connection }, createSqliteBackend);
    t.after(() => other.close());
    assert.equal((await other.add('numbered', {})).id, '1', 'each queue has numbers of its own');
  });
});
