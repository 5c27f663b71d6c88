import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { newActivity, type WorkContext } from '../../jobs/context.ts';
import { overdueSweeps } from '../../jobs/schedules.ts';
import { runPass } from '../../jobs/sync.ts';
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

describe('a sweep of the posts', () => {
  it('looks for posts that an unclear row has left, and one of the comments does not', async (t) => {
    const { context, store, upstream, add, clock, row } = benchOf(t);
    const id = await add();
    store.move(id, TRANSITIONS.park, { now: clock.now(), wasAmbiguous: true });
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
      store.move(id, TRANSITIONS.park, { now: clock.now(), wasAmbiguous: true });
      clock.advance(MINUTE);
    };
    await runPass(context, 'posts', 'sweep');
    assert.equal((await row(id)).checks_left, 2);
  });
});
