import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import Database from 'better-sqlite3';
import { Queue, Worker, type WorkerOptions } from 'bullmq';
import fastify from 'fastify';
import { createSqliteBackend, QueueFile } from '../src/index.ts';
import { SHORT_LOCKS, startChild } from './child.ts';
import { fileFor, HOUR } from './queue.ts';

const LIMIT_MS = 30_000;

async function until(fact: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + LIMIT_MS; !(await isSo()); await delay(5))
    assert.ok(performance.now() < end, `waited ${LIMIT_MS / 1000} s in vain until ${fact}`);
}

/** A queue `work` in a new file, with what the file says of itself. */
function open(t: TestContext, path = fileFor(t)) {
  const file = QueueFile.at(path);
  const replaced: string[] = [];
  file.on('replaced', (text: string) => replaced.push(text));
  const connection = { file: path };
  const queue = new Queue('work', { connection }, createSqliteBackend);
  t.after(() => queue.close());
  t.after(() => file.release());
  const work = (run: (job: { name: string }) => unknown, options: Partial<WorkerOptions> = {}): Worker => {
    const settings = { ...options, connection };
    const worker = new Worker('work', async (job) => run(job), settings, createSqliteBackend);
    t.after(() => worker.close());
    return worker as unknown as Worker;
  };
  const runOneJob = async (): Promise<void> => {
    const job = await queue.add('n', {});
    const worker = work(() => undefined);
    await until('the job is completed', () => job.isCompleted());
    await worker.close();
  };
  return { path, file, queue, replaced, work, runOneJob };
}

function database(t: TestContext, path: string): Database.Database {
  const db = new Database(path);
  t.after(() => db.close());
  return db;
}

/** A clock that is an hour ahead until `restore`. */
function clockAhead(t: TestContext) {
  const now = Date.now.bind(Date);
  return t.mock.method(Date, 'now', () => now() + HOUR).mock;
}

describe('a queue file that several processes share', () => {
  it('hands each job to one process', async (t) => {
    const { path, queue, work } = open(t);
    await queue.add('first', {});
    const child = startChild(t, path);
    await child.firstJob;
    const here: string[] = [];
    await queue.addBulk(Array.from({ length: 60 }, (_, n) => ({ name: `n${n}`, data: n })));
    work(async ({ name }) => {
      here.push(name);
      await delay(20);
    });
    await until('all jobs are completed', async () => (await queue.getCompletedCount()) >= 61);
    const there = (await queue.getCompleted()).filter(({ returnvalue }) => returnvalue === child.pid);
    assert.ok(here.length > 0 && there.length > 1, `${here.length} here, ${there.length} there`);
    assert.equal(here.length + there.length, 61);
  });

  it('runs the job of a process that was killed again, and has lost no other', async (t) => {
    const { path, queue, work } = open(t);
    await queue.add('endless', {});
    await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: `n${n}`, data: n })));
    const child = startChild(t, path);
    await child.firstJob;
    await child.kill();
    assert.deepEqual(await queue.getJobCounts('waiting', 'active'), { waiting: 20, active: 1 });
    const ran: string[] = [];
    work(({ name }) => ran.push(name), SHORT_LOCKS);
    await until('all jobs are completed', async () => (await queue.getCompletedCount()) >= 21);
    assert.equal(new Set(ran).size, 21);
  });
});

describe('a queue file', () => {
  it('runs a job again that a clock which was ahead has locked for long', async (t) => {
    const { path, queue, work } = open(t);
    const job = await queue.add('n', {});
    const ahead = Date.now() + HOUR;
    database(t, path)
      .prepare("UPDATE job SET state = 'active', lock_token = 'dead', locked_at = ?, locked_until = ?")
      .run(ahead, ahead + HOUR);
    work(() => undefined, { stalledInterval: 50 });
    await until('the job is completed', () => job.isCompleted());
  });

  it('gives up a job that stalled too often, but never that of a schedule', async (t) => {
    const { path, queue, work } = open(t);
    await queue.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    await queue.add('once', {});
    database(
      t,
      path,
    ).exec(`UPDATE job SET state = 'active', lock_token = 'dead', locked_at = 1, locked_until = 2,
                              stalled_count = 9, is_stall_suspect = 1`);
    const ran: string[] = [];
    work(({ name }) => ran.push(name), { stalledInterval: 50 });
    await until('both have ended', async () => (await queue.getJobCountByTypes('completed', 'failed')) >= 2);
    assert.deepEqual(ran, ['tick']);
    assert.deepEqual(
      (await queue.getFailed()).map(({ name }) => name),
      ['once'],
    );
  });

  it('lets a deduplicated job in when the job it duplicates is gone', async (t) => {
    const { path, queue } = open(t);
    const add = () => queue.add('n', {}, { deduplication: { id: 'one' } });
    await add();
    database(t, path).exec('DELETE FROM job');
    await add();
    await add();
    assert.equal(await queue.count(), 1);
  });

  it('can be read by its owner alone', async (t) => {
    const { path, queue } = open(t);
    await queue.add('n', {});
    const folder = dirname(path);
    const modes = readdirSync(folder).map((name) => [
      name,
      (statSync(join(folder, name)).mode & 0o777).toString(8),
    ]);
    assert.deepEqual(modes, [
      ['queue.db', '600'],
      ['queue.db-shm', '600'],
      ['queue.db-wal', '600'],
    ]);
  });

  it('gives back the space of removed jobs', async (t) => {
    const { path, file, queue, runOneJob } = open(t);
    await queue.addBulk(Array.from({ length: 2000 }, () => ({ name: 'n', data: 'x'.repeat(1000) })));
    await file.vacuum();
    const full = statSync(path).size;
    await queue.drain();
    await file.vacuum();
    assert.ok(statSync(path).size < full / 4);
    await runOneJob();
  });

  it('is moved aside when it is damaged, and a new one takes its place', async (t) => {
    const path = fileFor(t);
    writeFileSync(path, 'this is not a database'.repeat(400));
    const { replaced, runOneJob } = open(t, path);
    await runOneJob();
    assert.equal(globSync(`${path}.broken-*`).length, 1);
    assert.equal(replaced.length, 1);
    assert.match(replaced[0] ?? '', /is damaged .* it is now .*queue\.db\.broken-/);
  });

  it('is replaced when it is damaged while it is open', async (t) => {
    const { path, file, queue, replaced, runOneJob } = open(t);
    await queue.addBulk(Array.from({ length: 200 }, () => ({ name: 'n', data: 'x'.repeat(500) })));
    await file.vacuum();
    // A write of another process makes SQLite read the damaged pages again, instead of those it remembers.
    const other = database(t, path);
    other.prepare('SELECT * FROM counter').all();
    writeFileSync(path, Buffer.alloc(statSync(path).size, 'damage'), { flag: 'r+' });
    other.prepare('UPDATE counter SET value = value + 1').run();
    await until('the damage is noticed', async () => {
      await queue.getJobs(['waiting']).catch(() => undefined);
      return replaced.some((text) => text.includes('is damaged'));
    });
    await runOneJob();
  });

  it('runs what a clock that was ahead has delayed or limited, once it is put right', async (t) => {
    const { queue, work } = open(t);
    const ahead = clockAhead(t);
    const job = await queue.add('later', {}, { delay: 1000 });
    await queue.rateLimit(1000);
    await queue.upsertJobScheduler('tick', { every: 1000 }, { name: 'tick' });
    ahead.restore();
    let ticks = 0;
    work(({ name }) => name === 'tick' && ticks++, { limiter: { max: 1000, duration: 1000 } });
    await until('the job is completed', () => job.isCompleted());
    await until('the schedule goes on', () => ticks > 1);
  });

  it('runs delayed jobs that have become due in the order of their times', async (t) => {
    const { queue, work } = open(t);
    const delays = { late: 2000, early: 1000 };
    await queue.addBulk(Object.entries(delays).map(([name, delay]) => ({ name, data: {}, opts: { delay } })));
    clockAhead(t);
    const ran: string[] = [];
    work(({ name }) => ran.push(name));
    await until('both have run', () => ran.length >= 2);
    assert.deepEqual(ran, ['early', 'late']);
  });
});

describe('around the queues', () => {
  it('bull-board lists a queue with its jobs and schedulers', async (t) => {
    const { queue } = open(t);
    await queue.add('n', {}, { jobId: 'one' });
    await queue.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    const serverAdapter = new FastifyAdapter();
    createBullBoard({ queues: [new BullMQAdapter(queue as unknown as Queue)], serverAdapter });
    const server = fastify();
    t.after(() => server.close());
    await server.register(serverAdapter.registerPlugin());
    const ask = async (path: string): Promise<string> => (await server.inject(path)).body;
    assert.match(await ask('/api/queues'), /"name":"work"/);
    assert.match(await ask('/api/queues/work/one'), /"id":"one"/);
    assert.match(await ask('/api/job-schedulers'), /tick/);
  });

  it('the example runs its two jobs and ends, in 20 lines', (t) => {
    const example = join(import.meta.dirname, '../example.ts');
    assert.equal(readFileSync(example, 'utf8').trimEnd().split('\n').length, 20);
    const said = execFileSync(process.execPath, [example, fileFor(t)], { encoding: 'utf8' });
    assert.equal(said, 'welcome: sent to ann@example.com\nreminder: sent to bob@example.com\n');
  });
});
