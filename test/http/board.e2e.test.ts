import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { Queue } from 'bullmq';
import { createLogger } from '../../src/base/log.ts';
import { Secret } from '../../src/base/secret.ts';
import { openQueueBackend } from '../../src/queue/backend.ts';
import { folderFor } from '../support/folder.ts';
import { BROWSER, requireProgram, skipUnless } from '../support/programs.ts';
import { type Server, startPostgres, startRedis } from '../support/servers.ts';
import { ask, detailOf } from './client.ts';
import { open, type Running } from './service.ts';

/** A queue with one job that waits and one that is planned, and a schedule. */
async function openQueue(t: TestContext, url: string | null): Promise<Queue> {
  const backend = await openQueueBackend({
    url: url === null ? null : new Secret(url),
    dataDir: folderFor(t, 'board'),
    mirrorId: 'board',
    log: createLogger({ level: 'silent', format: 'json', secrets: () => [] }),
  });
  t.after(() => backend.close());
  const queue = backend.queue('push');
  await queue.add('push', { outbox: 1 }, { jobId: 'row-1' });
  await queue.add('push', { row: 2 }, { jobId: 'row-2', delay: 3_600_000 });
  await queue.upsertJobScheduler('tick', { every: 3_600_000 }, { name: 'tick', data: {} });
  return queue;
}

interface BoardQueue {
  name: string;
  counts: Record<string, number>;
  isPaused: boolean;
}

async function look(http: Running): Promise<BoardQueue[]> {
  const { status, body } = await ask(http, '/queues/api/queues');
  assert.equal(status, 200);
  return (JSON.parse(body) as { queues: BoardQueue[] }).queues;
}

async function worksOn(t: TestContext, url: string | null): Promise<void> {
  const queue = await openQueue(t, url);
  const http = await open(t, { queues: [queue] });
  const api = '/queues/api/queues/push';
  const [shown] = await look(http);
  assert.equal(shown?.name, 'push');
  assert.equal(shown?.isPaused, false);
  assert.ok((shown?.counts.waiting ?? 0) >= 1 && (shown?.counts.delayed ?? 0) >= 1, JSON.stringify(shown));
  assert.match((await ask(http, `${api}/row-1`)).body, /"outbox":1/);
  assert.match((await ask(http, `${api}/row-1`)).body, /Send row 1/);
  assert.match((await ask(http, '/queues/')).body, /Back to the dashboard/);
  assert.match((await ask(http, '/queues/api/job-schedulers')).body, /tick/);

  const foreign = { origin: 'https://evil.com' };
  assert.equal((await ask(http, `${api}/pause`, { method: 'PUT', headers: foreign })).status, 403);
  assert.equal((await look(http))[0]?.isPaused, false);
  assert.equal(
    (await ask(http, `${api}/pause`, { method: 'PUT', headers: { origin: http.url } })).status,
    200,
  );
  assert.equal(await queue.isPaused(), true);
  assert.ok((await ask(http, `${api}/row-2/promote`, { method: 'PUT' })).status < 300);
  assert.equal(await (await queue.getJob('row-2'))?.isDelayed(), false);

  const json = { 'content-type': 'application/json' };
  const make = (method: string, path: string, body: object) =>
    ask(http, `${api}${path}`, { method, headers: json, body: JSON.stringify(body) });
  for (const [method, path, body] of [
    ['POST', '/add', { name: 'export', data: {}, options: {} }],
    ['PATCH', '/row-1/update-data', { jobData: { row: 3 } }],
    ['PATCH', '/job-schedulers/tick', { every: 1000 }],
  ] as const) {
    const reply = await make(method, path, body);
    assert.equal(reply.status, 403, path);
    assert.match(detailOf(reply), /come from the settings/);
  }
  assert.deepEqual((await queue.getJob('row-1'))?.data, { outbox: 1 });
}

describe('the queue board on the embedded queue', () => {
  it('shows and moves jobs', (t) => worksOn(t, null));
});

describe('the queue board on PostgreSQL', skipUnless('initdb', 'postgres'), () => {
  let postgres: Server;
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres.stop());

  it('shows and moves jobs', (t) => worksOn(t, postgres.url));
});

describe('the queue board on Redis', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it('shows and moves jobs', (t) => worksOn(t, redis.url));

  it('does not tell what went wrong inside', async (t) => {
    const queue = await openQueue(t, redis.url);
    const getJobCounts = () => Promise.reject(new Error('connect ECONNREFUSED redis.internal'));
    const http = await open(t, { queues: [Object.assign(queue, { getJobCounts })] });
    const reply = await ask(http, '/queues/api/queues');
    assert.equal(reply.status, 500);
    assert.match(detailOf(reply), /the log has it as request/);
    assert.doesNotMatch(reply.body, /ECONNREFUSED/);
    assert.match(JSON.stringify(http.lines), /ECONNREFUSED redis\.internal/);
  });

  it('comes to life in a browser, and asks nobody else for anything', skipUnless(BROWSER), async (t) => {
    const queue = await openQueue(t, redis.url);
    const http = await open(t, { queues: [queue] });
    const { page, complaints } = await browse(t, `${http.url}/queues`);
    assert.match(page, /<a[^>]*href="\/queues\/queue\/push"/);
    assert.deepEqual(
      complaints.filter((line) => !/fonts\.googleapis\.com.*blocked/.test(line)),
      [],
    );
    assert.deepEqual(
      http.lines.filter(({ status }) => Number(status) >= 400),
      [],
    );
  });
});

/** The page as it is once its scripts have run, and what the browser did not like about it. */
async function browse(t: TestContext, url: string): Promise<{ page: string; complaints: string[] }> {
  const profile = `--user-data-dir=${folderFor(t, 'board')}`;
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr', profile];
  const look = ['--virtual-time-budget=10000', '--dump-dom', url];
  const { stdout, stderr } = await promisify(execFile)(requireProgram(BROWSER), [...flags, ...look]);
  const complaints = stderr.split('\n').filter((line) => /CONSOLE.*(violates|Refused|Error)/i.test(line));
  return { page: stdout, complaints };
}
