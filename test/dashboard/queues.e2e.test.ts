import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Queue } from 'bullmq';
import { createLogger } from '../../src/base/log.ts';
import { Secret } from '../../src/base/secret.ts';
import { addQueues, type JobView, type QueuesAnswer } from '../../src/http/dashboard/queues.ts';
import { openQueueBackend } from '../../src/queue/backend.ts';
import { ask, detailOf } from '../http/client.ts';
import { open, type Running } from '../http/service.ts';
import { folderFor } from '../support/folder.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres, startRedis } from '../support/servers.ts';

/** A queue with one job that waits and one that is planned, and a schedule. */
async function openQueue(t: TestContext, url: string | null): Promise<Queue> {
  const backend = await openQueueBackend({
    url: url === null ? null : new Secret(url),
    dataDir: folderFor(t, 'queues'),
    mirrorId: 'queues',
    log: createLogger({ level: 'silent', format: 'json', secrets: () => [] }),
  });
  t.after(() => backend.close());
  const queue = backend.queue('push');
  await queue.add('push', { outbox: 1 }, { jobId: 'row-1' });
  await queue.add('push', { outbox: 2 }, { jobId: 'row-2', delay: 3_600_000 });
  await queue.upsertJobScheduler('tick', { every: 3_600_000 }, { name: 'tick', data: {} });
  return queue;
}

function serve(t: TestContext, queue: Queue): Promise<Running> {
  return open(t, { parts: [(scope) => addQueues(scope, { queues: Promise.resolve([queue]) })] });
}

async function look(http: Running, state: string): Promise<QueuesAnswer> {
  const { status, body } = await ask(http, `/data/queues?queue=push&state=${state}`);
  assert.equal(status, 200, body);
  return JSON.parse(body) as QueuesAnswer;
}

const idsOf = (jobs: readonly JobView[]): string[] => jobs.map(({ id }) => id);

async function worksOn(t: TestContext, url: string | null): Promise<void> {
  const queue = await openQueue(t, url);
  const http = await serve(t, queue);
  const headers = { 'content-type': 'application/json' };
  const post = (path: string, body: object = {}) =>
    ask(http, `/data/queues/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });

  const { queues } = await look(http, 'planned');
  assert.deepEqual(
    queues.map(({ name, isPaused }) => [name, isPaused]),
    [['push', false]],
  );
  const [counts] = queues.map((one) => one.counts);
  assert.ok((counts?.next ?? 0) >= 1 && (counts?.planned ?? 0) >= 1, JSON.stringify(counts));
  const planned = (await look(http, 'planned')).jobs.find(({ id }) => id === 'row-2');
  assert.deepEqual([planned?.what, planned?.isScheduled], ['Send row 2', false]);
  assert.ok(Date.parse(planned?.at ?? '') > Date.now() + 3_000_000, planned?.at);

  assert.equal((await post('push/pause')).status, 200);
  assert.equal(await queue.isPaused(), true);
  assert.equal((await look(http, 'next')).queues[0]?.isPaused, true);
  assert.ok(
    idsOf((await look(http, 'next')).jobs).includes('row-1'),
    'what waits is shown while it is paused',
  );

  const early = await post('push/jobs/retry', { id: 'row-2' });
  assert.deepEqual([early.status, detailOf(early)], [400, 'The job is delayed by now. Look at it again.']);
  assert.equal((await post('push/jobs/promote', { id: 'row-2' })).status, 200);
  assert.ok(idsOf((await look(http, 'next')).jobs).includes('row-2'));
  assert.equal((await post('push/jobs/remove', { id: 'row-2' })).status, 200);
  assert.equal(await queue.getJob('row-2'), undefined);
  assert.equal((await post('push/jobs/remove', { id: 'row-2' })).status, 404);

  assert.equal((await post('push/resume')).status, 200);
  assert.equal(await queue.isPaused(), false);
  assert.equal((await post('nothing/pause')).status, 400);
}

describe('the queues as a page shows them, on the embedded queue', () => {
  it('shows, pauses, moves and removes jobs', (t) => worksOn(t, null));

  it('takes no request of another site', async (t) => {
    const queue = await openQueue(t, null);
    const http = await serve(t, queue);
    const headers = { origin: 'https://evil.com', 'content-type': 'application/json' };
    const asked = { method: 'POST', headers, body: '{}' } as const;
    assert.equal((await ask(http, '/data/queues/push/pause', asked)).status, 403);
    assert.equal(await queue.isPaused(), false);
  });

  it('does not tell what went wrong inside', async (t) => {
    const queue = await openQueue(t, null);
    const getJobCounts = () => Promise.reject(new Error('connect ECONNREFUSED redis.internal'));
    const http = await serve(t, Object.assign(queue, { getJobCounts }));
    const reply = await ask(http, '/data/queues');
    assert.equal(reply.status, 500);
    assert.match(detailOf(reply), /the log has it as request/);
    assert.doesNotMatch(reply.body, /ECONNREFUSED/);
    assert.match(JSON.stringify(http.lines), /ECONNREFUSED redis\.internal/);
  });
});

describe('the queues as a page shows them, on PostgreSQL', skipUnless('initdb', 'postgres'), () => {
  let postgres: Server;
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres.stop());

  it('shows, pauses, moves and removes jobs', (t) => worksOn(t, postgres.url));
});

describe('the queues as a page shows them, on Redis', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it('shows, pauses, moves and removes jobs', (t) => worksOn(t, redis.url));
});
