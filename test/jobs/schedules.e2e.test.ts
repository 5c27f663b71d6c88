import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { Job } from 'bullmq';
import { QUEUES } from '../../jobs/context.ts';
import {
  enqueue,
  ensureSchedules,
  isFresh,
  isOverdue,
  isPlannedAhead,
  rhythmOf,
  type Schedule,
  schedulesOf,
  sweepDueAt,
  sweepJob,
} from '../../jobs/schedules.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { JOBS } from '../../src/service/workers.ts';
import { openTarget } from '../queue/target.ts';
import { folderFor, temporaryFolder } from '../support/folder.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres, startRedis } from '../support/servers.ts';

const SETTINGS = {
  headEvery: 120_000,
  sweepEvery: 3_600_000,
  sweepCron: null,
  timeZone: 'Europe/Berlin',
  exportCron: null,
} as const;
const TICK = 5000;
const DAY = 86_400_000;
const UNCHANGED = { set: [], removed: [], startedOver: false };
type Asked = Parameters<typeof schedulesOf>[0];
const schedules = (changes: Partial<Asked> = {}): Schedule[] =>
  schedulesOf({ ...SETTINGS, ...changes }, 'a-mirror', TICK);
const ids = (list: Schedule[]): string[] => list.map(({ id }) => id);

describe('the schedules', () => {
  it('follow from the settings', () => {
    assert.deepEqual(ids(schedules()), [
      'dispatch',
      'sync-head-posts',
      'sync-sweep-posts',
      'sync-head-comments',
      'sync-sweep-comments',
      'maintenance',
    ]);
    assert.deepEqual(ids(schedules({ headEvery: 'off', exportCron: '0 4 * * *' })), [
      'dispatch',
      'sync-sweep-posts',
      'sync-sweep-comments',
      'export',
      'maintenance',
    ]);
  });

  it('add jobs that their queue knows, kept for a while only', () => {
    for (const { job } of schedules({ exportCron: '0 4 * * *' })) {
      assert.ok(
        JOBS[job.queue].some(({ name }) => name === job.name),
        job.name,
      );
      assert.ok(job.options.removeOnComplete && job.options.removeOnFail);
    }
  });

  it('maintain the mirror at night, not every mirror at the same minute', () => {
    const times = ['a', 'b', 'c', 'd', 'e', 'f'].map((mirror) => {
      const { rhythm } = schedulesOf(SETTINGS, mirror, TICK).find(({ id }) => id === 'maintenance') ?? {};
      assert.ok(rhythm && 'pattern' in rhythm);
      assert.match(rhythm.pattern, /^[0-5]?\d [23] \* \* \*$/);
      return rhythm.pattern;
    });
    assert.ok(new Set(times).size > 3);
  });
});

const NOW = Date.parse('2026-03-10T12:00:00Z');
const MINUTE = 60_000;
const HOURLY = { every: 60 * MINUTE };
const NIGHTLY = { pattern: '30 3 * * *', tz: 'Europe/Berlin' };

describe('a sweep', () => {
  const last = (startedAgo: number, finishedAgo: number, unfinished = false) =>
    ({
      resource: 'posts',
      mode: 'sweep',
      startedAt: NOW - startedAgo,
      finishedAt: NOW - finishedAgo,
      unfinished,
    }) as const;
  const none = {
    resource: 'posts',
    mode: 'sweep',
    startedAt: null,
    finishedAt: null,
    unfinished: false,
  } as const;

  it('is overdue when there was none, when one was interrupted, or when its time has passed', () => {
    assert.equal(isOverdue(none, HOURLY, NOW), true);
    assert.equal(isOverdue(last(5 * MINUTE, 4 * MINUTE, true), HOURLY, NOW), true);
    assert.equal(isOverdue(last(61 * MINUTE, 60 * MINUTE), HOURLY, NOW), true);
    assert.equal(isOverdue(last(61 * MINUTE, 59 * MINUTE), HOURLY, NOW), false);
  });

  it('that a pattern asks for is overdue once a slot has passed without one', () => {
    // Half past three in Berlin was half past two in UTC: nine and a half hours ago.
    assert.equal(isOverdue(last(9 * 60 * MINUTE, 9 * 60 * MINUTE), NIGHTLY, NOW), false);
    assert.equal(isOverdue(last(10 * 60 * MINUTE, 10 * 60 * MINUTE), NIGHTLY, NOW), true);
    assert.equal(sweepDueAt(last(0, 0), NIGHTLY, NOW), Date.parse('2026-03-11T02:30:00Z'));
  });

  it('is left out when another began so shortly before that it would show nothing else', () => {
    assert.equal(isFresh(none, HOURLY, NOW), false);
    assert.equal(isFresh(last(29 * MINUTE, MINUTE), HOURLY, NOW), true);
    assert.equal(
      isFresh(last(31 * MINUTE, MINUTE), HOURLY, NOW),
      false,
      'a long one does not cost the next its turn',
    );
    assert.equal(isFresh(last(29 * MINUTE, MINUTE, true), HOURLY, NOW), false, 'it was interrupted');
    assert.equal(isFresh(last(9 * 60 * MINUTE, MINUTE), NIGHTLY, NOW), true);
    assert.equal(isFresh(last(10 * 60 * MINUTE, MINUTE), NIGHTLY, NOW), false);
  });

  it('dated in the future is not fresh and delays nothing, because the clock was set back', () => {
    for (const rhythm of [HOURLY, NIGHTLY]) {
      const ahead = last(-24 * 60 * MINUTE, -24 * 60 * MINUTE);
      assert.equal(sweepDueAt(ahead, rhythm, NOW), null);
      assert.equal(isOverdue(ahead, rhythm, NOW), true);
      assert.equal(isFresh(ahead, rhythm, NOW), false);
    }
  });

  it('that is dated a few seconds ahead counts as one that has just ended', () => {
    assert.equal(isOverdue(last(0, -3000), HOURLY, NOW), false);
    assert.equal(isFresh(last(-3000, -3000), HOURLY, NOW), true);
  });

  it('is planned too far ahead when that is more than a turn away', () => {
    assert.equal(isPlannedAhead(NOW + 60 * MINUTE, HOURLY, NOW), false);
    assert.equal(isPlannedAhead(NOW + 62 * MINUTE, HOURLY, NOW), true);
    const tonight = Date.parse('2026-03-11T02:30:00Z');
    assert.equal(isPlannedAhead(tonight, NIGHTLY, NOW), false);
    assert.equal(isPlannedAhead(tonight, NIGHTLY, tonight - 24 * 60 * MINUTE - 5000), false);
    assert.equal(isPlannedAhead(tonight, NIGHTLY, tonight - 24 * 60 * MINUTE - MINUTE), true);
  });

  it('follows the pattern where there is one', () => {
    const settings = { sweepEvery: 5000, timeZone: 'UTC' };
    assert.deepEqual(rhythmOf({ ...settings, sweepCron: null }), { every: 5000 });
    assert.deepEqual(rhythmOf({ ...settings, sweepCron: '@daily' }), { pattern: '@daily', tz: 'UTC' });
  });
});

const SERVERS = [
  { name: 'in the data folder', programs: [], start: null },
  { name: 'on Redis', programs: ['redis-server'], start: startRedis },
  { name: 'on PostgreSQL', programs: ['postgres'], start: startPostgres },
];

for (const { name, programs, start } of SERVERS)
  describe(`the schedules of a queue ${name}`, skipUnless(...programs), () => {
    let server: Server | undefined;
    let backend: QueueBackend;
    const folder = temporaryFolder('schedules');
    before(async () => {
      server = await start?.();
    });
    after(async () => {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const open = async (t: { after(undo: () => Promise<void>): void }): Promise<void> => {
      backend = await openTarget({ url: server?.url ?? null, dataDir: folder, mirrorId: randomUUID() });
      t.after(() => backend.close());
    };
    const found = async () => {
      const each = QUEUES.map((queue) => backend.queue(queue).getJobSchedulers());
      return new Map((await Promise.all(each)).flat().map((one) => [one.key, one]));
    };

    it('become those that are wanted: set, changed and removed', async (t) => {
      await open(t);
      const first = schedules({ exportCron: '0 4 * * *' });
      const set = await ensureSchedules(backend, first, Date.now());
      assert.deepEqual(set, { set: ids(first), removed: [], startedOver: false });
      assert.deepEqual(await ensureSchedules(backend, first, Date.now()), UNCHANGED);
      const second = schedules({ headEvery: 'off', sweepEvery: 7000 });
      const changed = await ensureSchedules(backend, second, Date.now());
      assert.deepEqual(changed.set, ['sync-sweep-posts', 'sync-sweep-comments']);
      assert.deepEqual(
        new Set(changed.removed),
        new Set(['sync-head-posts', 'sync-head-comments', 'export']),
      );
      assert.deepEqual(new Set((await found()).keys()), new Set(ids(second)));
      assert.equal(Number((await found()).get('sync-sweep-posts')?.every), 7000);
      const third = schedules({ headEvery: 'off', sweepCron: '0 5 * * *' });
      await ensureSchedules(backend, third, Date.now());
      const { pattern, tz } = (await found()).get('sync-sweep-posts') ?? {};
      assert.deepEqual([pattern, tz], ['0 5 * * *', 'Europe/Berlin']);
    });

    it('with another interval keep nothing of the one before', async (t) => {
      await open(t);
      // A minute before the hour: BullMQ notes how far from its beginning an interval is.
      const now = Math.ceil(Date.now() / HOURLY.every) * HOURLY.every - MINUTE;
      t.mock.timers.enable({ apis: ['Date'], now });
      const offsets: (number | undefined)[] = [];
      for (const sweepEvery of [HOURLY.every, 7000]) {
        await ensureSchedules(backend, schedules({ sweepEvery }), now);
        offsets.push((await found()).get('sync-sweep-posts')?.offset);
      }
      assert.deepEqual(offsets, [HOURLY.every - MINUTE, now % 7000]);
    });

    it('set again after a missed turn keep their offset', async (t) => {
      await open(t);
      const now = Math.ceil(Date.now() / HOURLY.every) * HOURLY.every - MINUTE;
      t.mock.timers.enable({ apis: ['Date'], now });
      for (const hours of [0, 2]) {
        t.mock.timers.setTime(now + hours * HOURLY.every);
        await backend.queue('ticks').upsertJobScheduler('dispatch', HOURLY, { name: 'dispatch' });
        assert.equal((await found()).get('dispatch')?.offset, HOURLY.every - MINUTE);
      }
    });

    it('are left alone while their next job is late because its worker is busy', async (t) => {
      await open(t);
      await ensureSchedules(backend, schedules(), Date.now());
      const { next } = (await found()).get('dispatch') ?? {};
      assert.deepEqual(await ensureSchedules(backend, schedules(), (next ?? 0) + 60_000), UNCHANGED);
    });

    it('are removed where an earlier version kept them', async (t) => {
      await open(t);
      await backend.queue('ticks').upsertJobScheduler('sync-sweep-posts', { every: 3_600_000 });
      const { removed } = await ensureSchedules(backend, schedules(), Date.now());
      assert.deepEqual(removed, ['sync-sweep-posts']);
      assert.equal(await backend.queue('sync-posts').getJobSchedulersCount(), 2);
    });

    it('add the job itself, one after the other however long it takes, and none is left behind', async (t) => {
      await open(t);
      const sweep = schedules({ sweepEvery: 50 }).filter(({ id }) => id === 'sync-sweep-posts');
      const names: string[] = [];
      let [running, most] = [0, 0];
      const run = async (job: Job): Promise<void> => {
        most = Math.max(most, ++running);
        names.push(`${job.name} of ${job.data.resource}`);
        await delay(120);
        running--;
      };
      const worker = backend.worker('sync-posts', run, { concurrency: 1 });
      await ensureSchedules(backend, sweep, Date.now());
      while (names.length < 4) await once(worker, 'completed');
      assert.deepEqual(new Set(names), new Set(['sync-sweep of posts']));
      assert.equal(most, 1);
      assert.ok((await backend.queue('sync-posts').count()) <= 1);
    });

    it('enqueue the jobs beside them once, however often they start', async (t) => {
      await open(t);
      for (let n = 0; n < 3; n++) await enqueue(backend, sweepJob('posts'));
      assert.equal(await backend.queue('sync-posts').getWaitingCount(), 1);
    });

    it('start over completely if they were planned while the clock was ahead', async (t) => {
      await open(t);
      const wanted = schedules({ exportCron: '0 4 * * *' });
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + DAY });
      await ensureSchedules(backend, wanted, Date.now());
      await backend.queue('push').add('push', { outbox: 1 }, { delay: 60_000 });
      await backend.queue('push').rateLimit(60_000);
      t.mock.timers.reset();
      const { set, startedOver } = await ensureSchedules(backend, wanted, Date.now());
      assert.deepEqual([set, startedOver], [ids(wanted), true]);
      for (const { key, next } of (await found()).values())
        assert.ok((next ?? 0) < Date.now() + DAY + 60_000, `${key} is planned for the right time`);
      assert.ok((await backend.queue('push').getRateLimitTtl()) <= 60_000);
      assert.equal(await backend.queue('push').count(), 0);
      assert.equal(await backend.queue('push').isPaused(), false);
      assert.deepEqual(await ensureSchedules(backend, wanted, Date.now()), UNCHANGED);
    });

    it('start over when the clock is set back, and not when a time server moves it', async (t) => {
      await open(t);
      const wanted = schedules();
      await ensureSchedules(backend, wanted, Date.now());
      assert.deepEqual(await ensureSchedules(backend, wanted, Date.now() - 5000), UNCHANGED);
      const { startedOver } = await ensureSchedules(backend, wanted, Date.now() - DAY);
      assert.equal(startedOver, true);
    });
  });

describe('a schedule whose next job is lost', () => {
  it('is set again', async (t) => {
    const folder = folderFor(t, 'schedules');
    const backend = await openTarget({ url: null, dataDir: folder, mirrorId: 'lost' });
    t.after(() => backend.close());
    await ensureSchedules(backend, schedules(), Date.now());
    const file = new Database(join(folder, 'queue.db'));
    t.after(() => file.close());
    file.exec('DELETE FROM job');
    const { set } = await ensureSchedules(backend, schedules(), Date.now() + 10 * 60_000);
    assert.deepEqual(
      set.filter((id) => id === 'dispatch' || id === 'maintenance'),
      ['dispatch'],
    );
  });
});
