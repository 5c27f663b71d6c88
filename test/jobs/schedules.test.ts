import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { JOBS } from '../../jobs/index.ts';
import { type Schedule, schedulesOf } from '../../jobs/schedules.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { keepSchedules, ring } from '../../src/worker/schedules.ts';
import { openTarget } from '../queue/target.ts';
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
  it('are those of the settings', () => {
    assert.deepEqual(ids(schedules()), [
      'dispatch',
      'sync-head-posts',
      'sync-sweep-posts',
      'sync-head-comments',
      'sync-sweep-comments',
      'housekeeping',
    ]);
    assert.deepEqual(ids(schedules({ headEvery: 'off', exportCron: '0 4 * * *' })), [
      'dispatch',
      'sync-sweep-posts',
      'sync-sweep-comments',
      'export',
      'housekeeping',
    ]);
  });

  it('ring jobs that exist, each told apart from the others and kept for a while only', () => {
    for (const { rings } of schedules({ exportCron: '0 4 * * *' })) {
      if (rings === 'dispatch') continue;
      assert.ok(
        JOBS.some(({ name, queue }) => name === rings.name && queue === rings.queue),
        rings.name,
      );
      assert.ok(rings.options.deduplication?.id);
      assert.ok(rings.options.removeOnComplete && rings.options.removeOnFail);
    }
  });

  it('keep the house at night, not every mirror at the same minute', () => {
    const times = ['a', 'b', 'c', 'd', 'e', 'f'].map((mirror) => {
      const { rhythm } = schedulesOf(SETTINGS, mirror, TICK).find(({ id }) => id === 'housekeeping') ?? {};
      assert.ok(rhythm && 'pattern' in rhythm);
      assert.match(rhythm.pattern, /^[0-5]?\d [23] \* \* \*$/);
      return rhythm.pattern;
    });
    assert.ok(new Set(times).size > 3);
  });
});

const SERVERS = [
  { name: 'Redis', program: 'redis-server', start: startRedis },
  { name: 'PostgreSQL', program: 'postgres', start: startPostgres },
];

for (const { name, program, start } of SERVERS)
  describe(`the schedules of a queue on ${name}`, skipUnless(program), () => {
    let server: Server;
    let backend: QueueBackend;
    before(async () => {
      server = await start();
    });
    after(() => server.stop());
    const open = async (t: { after(undo: () => Promise<void>): void }): Promise<void> => {
      backend = await openTarget({ url: server.url, dataDir: '/nowhere', mirrorId: randomUUID() });
      t.after(() => backend.close());
    };
    const found = async () =>
      new Map((await backend.queue('ticks').getJobSchedulers()).map((one) => [one.key, one]));

    it('become those that are wanted: set, changed and removed', async (t) => {
      await open(t);
      const first = schedules({ exportCron: '0 4 * * *' });
      const set = await keepSchedules(backend, first, Date.now());
      assert.deepEqual(set, { set: ids(first), removed: [], startedOver: false });
      assert.deepEqual(await keepSchedules(backend, first, Date.now()), UNCHANGED);
      const second = schedules({ headEvery: 'off', sweepEvery: 7000 });
      const changed = await keepSchedules(backend, second, Date.now());
      assert.deepEqual(changed.set, ['sync-sweep-posts', 'sync-sweep-comments']);
      assert.deepEqual(
        new Set(changed.removed),
        new Set(['sync-head-posts', 'sync-head-comments', 'export']),
      );
      assert.deepEqual(new Set((await found()).keys()), new Set(ids(second)));
      assert.equal(Number((await found()).get('sync-sweep-posts')?.every), 7000);
      const third = schedules({ headEvery: 'off', sweepCron: '0 5 * * *' });
      await keepSchedules(backend, third, Date.now());
      const { pattern, tz } = (await found()).get('sync-sweep-posts') ?? {};
      assert.deepEqual([pattern, tz], ['0 5 * * *', 'Europe/Berlin']);
    });

    it('are set again when their next tick is lost', async (t) => {
      await open(t);
      await keepSchedules(backend, schedules(), Date.now());
      const late = await keepSchedules(backend, schedules(), Date.now() + 10 * 60_000);
      assert.ok(late.set.includes('dispatch'), 'a tick that is ten minutes late does not come any more');
      assert.ok(!late.set.includes('housekeeping'));
    });

    it('ring a job once, however often they come round before it is done', async (t) => {
      await open(t);
      const sweep = schedules().find(({ id }) => id === 'sync-sweep-posts')?.rings;
      assert.ok(sweep && sweep !== 'dispatch');
      for (let n = 0; n < 3; n++) await ring(backend, sweep);
      assert.equal(await backend.queue('sync').getWaitingCount(), 1);
    });

    it('and everything else of it start over when they were planned while the clock was ahead', async (t) => {
      await open(t);
      const wanted = schedules({ exportCron: '0 4 * * *' });
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + DAY });
      await keepSchedules(backend, wanted, Date.now());
      await backend.queue('push').add('push', { outbox: 1 }, { delay: 60_000 });
      await backend.queue('push').rateLimit(60_000);
      t.mock.timers.reset();
      const { set, startedOver } = await keepSchedules(backend, wanted, Date.now());
      assert.deepEqual([set, startedOver], [ids(wanted), true]);
      for (const { key, next } of (await found()).values())
        assert.ok((next ?? 0) < Date.now() + DAY + 60_000, `${key} is planned for the right time`);
      assert.ok((await backend.queue('push').getRateLimitTtl()) <= 60_000);
      assert.equal(await backend.queue('push').count(), 0);
      assert.equal(await backend.queue('push').isPaused(), false);
      assert.deepEqual(await keepSchedules(backend, wanted, Date.now()), UNCHANGED);
    });

    it('start over when the clock is set back, and not when a time server moves it', async (t) => {
      await open(t);
      const wanted = schedules();
      await keepSchedules(backend, wanted, Date.now());
      assert.deepEqual(await keepSchedules(backend, wanted, Date.now() - 5000), UNCHANGED);
      const { startedOver } = await keepSchedules(backend, wanted, Date.now() - DAY);
      assert.equal(startedOver, true);
    });
  });
