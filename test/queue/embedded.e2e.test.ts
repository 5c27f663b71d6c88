import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { until } from '../support/until.ts';
import { startChild } from './child.ts';
import { onFolder } from './conformance/on-folder.ts';
import { queueConformance } from './conformance.ts';
import { openTarget, type Target } from './target.ts';

const HOUR = 3_600_000;

describe('a queue in the data folder', () => {
  const station = onFolder();
  queueConformance(station);

  const open = async (t: TestContext, target: Target, lines?: string[]): Promise<QueueBackend> => {
    const backend = await openTarget(target, lines);
    t.after(() => backend.close());
    return backend;
  };

  const runsOneJob = async (backend: QueueBackend): Promise<void> => {
    const job = await backend.queue('work').add('n', {});
    const worker = backend.worker('work', async () => undefined);
    await until('it is done', () => job.isCompleted());
    await worker.close();
  };

  it('has everything that was added after its process was killed', async (t) => {
    const target = station.newTarget();
    const queue = (await open(t, target)).queue('work');
    await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: 'n', data: n })));
    const child = startChild(target);
    try {
      await child.busy;
    } finally {
      await child.kill();
    }
    assert.deepEqual(await queue.getJobCounts('waiting', 'active'), { waiting: 19, active: 1 });
  });

  it('runs a job again that a clock which was ahead has locked for long', async (t) => {
    const target = station.newTarget();
    const backend = await open(t, target);
    const job = await backend.queue('work').add('n', {});
    const file = new Database(join(target.dataDir, 'queue.db'));
    t.after(() => file.close());
    const ahead = Date.now() + HOUR;
    file
      .prepare("UPDATE job SET state = 'active', lock_token = 'dead', locked_at = ?, locked_until = ?")
      .run(ahead, ahead + HOUR);
    const worker = backend.worker('work', async () => undefined, { stalledInterval: 50 });
    t.after(() => worker.close());
    await until('it is done', () => job.isCompleted());
  });

  it('gives up a job that stalled too often, but never that of a schedule', async (t) => {
    const target = station.newTarget();
    const backend = await open(t, target);
    const queue = backend.queue('work');
    await queue.upsertJobScheduler('tick', { every: HOUR }, { name: 'tick' });
    await queue.add('once', {});
    const file = new Database(join(target.dataDir, 'queue.db'));
    t.after(() => file.close());
    file.exec(`UPDATE job SET state = 'active', lock_token = 'dead', locked_at = 1, locked_until = 2, stalled_count = 9,
                              is_stall_suspect = 1`);
    const ran: string[] = [];
    const worker = backend.worker('work', async ({ name }) => ran.push(name), { stalledInterval: 50 });
    t.after(() => worker.close());
    await until('both have ended', async () => (await queue.getJobCountByTypes('completed', 'failed')) === 2);
    assert.deepEqual(ran, ['tick']);
    assert.deepEqual(
      (await queue.getFailed()).map(({ name }) => name),
      ['once'],
    );
  });

  it('holds back nothing for a job that is gone', async (t) => {
    const target = station.newTarget();
    const queue = (await open(t, target)).queue('work');
    const add = () => queue.add('n', {}, { deduplication: { id: 'one' } });
    await add();
    const file = new Database(join(target.dataDir, 'queue.db'));
    t.after(() => file.close());
    file.exec('DELETE FROM job');
    await add();
    await add();
    assert.equal(await queue.count(), 1);
  });

  it('is for its owner alone', async (t) => {
    const target = station.newTarget();
    const backend = await open(t, target);
    await backend.queue('work').add('n', {});
    const modes = readdirSync(target.dataDir).map((name) => [
      name,
      (statSync(join(target.dataDir, name)).mode & 0o777).toString(8),
    ]);
    assert.deepEqual(modes, [
      ['queue.db', '600'],
      ['queue.db-shm', '600'],
      ['queue.db-wal', '600'],
    ]);
  });

  it('goes on after its maintenance, and gives back the space of jobs that are gone', async (t) => {
    const target = station.newTarget();
    const backend = await open(t, target);
    const queue = backend.queue('work');
    await queue.addBulk(Array.from({ length: 2000 }, () => ({ name: 'n', data: 'x'.repeat(1000) })));
    await backend.upkeep();
    const full = statSync(join(target.dataDir, 'queue.db')).size;
    await queue.drain();
    await backend.upkeep();
    assert.ok(statSync(join(target.dataDir, 'queue.db')).size < full / 4);
    await runsOneJob(backend);
  });

  it('takes a new file when the old one is damaged, keeps that aside and says so', async (t) => {
    const target = station.newTarget();
    mkdirSync(target.dataDir);
    writeFileSync(
      join(target.dataDir, 'queue.db'),
      'this is no database, whatever its name says'.repeat(200),
    );
    const lines: string[] = [];
    await runsOneJob(await open(t, target, lines));
    assert.equal(globSync(join(target.dataDir, 'queue.db.broken-*')).length, 1);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /is damaged .* it is now .*queue\.db\.broken-/);
  });

  it('gets over damage while it runs', async (t) => {
    const target = station.newTarget();
    const lines: string[] = [];
    const backend = await open(t, target, lines);
    const queue = backend.queue('work');
    await queue.addBulk(Array.from({ length: 200 }, () => ({ name: 'n', data: 'x'.repeat(500) })));
    await backend.upkeep();
    const file = join(target.dataDir, 'queue.db');
    // Another process whose write makes SQLite read the damaged pages again, instead of those it remembers.
    const other = new Database(file);
    t.after(() => other.close());
    other.prepare('SELECT * FROM counter').all();
    writeFileSync(file, Buffer.alloc(statSync(file).size, 'damage'), { flag: 'r+' });
    other.prepare(`UPDATE counter SET value = value + 1`).run();
    await until('it has noticed', async () => {
      await queue.getJobs(['waiting']).catch(() => undefined);
      return lines.some((line) => line.includes('is damaged'));
    });
    await runsOneJob(backend);
  });

  it('runs what a clock that was ahead has delayed or limited, once it is put right', async (t) => {
    const backend = await open(t, station.newTarget());
    const queue = backend.queue('work');
    const now = Date.now.bind(Date);
    const ahead = t.mock.method(Date, 'now', () => now() + HOUR);
    const job = await queue.add('later', {}, { delay: 1000 });
    await queue.rateLimit(1000);
    await queue.upsertJobScheduler('tick', { every: 1000 }, { name: 'tick' });
    ahead.mock.restore();
    let ticks = 0;
    const count = async ({ name }: { name: string }): Promise<unknown> => name === 'tick' && ticks++;
    backend.worker('work', count, { limiter: { max: 1000, duration: 1000 } });
    await until('it is done', () => job.isCompleted());
    await until('the schedule goes on', () => ticks > 1);
  });

  it('runs delayed jobs that have become due in the order of their times', async (t) => {
    const backend = await open(t, station.newTarget());
    const delays = { late: 2000, early: 1000 };
    const jobs = Object.entries(delays).map(([name, delay]) => ({ name, data: {}, opts: { delay } }));
    await backend.queue('work').addBulk(jobs);
    const now = Date.now.bind(Date);
    t.mock.method(Date, 'now', () => now() + HOUR);
    const ran: string[] = [];
    backend.worker('work', async ({ name }) => ran.push(name));
    await until('both have run', () => ran.length === 2);
    assert.deepEqual(ran, ['early', 'late']);
  });

  it('removes the folder that an earlier version had for its queue, and says so once', async (t) => {
    const target = station.newTarget();
    const old = join(target.dataDir, 'queue');
    mkdirSync(join(old, 'base'), { recursive: true });
    writeFileSync(`${old}.lock`, '');
    const lines: string[] = [];
    await runsOneJob(await open(t, target, lines));
    assert.equal(existsSync(old) || existsSync(`${old}.lock`), false);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /earlier version and is removed/);
  });
});
