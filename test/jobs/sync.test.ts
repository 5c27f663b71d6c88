import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { newActivity, type WorkContext } from '../../jobs/context.ts';
import { overdueSweeps } from '../../jobs/schedules.ts';
import { runPass, syncHead, syncSweep } from '../../jobs/sync.ts';
import { AppError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { LastPass } from '../../src/state/state.ts';
import { benchFor, HOUR, MINUTE } from '../outbox/bench.ts';
import { aPost, range } from '../support/rows.ts';

const RETRY = { firstPassMs: MINUTE, lastPassMs: 3 * MINUTE, busyMs: 1 };

/** What the job of a pass works with, over a list that a test holds by its strings. */
function benchOf(t: TestContext) {
  const bench = benchFor(t);
  const { clock, context: sending, mirror: store, store: outbox, upstream } = bench;
  upstream.posts = range(1, 5)
    .toReversed()
    .map((id) => aPost(id));
  const log = createLogger({ level: 'silent', format: 'json', secrets: () => [] });
  const settings = {
    ...{ pagesAhead: 0, retentionDeleted: 'never' },
    ...{ sweepCron: null, sweepEvery: HOUR, timeZone: 'UTC' },
  };
  const none: Omit<LastPass, 'resource' | 'mode'> = {
    startedAt: null,
    finishedAt: null,
    unfinished: false,
  };
  const lastPasses = (): LastPass[] => [
    { resource: 'posts', mode: 'sweep', ...none },
    { resource: 'posts', mode: 'head', ...none },
    { resource: 'comments', mode: 'sweep', ...none },
  ];
  const { client } = upstream;
  const { gate, signal } = sending;
  const context = {
    app: {
      client,
      store,
      outbox,
      clock,
      log,
      settings,
      gate,
      state: { lastPasses },
      sweep: null,
    },
    sending,
    activity: newActivity(),
    metrics: createMetrics(),
    signal,
    retry: RETRY,
  } as unknown as WorkContext;
  const overdue = (): string[] => overdueSweeps(context).map(({ resource }) => resource);
  return { ...bench, context, overdue };
}

describe('a sweep that fails', () => {
  it('is tried again after twice as long each time, and at once after one that did not', async (t) => {
    const { context, upstream, clock, overdue } = benchOf(t);
    const { failures } = context.activity;
    const waitFor = async (): Promise<unknown> => {
      await assert.rejects(runPass(context, 'posts', 'sweep'), { code: 'unreachable' });
      return (failures.get('posts')?.retryAt ?? 0) - clock.monotonic();
    };
    upstream.readError = new AppError('unreachable', 'no route');
    assert.deepEqual(overdue(), ['posts', 'comments']);
    // Half of each wait is random, and the dice of the bench show the middle.
    const waits = [await waitFor(), await waitFor(), await waitFor(), await waitFor()];
    assert.deepEqual(waits, [0.75 * MINUTE, 1.5 * MINUTE, 2.25 * MINUTE, 2.25 * MINUTE]);
    assert.deepEqual(overdue(), ['comments'], 'not before its time');
    clock.advance(2.25 * MINUTE);
    assert.deepEqual(overdue(), ['posts', 'comments']);
    upstream.readError = null;
    await runPass(context, 'posts', 'sweep');
    assert.equal(failures.size, 0);
    upstream.readError = new AppError('unreachable', 'no route');
    assert.equal(await waitFor(), 0.75 * MINUTE, 'it begins anew');
  });

  it('on a full disk is tried again after three seconds at most, however often', async (t) => {
    const { context, upstream, clock } = benchOf(t);
    upstream.readError = new AppError('storage', 'the disk is full');
    for (let times = 0; times < 5; times++) {
      await assert.rejects(runPass(context, 'posts', 'sweep'), { code: 'storage' });
      const { retryAt = 0 } = context.activity.failures.get('posts') ?? {};
      assert.ok(retryAt - clock.monotonic() <= 3000);
    }
  });

  it('is not tried before the upstream may be called again', async (t) => {
    const { context, upstream, clock } = benchOf(t);
    upstream.readError = new AppError('throttled', 'not now');
    context.app.gate.closeUntil(clock.now() + HOUR);
    await assert.rejects(runPass(context, 'posts', 'sweep'), { code: 'throttled' });
    assert.equal(context.activity.failures.get('posts')?.retryAt, clock.monotonic() + HOUR);
  });

  it('is none where it was told to stop, nor is a look at the newest rows', async (t) => {
    const { context, upstream } = benchOf(t);
    for (let sweeps = 0; sweeps < 2; sweeps++) await runPass(context, 'posts', 'sweep');
    upstream.readError = new AppError('interrupted', 'the service stops');
    assert.equal(await runPass(context, 'posts', 'sweep'), 'stopped; it continues from there');
    upstream.readError = new AppError('unreachable', 'no route');
    await assert.rejects(runPass(context, 'posts', 'head'), { code: 'unreachable' });
    assert.equal(context.activity.failures.size, 0);
  });
});

describe('a list that is being read', () => {
  it('is read once at a time, is not overdue meanwhile, and is free afterwards', async (t) => {
    const { context, upstream, overdue, mirror } = benchOf(t);
    const seen: unknown[] = [];
    let second: Promise<unknown> | undefined;
    upstream.pageSize = 2;
    upstream.beforePage = () => {
      seen.push(overdue());
      second ??= runPass(context, 'posts', 'sweep');
    };
    await runPass(context, 'posts', 'sweep');
    assert.equal(await second, 'another pass over this list is under way');
    assert.deepEqual(seen, [['comments'], ['comments'], ['comments']]);
    upstream.beforePage = () => {};
    assert.equal(context.activity.passes.size, 0);
    const lock = mirror.lock('posts');
    assert.ok(lock.ok);
    assert.equal(await runPass(context, 'posts', 'sweep'), 'another pass over this list is under way');
    assert.equal(context.activity.failures.size, 0, 'another process has it');
    lock.release();
  });
});

describe('a sweep of the posts', () => {
  it('looks for posts that an unclear row has left, and one of the comments does not', async (t) => {
    const { context, store, upstream, add, clock, row } = benchOf(t);
    const id = await add();
    store.move(id, TRANSITIONS.park, { now: clock.now(), wasAmbiguous: true, checksLeft: 2 });
    clock.advance(MINUTE);
    upstream.client.comments = async function* () {};
    await runPass(context, 'comments', 'sweep');
    assert.equal((await row(id)).checks_left, 2);
    await runPass(context, 'posts', 'sweep');
    assert.equal((await row(id)).checks_left, 1);
  });

  it('that began before the row was settled is none of its checks', async (t) => {
    const { context, store, upstream, add, clock, row } = benchOf(t);
    const id = await add();
    upstream.beforePage = () => {
      clock.advance(MINUTE);
      store.move(id, TRANSITIONS.park, { now: clock.now(), wasAmbiguous: true, checksLeft: 2 });
      clock.advance(MINUTE);
    };
    await runPass(context, 'posts', 'sweep');
    assert.equal((await row(id)).checks_left, 2);
  });
});

describe('a pass', () => {
  const jobOf = (data: object, shown: unknown[] = []) =>
    ({
      data: { resource: 'posts', ...data },
      updateProgress: async (progress: { rows: number }) => {
        shown.push(progress.rows);
        throw new Error('the queue has lost the job');
      },
    }) as never;

  it('of the schedule is left out where another has only just begun, and one that a person wants is not', async (t) => {
    const { context, clock } = benchOf(t);
    const begun = { resource: 'posts', mode: 'sweep', startedAt: clock.now(), finishedAt: clock.now() };
    context.app.state.lastPasses = () => [{ ...begun, unfinished: false } as LastPass];
    assert.equal(await syncSweep.run(context as never, jobOf({})), 'a sweep has only just begun');
    assert.ok(Object(await syncSweep.run(context as never, jobOf({ wish: 'now' }))).runId);
    assert.equal(
      await syncSweep.run(context as never, jobOf({ wish: 'nonsense' })),
      'a sweep has only just begun',
    );
    assert.ok(Object(await syncHead.run(context as never, jobOf({}))).runId, 'the newest rows are looked at');
  });

  it('shows how far it is about once a second, and goes on although the queue lost its job', async (t) => {
    const { context, upstream, clock } = benchOf(t);
    const shown: unknown[] = [];
    upstream.pageSize = 1;
    upstream.beforePage = () => clock.advance(400);
    await syncSweep.run(context as never, jobOf({ wish: 'now' }, shown));
    assert.deepEqual(shown, [1, 4]);
    const rows = /page_rows_total\{resource="posts"\} (\d+)/.exec(await context.metrics.text())?.[1];
    assert.equal(rows, '5', 'each row of a page once');
  });

  it('that goes on where it stopped counts no row twice', async (t) => {
    const { context, upstream } = benchOf(t);
    upstream.pageSize = 3;
    upstream.beforePage = (page) => {
      if (page === 2) throw new AppError('unreachable', 'no route');
    };
    await assert.rejects(runPass(context, 'posts', 'sweep'), { code: 'unreachable' });
    upstream.beforePage = () => {};
    assert.equal(Object(await runPass(context, 'posts', 'sweep')).resumed, 1);
    const rows = /page_rows_total\{resource="posts"\} (\d+)/.exec(await context.metrics.text())?.[1];
    assert.ok(Number(rows) <= 5, `${rows} of 5 rows`);
  });

  it('shows when its last page came', async (t) => {
    const { context, upstream, clock } = benchOf(t);
    const pages: unknown[] = [];
    upstream.pageSize = 3;
    upstream.beforePage = () => {
      const { since = 0, lastPageAt = 0 } = context.activity.passes.get('posts') ?? {};
      pages.push([since, lastPageAt]);
      clock.advance(MINUTE);
    };
    await runPass(context, 'posts', 'sweep');
    assert.deepEqual(pages, [
      [0, 0],
      [0, MINUTE],
    ]);
  });

  it('over the newest rows is no sweep that did not fail', async (t) => {
    const { context, upstream } = benchOf(t);
    upstream.readError = new AppError('unreachable', 'no route');
    await assert.rejects(runPass(context, 'posts', 'sweep'), { code: 'unreachable' });
    upstream.readError = null;
    await runPass(context, 'posts', 'head');
    assert.equal(context.activity.failures.size, 1);
  });

  it('needs to know its list', async (t) => {
    const { context } = benchOf(t);
    await assert.rejects(
      async () => await syncHead.run(context as never, jobOf({ resource: 'people' })),
      /no list/,
    );
  });
});

describe('the text of a post that a sweep finds deleted', () => {
  for (const [retention, kept] of [
    ['0', '[erased]'],
    ['24 hours', 'A post'],
    ['never', 'A post'],
  ] as const)
    it(`is ${kept === '[erased]' ? 'erased at once' : 'left to the night'} where it is kept for ${retention}`, async (t) => {
      const { context, upstream, path, query, clock } = benchOf(t);
      const retentionDeleted = retention === 'never' ? retention : retention === '0' ? 0 : 24 * HOUR;
      const baseUrl = new URL('http://upstream.test');
      const place = { mirrorPath: path, dataDir: dirname(path), baseUrl, pushSettle: MINUTE };
      Object.assign(context.app.settings, { retentionDeleted, ...place });
      upstream.posts = range(1, 5)
        .toReversed()
        .map((id) => aPost(id, { title: 'A post' }));
      // A short new list takes three sweeps without the row.
      for (let sweeps = 0; sweeps < 4; sweeps++) {
        await runPass(context, 'posts', 'sweep');
        upstream.posts = upstream.posts.filter(({ id }) => id !== 3);
        clock.advance(MINUTE);
      }
      const [row] = query<{ title: string; deleted_at: string }>(
        'SELECT title, deleted_at FROM posts WHERE id = 3',
      );
      assert.ok(row?.deleted_at);
      assert.equal(row.title, kept);
    });
});

describe('a sweep that somebody asked for', () => {
  it('deletes what the mass-delete guard holds where that was asked for, and not otherwise', async (t) => {
    const { context, upstream, mirror } = benchOf(t);
    const wish = async (now: string): Promise<number> => {
      const job = { data: { resource: 'posts', wish: now }, updateProgress: async () => {} };
      await syncSweep.run(context as never, job as never);
      return mirror.status().resources.find(({ resource }) => resource === 'posts')?.deleted ?? 0;
    };
    upstream.posts = range(1, 60)
      .toReversed()
      .map((id) => aPost(id));
    await wish('now');
    upstream.posts = upstream.posts.filter(({ id }) => id < 20 || id > 50);
    for (let sweeps = 0; sweeps < 3; sweeps++) assert.equal(await wish('now'), 0);
    assert.equal(await wish('accept-deletes'), 31);
  });
});
