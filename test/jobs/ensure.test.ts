import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { MinimalJob } from 'bullmq';
import { createSqliteBackend } from 'bullmq-sqlite';
import { type JobContext, newActivity, QUEUES } from '../../jobs/context.ts';
import { ensureQueue, ensureSchedules, type Schedule, schedulesOf } from '../../jobs/schedules.ts';
import type { LastPass } from '../../src/state/state.ts';
import { openTarget } from '../queue/target.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-03-10T12:00:00Z');
const SETTINGS = {
  ...{ headEvery: 2 * MINUTE, sweepEvery: HOUR, sweepCron: null },
  ...{ timeZone: 'Europe/Berlin', exportCron: null },
} as const;
type Asked = Parameters<typeof schedulesOf>[0];
const schedules = (changes: Partial<Asked> = {}): Schedule[] =>
  schedulesOf({ ...SETTINGS, ...changes }, 'a-mirror', 5000);

/** The queues of a mirror in a file, on a clock that stands still, and what fills them. */
async function benchOf(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: NOW });
  const folder = folderFor(t, 'ensure');
  const backend = await openTarget({ url: null, dataDir: folder, mirrorId: 'mirror' });
  t.after(() => backend.close());
  const clock = fakeClock(NOW);
  const told: string[] = [];
  const tell = ({ event }: { event: string }) => void told.push(event);
  let housekeepingAt: number | null = NOW;
  let looks = 0;
  let newTokenAt: string | null = null;
  const refused = { resource: 'posts', code: 'unauthorised', at: new Date(NOW).toISOString() };
  const swept = { mode: 'sweep', startedAt: NOW - MINUTE, finishedAt: NOW - MINUTE, unfinished: false };
  const passes = [
    { resource: 'posts', ...swept },
    { resource: 'comments', ...swept },
  ] as LastPass[];
  const context = {
    app: {
      clock,
      log: { info: tell, warn: tell },
      settings: SETTINGS,
      tokenNews: () => newTokenAt && { since: newTokenAt, problem: null },
      state: {
        lastPasses: () => passes,
        troubles: () => ({ failures: [refused] }),
        lastHousekeepingAt: () => housekeepingAt,
        noteHousekeeping: (at: number) => {
          housekeepingAt = at;
        },
      },
    },
    activity: newActivity(),
    backend,
    dispatcher: { look: async () => ++looks },
  } as unknown as JobContext;
  return {
    ...{ backend, folder, clock, passes, context, told },
    housekeeping: (at?: number | null) => {
      if (at !== undefined) housekeepingAt = at;
      return housekeepingAt;
    },
    looks: () => looks,
    newToken: (at: number) => {
      newTokenAt = new Date(NOW + at).toISOString();
    },
    activity: context.activity,
    ensure: () => ensureQueue(context, schedules()),
    /** The jobs beside those of the schedules. */
    async jobs() {
      const each = await Promise.all(QUEUES.map((queue) => backend.queue(queue).getJobs(['waiting'])));
      return each.flatMap((jobs) => jobs.filter(({ repeatJobKey }) => !repeatJobKey).map(({ name }) => name));
    },
    at(ms: number) {
      t.mock.timers.setTime(NOW + ms);
      clock.set(NOW + ms);
    },
  };
}

describe('a queue that should hold more than it does', () => {
  it('gets its schedules and what is overdue, is told of once, and its rows are looked for', async (t) => {
    const { passes, ensure, jobs, told, looks } = await benchOf(t);
    await ensure();
    assert.deepEqual([await jobs(), told, looks()], [[], ['queue.schedules.changed'], 1]);
    Object.assign(passes[0] ?? {}, { unfinished: true });
    await ensure();
    await ensure();
    assert.deepEqual(await jobs(), ['sync-sweep'], 'once however often');
    assert.deepEqual([told.length, looks()], [1, 3]);
  });

  it('gets a pass at once when there is another token than the one that was refused', async (t) => {
    const { ensure, jobs, activity, newToken, clock } = await benchOf(t);
    activity.failures.set('posts', { count: 3, retryAt: clock.monotonic() + DAY });
    newToken(-1);
    await ensure();
    assert.deepEqual(await jobs(), []);
    newToken(1);
    await ensure();
    assert.deepEqual(await jobs(), ['sync-head']);
    assert.deepEqual(activity.failures.get('posts'), { count: 0, retryAt: clock.monotonic() });
  });

  it('gets maintenance that was missed for a day, but not for a new mirror', async (t) => {
    const { ensure, jobs, housekeeping } = await benchOf(t);
    housekeeping(null);
    await ensure();
    assert.deepEqual([await jobs(), housekeeping()], [[], NOW], 'there is nothing to maintain yet');
    housekeeping(NOW - DAY);
    await ensure();
    assert.deepEqual(await jobs(), []);
    housekeeping(NOW - DAY - 1);
    await ensure();
    assert.deepEqual(await jobs(), ['maintenance']);
  });

  it('gets the maintenance also where the last is dated ahead of a clock that was set back', async (t) => {
    const { ensure, jobs, housekeeping } = await benchOf(t);
    housekeeping(NOW + HOUR);
    await ensure();
    assert.deepEqual(await jobs(), ['maintenance']);
  });

  it('shows that ticks come also to a process that none of them comes to', async (t) => {
    const { backend, ensure, activity, clock, at } = await benchOf(t);
    await ensure();
    at(4000);
    await ensure();
    assert.equal(activity.lastTickAt, null, 'no tick was taken');
    const other = backend.worker('ticks', async () => undefined, { concurrency: 1 });
    await once(other, 'completed');
    await other.close();
    await ensure();
    assert.equal(activity.lastTickAt, clock.monotonic());
    const seen = activity.lastTickAt;
    at(60_000);
    await backend.queue('ticks').obliterate({ force: true });
    await ensure();
    assert.equal(activity.lastTickAt, seen, 'a schedule that is set anew shows nothing');
  });

  it('starts over where it was filled while the clock was ahead, which is told', async (t) => {
    const { backend, ensure, told, at } = await benchOf(t);
    at(DAY);
    await ensure();
    for (const name of QUEUES) await backend.queue(name).add('left', {}, { delay: MINUTE });
    at(0);
    await ensure();
    assert.deepEqual(told, ['queue.schedules.changed', 'queue.started-over', 'queue.schedules.changed']);
    for (const name of QUEUES)
      assert.equal(
        (await backend.queue(name).getDelayed()).filter((job) => job.name === 'left').length,
        0,
        name,
      );
  });
});

describe('the schedules of a queue', () => {
  it('are set again for another time zone, and unknown schedulers are removed from every queue', async (t) => {
    const { backend } = await benchOf(t);
    const nightly = { sweepCron: '30 3 * * *', headEvery: 'off' } as const;
    await ensureSchedules(backend, schedules(nightly), NOW);
    await backend.queue('maintenance').upsertJobScheduler('vacuum', { every: DAY }, { name: 'vacuum' });
    const { set, removed } = await ensureSchedules(
      backend,
      schedules({ ...nightly, timeZone: 'Asia/Tokyo' }),
      NOW,
    );
    assert.deepEqual(set, ['sync-sweep-posts', 'sync-sweep-comments', 'maintenance']);
    assert.deepEqual(removed, ['vacuum']);
    const left = (await backend.queue('maintenance').getJobSchedulers()).map(({ key }) => key);
    assert.deepEqual(left, ['maintenance']);
    assert.equal((await backend.queue('sync-posts').getJobScheduler('sync-sweep-posts'))?.tz, 'Asia/Tokyo');
  });

  it('with a shorter interval do not make the queue start over', async (t) => {
    const { backend, at } = await benchOf(t);
    await ensureSchedules(backend, schedules({ sweepEvery: DAY }), NOW);
    await backend.queue('sync-posts').add('wanted', {});
    const worker = backend.worker('sync-comments', async () => undefined);
    await once(worker, 'completed');
    await worker.close();
    at(MINUTE);
    const changed = await ensureSchedules(backend, schedules(), Date.now());
    assert.deepEqual([changed.startedOver, changed.set.includes('sync-sweep-comments')], [false, true]);
    assert.equal(
      (await backend.queue('sync-posts').getWaiting()).filter((job) => job.name === 'wanted').length,
      1,
    );
  });

  it('keep a late job that is running, and are set again if its job is gone', async (t) => {
    const { backend, at, folder } = await benchOf(t);
    const ensure = async (ms: number) => {
      at(ms);
      return (await ensureSchedules(backend, ticks, Date.now())).set;
    };
    const ticks = schedules().filter(({ id }) => id === 'dispatch');
    assert.deepEqual(await ensure(0), ['dispatch']);
    // A worker that dies before it has planned the next turn.
    const dying = createSqliteBackend('mirror.ticks', { connection: { file: join(folder, 'queue.db') } }, {});
    t.after(() => dying.close());
    const [job, id] = await dying.moveToActive('dying', 'dying');
    assert.equal(job.name, 'dispatch');
    assert.deepEqual(await ensure(10 * MINUTE), []);
    await dying.moveToCompleted({ id: String(id) } as MinimalJob, null, false, 'dying', false);
    assert.deepEqual(await ensure(30_000), [], 'it is not late yet');
    assert.deepEqual(await ensure(30_001), ['dispatch']);
  });
});
