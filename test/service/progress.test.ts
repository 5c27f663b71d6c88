import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newActivity, QUEUES, type WorkContext } from '../../jobs/context.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { observeGauges, progressReader } from '../../src/service/progress.ts';
import type { LastPass, MirrorFileState, SweepUnderWay } from '../../src/state/state.ts';
import { fakeClock } from '../support/clock.ts';
import { HOUR, MINUTE, NO_TROUBLES, NOW, SECOND } from './healthy.ts';

/** A queue in which each state holds its place in the list of states. */
const backend = {
  kind: 'embedded',
  ping: async () => undefined,
  queue: () => ({
    getJobCounts: async (...states: string[]) => Object.fromEntries(states.map((state, n) => [state, n])),
  }),
} as unknown as QueueBackend;

/** What a service is asked for its progress, held by the strings of a test. */
function benchOf() {
  const clock = fakeClock(NOW);
  // The machine has run for longer than the service.
  clock.advance(HOUR);
  clock.set(NOW);
  const world = {
    mirrorFile: 'in place' as MirrorFileState,
    underWay: null as SweepUnderWay | null,
    sweep: { startedAt: NOW - 30 * MINUTE, finishedAt: NOW - 20 * MINUTE } as Pick<
      LastPass,
      'startedAt' | 'finishedAt'
    >,
    copy: { behind: 3, behindSince: NOW - 7 * SECOND, publishedAt: NOW - 9 * SECOND } as object,
    due: { since: NOW - 5 * SECOND, count: 4 },
  };
  const told: unknown[] = [];
  const status = (resource: string) => ({ resource, live: 5, deleted: 2, held: 3, quarantined: 1 });
  const app = {
    clock,
    gate: createRateLimit(clock),
    tokenNews: () => null,
    log: { error: (facts: unknown) => void told.push(facts) },
    settings: {
      ...{ sweepCron: null, sweepEvery: HOUR, timeZone: 'UTC', mirrorPath: '/data/mirror.db' },
      ...{ dataDir: '/nowhere', exportDir: '/nowhere', backupDir: '/nowhere' },
    },
    outbox: {
      due: () => ({ since: world.due.since }),
      countDue: () => world.due.count,
      paused: () => 'a reason',
      refusedBoards: () => [],
      counts: () => ({ ready: 2, confirmed: 8 }),
      oldestUnsentAt: () => NOW - 11 * SECOND,
    },
    state: {
      troubles: () => NO_TROUBLES,
      mirrorFile: () => world.mirrorFile,
      sweepUnderWay: (resource: string) => (resource === 'posts' ? world.underWay : null),
      lastPasses: () =>
        ['posts', 'comments'].map((resource) => ({
          ...{ resource, mode: 'sweep', unfinished: false },
          ...world.sweep,
        })),
    },
    store: { status: () => ({ resources: [status('posts'), status('comments')] }) },
    publisher: { progress: () => world.copy },
    webhooks: {
      endpoints: [{ id: 'all', host: 'example.com' }],
      deps: {
        store: {
          lag: (position: number) => 100 - position,
          state: () => ({
            ...{ position: 93, disabled_why: null, lost: 2 },
            failing_since: new Date(NOW - MINUTE).toISOString(),
          }),
        },
      },
    },
  };
  const metrics = createMetrics();
  const context = { app, metrics, activity: newActivity() } as unknown as WorkContext;
  const queue = () => ({ backend, isSender: () => true });
  const startedAt = clock.monotonic() - 10 * MINUTE;
  const read = progressReader(context, { startedAt, tickEveryMs: 5000, queue });
  return { clock, world, told, context, metrics, queue, startedAt, read };
}

describe('the progress of a service', () => {
  it('tells what it measured itself as times of the clock', async () => {
    const { context, clock, read } = benchOf();
    const { activity, app } = context;
    const now = clock.monotonic();
    Object.assign(activity, { lastTickAt: now - 2 * SECOND, lastAttemptAt: now - 3 * SECOND });
    activity.passes.set('posts', { mode: 'head', since: now - 8 * SECOND, lastPageAt: now - SECOND });
    app.gate.closeUntil(NOW + MINUTE);
    const { startedAt, lastTickAt, outbox, lists, closedUntil, queue, webhooks } = await read();
    assert.deepEqual([startedAt, lastTickAt], [NOW - 10 * MINUTE, NOW - 2 * SECOND]);
    assert.deepEqual(outbox, {
      ...{ due: 4, oldestDueAt: NOW - 5 * SECOND, lastAttemptAt: NOW - 3 * SECOND },
      ...{ paused: 'a reason', refused: [], isSender: true },
    });
    assert.deepEqual(lists[0]?.running, {
      ...{ mode: 'head', since: NOW - 8 * SECOND, lastPageAt: NOW - SECOND },
    });
    assert.equal(closedUntil, NOW + MINUTE);
    assert.deepEqual([queue.kind, queue.reachable], ['embedded', true]);
    assert.equal(queue.depth.length, 5 * QUEUES.length);
    assert.deepEqual(queue.depth[4], { queue: 'ticks', state: 'failed', jobs: 4 });
    assert.deepEqual(webhooks, [
      { id: 'all', host: 'example.com', lag: 7, lost: 2, failingSince: NOW - MINUTE, disabledWhy: null },
    ]);
  });

  it('tells when a list is due and how long it takes', async () => {
    const { world, read, clock, startedAt } = benchOf();
    const list = async () => (await read()).lists[1];
    assert.deepEqual(await list(), {
      ...{ resource: 'comments', lastSweepAt: NOW - 20 * MINUTE, sweepDueAt: NOW + 40 * MINUTE },
      ...{ usualSweepMs: 10 * MINUTE, retryAt: null, running: null },
    });
    world.sweep = { startedAt: NOW - MINUTE, finishedAt: NOW - 2 * MINUTE };
    assert.equal((await list())?.usualSweepMs, 0, 'the clock was set meanwhile');
    world.sweep = { startedAt: null, finishedAt: null };
    assert.equal((await list())?.sweepDueAt, startedAt + NOW - clock.monotonic(), 'since its start');
    world.sweep = { startedAt: NOW + HOUR, finishedAt: NOW + 2 * HOUR };
    assert.equal((await list())?.sweepDueAt, NOW, 'since that was noticed');
    clock.advance(MINUTE);
    assert.equal((await list())?.sweepDueAt, NOW, 'and not anew with each look');
  });

  it('follows the sweep of another process by its pages, and takes it for dead without one', async () => {
    const { world, read, clock } = benchOf();
    const running = async () => (await read()).lists[0]?.running ?? null;
    world.underWay = { runId: 1, pages: 4, startedAt: NOW - MINUTE };
    assert.deepEqual(await running(), { mode: 'sweep', since: NOW - MINUTE, lastPageAt: NOW });
    clock.advance(40 * SECOND);
    assert.equal((await running())?.lastPageAt, NOW);
    world.underWay = { ...world.underWay, pages: 5 };
    assert.equal((await running())?.lastPageAt, NOW + 40 * SECOND);
    clock.advance(MINUTE);
    assert.equal((await running())?.lastPageAt, NOW + 40 * SECOND);
    clock.advance(1);
    assert.equal(await running(), null);
    world.underWay = { runId: 2, pages: 5, startedAt: NOW + HOUR };
    assert.equal((await running())?.since, clock.now(), 'not before its time, though the clock was set');
  });

  it('logs once that the mirror was removed, and again if it is removed again', async () => {
    const { world, told, read } = benchOf();
    for (const file of ['in place', 'removed', 'removed', 'replaced', 'in place', 'replaced'] as const) {
      world.mirrorFile = file;
      assert.equal((await read()).mirror, file);
    }
    const path = '/data/mirror.db';
    assert.deepEqual(told, [
      { event: 'mirror.removed', path },
      { event: 'mirror.replaced', path },
    ]);
  });

  it('reports no queue before it is open, and an unreachable queue', async () => {
    const { context, startedAt } = benchOf();
    const options = { startedAt, tickEveryMs: 5000 };
    const early = await progressReader(context, { ...options, queue: () => null })();
    assert.deepEqual([early.queue.kind, early.outbox.isSender], [null, false]);
    const away = { ...backend, ping: async () => Promise.reject(new Error('away')) };
    const queue = () => ({ backend: away as QueueBackend, isSender: () => false });
    const late = await progressReader(context, { ...options, queue })();
    assert.deepEqual(late.queue, { kind: 'embedded', reachable: false, depth: [] });
  });
});

describe('the gauges', () => {
  it('tell seconds, changes and rows, each of its own', async () => {
    const { context, metrics, queue, read, world, clock } = benchOf();
    observeGauges(context, { queue, progress: read });
    const found = async () => {
      const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('feedback_mirror_'));
      return new Map(
        lines.map((line) => line.slice('feedback_mirror_'.length).split(/ (?=\S+$)/) as [string, string]),
      );
    };
    const expected = {
      ...{ publish_lag_seconds: '7', publish_behind_changes: '3', publish_age_seconds: '9' },
      ...{ outbox_oldest_unsent_seconds: '11', 'outbox_rows{state="ready"}': '2' },
      'webhook_lag_changes{webhook="all"}': '7',
      'sync_lag_seconds{resource="posts",mode="sweep"}': '1200',
      'mirrored_rows{resource="posts",state="live"}': '5',
      'mirrored_rows{resource="posts",state="deleted"}': '2',
      'held_deletions{resource="posts"}': '3',
      'quarantined_rows{resource="posts"}': '1',
      'queue_jobs{queue="push",state="failed"}': '4',
      ready: '0',
    };
    const first = await found();
    for (const [name, value] of Object.entries(expected)) assert.equal(first.get(name), value, name);
    world.copy = { behind: 0, behindSince: null, publishedAt: null };
    clock.set(NOW - HOUR);
    const second = await found();
    assert.equal(second.get('publish_lag_seconds'), '0', 'it has everything');
    assert.equal(second.has('publish_age_seconds'), false);
    assert.equal(second.has('sync_lag_seconds{resource="posts",mode="sweep"}'), false, 'dated ahead');
  });
});
