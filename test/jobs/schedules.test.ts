import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DISPATCH_JOB,
  EXPORT_JOB,
  enqueue,
  headJob,
  type JobRequest,
  MAINTENANCE_JOB,
  requestedSweepJob,
  sweepJob,
} from '../../jobs/schedules.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';

describe('a job that is asked for', () => {
  it('is told from others of its queue by its name, its list and the wish', async () => {
    const added: unknown[] = [];
    const add = (queue: string) => async (name: string, data: object, options: object) => {
      added.push([queue, name, data, Reflect.get(options, 'deduplication')]);
    };
    const backend = { queue: (queue: string) => ({ add: add(queue) }) } as unknown as QueueBackend;
    const jobs = [headJob('posts'), sweepJob('posts'), requestedSweepJob('posts', 'now')];
    for (const job of [...jobs, requestedSweepJob('comments', 'accept-deletes'), EXPORT_JOB])
      await enqueue(backend, job);
    const [posts, comments] = [{ resource: 'posts' }, { resource: 'comments' }];
    assert.deepEqual(added, [
      ['sync-posts', 'sync-head', posts, { id: 'sync-head-posts' }],
      ['sync-posts', 'sync-sweep', posts, { id: 'sync-sweep-posts' }],
      ['sync-posts', 'sync-sweep', { ...posts, wish: 'now' }, { id: 'sync-sweep-posts-now' }],
      [
        'sync-comments',
        'sync-sweep',
        { ...comments, wish: 'accept-deletes' },
        { id: 'sync-sweep-comments-accept-deletes' },
      ],
      ['maintenance', 'export', {}, { id: 'export' }],
    ]);
  });

  it('is tried a few times where a person waits for it, and once where it is overdue again anyway', () => {
    const tried = ({ options: { attempts = 1, backoff } }: JobRequest) => [attempts, Object(backoff).delay];
    assert.deepEqual(tried(requestedSweepJob('posts', 'accept-deletes')), [3, 30_000]);
    assert.deepEqual(tried(EXPORT_JOB), [3, 60_000]);
    for (const job of [sweepJob('posts'), headJob('posts'), MAINTENANCE_JOB, DISPATCH_JOB])
      assert.deepEqual(tried(job), [1, undefined], job.name);
  });

  it('is kept for a day, or a week where it failed, and a tick not at all', () => {
    for (const job of [
      sweepJob('posts'),
      headJob('posts'),
      requestedSweepJob('posts', 'now'),
      MAINTENANCE_JOB,
    ]) {
      const { removeOnComplete, removeOnFail } = job.options;
      assert.deepEqual(
        [removeOnComplete, removeOnFail],
        [
          { count: 50, age: 86_400 },
          { count: 100, age: 604_800 },
        ],
      );
    }
    assert.equal(DISPATCH_JOB.options.removeOnComplete, true);
  });
});
