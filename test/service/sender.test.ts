import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import type { Job, Worker } from 'bullmq';
import { type JobContext, newActivity } from '../../jobs/context.ts';
import { mostSlow } from '../../jobs/push.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { Processor, WorkerSettings } from '../../src/queue/backend.ts';
import { keepSending, type SenderOptions } from '../../src/service/sender.ts';
import { closeWorkers, loop, startWorker, startWorkers } from '../../src/service/workers.ts';
import { benchFor, MINUTE } from '../outbox/bench.ts';
import { timeline } from '../support/clock.ts';

const SECOND = 1000;
const START = Date.parse('2026-01-01T00:00:00.000Z');

/** Workers that run nothing by themselves, and what they were made with. */
function fakeBackend() {
  const workers = new Map<string, { settings: WorkerSettings; run: Processor; events: EventEmitter }>();
  let closed = 0;
  const worker = (name: string, run: Processor, settings: WorkerSettings): Worker => {
    const events = new EventEmitter();
    workers.set(name, { settings, run, events });
    return Object.assign(events, { close: async () => void closed++ }) as unknown as Worker;
  };
  return { backend: { worker }, workers, closed: () => closed };
}

/** A sender over an outbox of its own, on a clock that is told how far to go. */
function benchOf(t: TestContext, changes: Partial<SenderOptions> = {}) {
  const bench = benchFor(t);
  const clock = timeline(START);
  const queue = fakeBackend();
  const stop = new AbortController();
  const told: string[] = [];
  const say = ({ event }: { event: string }) => void told.push(event);
  const state = { isWanted: false, isFree: true, version: 1, nextAt: null as number | null, isLow: false };
  const counts = { locks: 0, firstLocks: 0, releases: 0, looks: 0 };
  const ended: number[] = [];
  const lock = (kind: 'locks' | 'firstLocks') => () => {
    counts[kind]++;
    return state.isFree
      ? { ok: true, release: () => void counts.releases++ }
      : { ok: false, holder: 'another' };
  };
  const outbox = {
    ...bench.store,
    ...{ lockSender: lock('locks'), lockSenderFirst: lock('firstLocks') },
    ...{ isSenderWanted: () => state.isWanted, dataVersion: () => state.version },
  };
  const activity = newActivity();
  const context = {
    app: { outbox, clock, log: { info: say, warn: say, error: say, debug: say }, webhooks: null },
    sending: { ...bench.context, clock, signal: stop.signal },
    dispatcher: {
      look: async () => ++counts.looks,
      ended: (id: number) => void ended.push(id),
      nextAt: () => state.nextAt,
      isLow: () => state.isLow,
    },
    ...{ activity, signal: stop.signal, backend: queue.backend, metrics: createMetrics() },
  } as unknown as JobContext;
  const options = {
    ...{ concurrency: 3, lockMs: SECOND, watchMs: 200, probeMs: 30 * SECOND, yields: false },
    ...changes,
  };
  const start = () => {
    const sender = keepSending(context, options);
    t.after(async () => {
      stop.abort();
      await sender.stopped;
    });
    return sender;
  };
  return { ...bench, ...queue, clock, context, state, counts, activity, ended, told, start, stop };
}

describe('a process that becomes the sender', () => {
  it('first brings into order what the one before it left', async (t) => {
    const bench = benchOf(t);
    const { store, clock, counts, told, upstream } = bench;
    const orphan = await bench.add({ title: 'Left' });
    const times = { now: START, deadline: START + 30 * SECOND, listedMaxId: null };
    store.claim({ id: orphan, transition: TRANSITIONS.claim, ...times });
    const cancelled = await bench.add({ title: 'Dropped' }, 'dropped');
    store.stopBatch('dropped', START);
    store.setPaused('the upstream refused the token');
    const until = new Date(START + MINUTE).toISOString();
    const since = new Date(START).toISOString();
    store.refuseBoard({ board: 'ideas', kind: 'owner', since, refused_at: since, until, refusals: 1 });
    await bench.add({ title: 'Waiting' });
    const { mock } = t.mock.method(upstream.client, 'page');
    const sender = bench.start();
    await clock.runUntil(START + 1);
    assert.equal(sender.state(), 'sending');
    assert.equal((await bench.row(orphan)).state, 'ambiguous');
    assert.equal((await bench.row(cancelled)).state, 'cancelled');
    assert.equal(store.paused(), null);
    assert.deepEqual(
      store.refusedBoards().map((board) => board.until),
      [since],
      'it is tried at once',
    );
    assert.deepEqual(told, ['push.sender', 'push.resumed']);
    assert.equal(mock.callCount(), 2, 'whether the token is taken, and up to where the list goes');
    assert.deepEqual([counts.firstLocks, counts.locks], [1, 0]);
  });

  it('sends so many at a time, and one more job waits for its turn', async (t) => {
    const { workers, clock, start } = benchOf(t);
    start();
    await clock.runUntil(START + 1);
    const { backoffStrategy, ...push } = workers.get('push')?.settings ?? {};
    assert.deepEqual(push, {
      ...{ concurrency: 4 + mostSlow(Number.POSITIVE_INFINITY), limiter: { max: 1_000_000, duration: 1000 } },
      ...{ lockDuration: 15_000, stalledInterval: 5000, maxStalledCount: 3 },
    });
    assert.equal(backoffStrategy?.(1, 'custom', undefined, undefined), 1000);
    assert.equal(workers.get('reconcile')?.settings.concurrency, 1);
  });

  it('asks again while another one sends, and gives the lock back when it is told to stop', async (t) => {
    const { clock, state, counts, start, stop, workers, closed } = benchOf(t);
    state.isFree = false;
    const sender = start();
    await clock.runUntil(START + 3500);
    assert.deepEqual([counts.firstLocks, workers.size, sender.state()], [4, 0, 'waiting']);
    state.isFree = true;
    await clock.runUntil(START + 4500);
    assert.equal(sender.state(), 'sending');
    stop.abort();
    await sender.stopped;
    assert.deepEqual([counts.releases, closed(), sender.state()], [1, 2, 'waiting']);
  });

  it('of a command leaves the lock to a service that waits for it', async (t) => {
    const { clock, state, counts, start, closed } = benchOf(t, { yields: true });
    state.isWanted = true;
    const sender = start();
    await clock.runUntil(START + 1500);
    assert.deepEqual([counts.locks, counts.firstLocks], [0, 0], 'it does not even ask');
    state.isWanted = false;
    await clock.runUntil(START + 2500);
    assert.deepEqual([counts.locks, sender.state()], [1, 'sending']);
    state.isWanted = true;
    await clock.runUntil(START + 2900);
    assert.deepEqual([counts.releases, closed(), sender.state()], [1, 2, 'waiting']);
  });

  it('of a service keeps the lock although others wait', async (t) => {
    const { clock, state, counts, start } = benchOf(t);
    start();
    state.isWanted = true;
    await clock.runUntil(START + 5 * SECOND);
    assert.deepEqual([counts.firstLocks, counts.releases], [1, 0]);
  });
});

describe('a sender', () => {
  it('looks at the outbox when another process wrote, or the time of a row has come, and not otherwise', async (t) => {
    const { clock, state, counts, start } = benchOf(t);
    start();
    await clock.runUntil(START + SECOND);
    assert.equal(counts.looks, 1);
    state.version = 2;
    await clock.runUntil(START + 2 * SECOND);
    assert.equal(counts.looks, 2);
    state.nextAt = START + 3 * SECOND;
    await clock.runUntil(START + 2900);
    assert.equal(counts.looks, 2);
    await clock.runUntil(START + 3100);
    assert.equal(counts.looks, 3);
  });

  it('enqueues a row again once its job is out of the queue, and looks for more where that is news', async (t) => {
    const { clock, state, counts, ended, start, workers } = benchOf(t);
    start();
    await clock.runUntil(START + SECOND);
    const before = counts.looks;
    const end = (queue: string, event: string, outbox: number, returnvalue: string): number => {
      workers.get(queue)?.events.emit(event, { data: { outbox }, returnvalue, name: queue } as Job);
      return counts.looks - before;
    };
    assert.equal(end('push', 'completed', 1, 'confirmed'), 0);
    assert.equal(end('push', 'completed', 2, 'rejected'), 1);
    assert.equal(end('push', 'failed', 3, 'rate limit'), 2);
    assert.equal(end('reconcile', 'completed', 0, 'confirmed'), 3);
    state.isLow = true;
    assert.equal(end('push', 'completed', 4, 'confirmed'), 4);
    assert.deepEqual(ended, [1, 2, 3, 0, 4]);
  });

  it('looks for rows whose handler is gone, from time to time, and for no other', async (t) => {
    const bench = benchOf(t);
    const { store, clock, counts, told, activity } = bench;
    bench.start();
    await clock.runUntil(START + SECOND);
    const ids = [await bench.add({ title: 'Left' }), await bench.add({ title: 'Under way' })];
    const times = { now: START, deadline: START + 30 * SECOND, listedMaxId: null };
    for (const id of ids) store.claim({ id, transition: TRANSITIONS.claim, ...times });
    activity.rows.add(ids[1] ?? 0);
    const states = async () => await Promise.all(ids.map(async (id) => (await bench.row(id)).state));
    await clock.runUntil(START + 29 * SECOND);
    assert.deepEqual(await states(), ['sending', 'sending']);
    const before = counts.looks;
    await clock.runUntil(START + 31 * SECOND);
    assert.deepEqual(await states(), ['ambiguous', 'sending']);
    assert.deepEqual([told.includes('push.left'), counts.looks - before], [true, 1]);
  });
});

describe('something that is done again and again', () => {
  it('is told once for as long as it fails the same way, and tried less and less often', async () => {
    const clock = timeline();
    const stop = new AbortController();
    const [times, told]: [number[], string[]] = [[], []];
    const log = { error: (_facts: object, text: string) => void told.push(text) };
    let failure: string | null = 'one';
    const options = { name: 'work', everyMs: 1000, clock, signal: stop.signal, log } as unknown;
    const done = loop(options as Parameters<typeof loop>[0], async () => {
      times.push(clock.now() / 1000);
      if (failure !== null) throw new Error(failure);
    });
    await clock.runUntil(17_000);
    assert.deepEqual([times, told], [[0, 2, 6, 11, 16], ['work: one']]);
    failure = 'two';
    await clock.runUntil(21_000);
    failure = null;
    await clock.runUntil(28_000);
    assert.deepEqual(times.slice(5), [21, 26, 27, 28]);
    failure = 'two';
    await clock.runUntil(31_000);
    assert.deepEqual(
      [times.slice(9), told],
      [
        [29, 31],
        ['work: one', 'work: two', 'work: two'],
      ],
    );
    stop.abort();
    await done;
  });

  it('more seldom than that is not tried more often because it fails', async () => {
    const clock = timeline();
    const stop = new AbortController();
    const times: number[] = [];
    const log = { error: () => undefined };
    const options = { name: 'work', everyMs: 30_000, clock, signal: stop.signal, log } as unknown;
    const done = loop(options as Parameters<typeof loop>[0], async () => {
      times.push(clock.now() / 1000);
      throw new Error('why');
    });
    await clock.runUntil(60_000);
    assert.deepEqual(times, [0, 30, 60]);
    stop.abort();
    await done;
  });
});

describe('the workers of a service', () => {
  const contextOf = (endpoints: number | null) => {
    const queue = fakeBackend();
    const metrics = createMetrics();
    const webhooks = endpoints === null ? null : { endpoints: Array.from({ length: endpoints }) };
    const context = { app: { webhooks }, backend: queue.backend, metrics } as unknown as JobContext;
    return { ...queue, metrics, context };
  };

  it('run one job of a queue at a time, and eight of the webhooks', () => {
    const { context, workers } = contextOf(null);
    startWorkers(context);
    assert.deepEqual([...workers.keys()], ['ticks', 'sync-posts', 'sync-comments', 'maintenance']);
    for (const { settings } of workers.values())
      assert.deepEqual(settings, { concurrency: 1, stalledInterval: 10_000, maxStalledCount: 10 });
    const some = contextOf(3);
    startWorkers(some.context);
    assert.equal(some.workers.get('webhooks')?.settings.concurrency, 8);
  });

  it('refuse a job that their queue does not know, and count what ends', async () => {
    const { context, workers, metrics } = contextOf(null);
    const { running } = startWorker(context, 'ticks', {});
    const { run, events } = workers.get('ticks') ?? {};
    assert.ok(run && events);
    const refused = run({ name: 'sync-head' } as Job, 'token', undefined);
    assert.equal(running.size, 1);
    await assert.rejects(refused, /the queue ticks has no job called sync-head/);
    assert.equal(running.size, 0);
    events.emit('completed', { name: 'dispatch', processedOn: 1000, finishedOn: 3500 });
    events.emit('failed', { name: 'dispatch', processedOn: 3500, finishedOn: 1000 });
    const text = await metrics.text();
    const sum = (outcome: string) =>
      new RegExp(
        `job_duration_seconds_sum\\{queue="ticks",job="dispatch",outcome="${outcome}"\\} (\\S+)`,
      ).exec(text)?.[1];
    assert.deepEqual(
      [sum('completed'), sum('failed')],
      ['2.5', '0'],
      'a clock that was set back counts as none',
    );
  });

  it('have their time to end a job, and are closed by force after it', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const closes: boolean[] = [];
    const ending = Promise.withResolvers<void>();
    const worker = {
      close: (force = false) => {
        closes.push(force);
        return force ? Promise.resolve() : new Promise(() => undefined);
      },
    } as unknown as Worker;
    const settle = () => new Promise((next) => setImmediate(next));
    let isDone = false;
    const closing = closeWorkers([{ worker, running: new Set([ending.promise]) }]).then(() => {
      isDone = true;
    });
    await settle();
    t.mock.timers.tick(8500);
    await settle();
    assert.deepEqual([closes, isDone], [[false], false]);
    t.mock.timers.tick(200);
    await closing;
    assert.deepEqual(closes, [false, true]);
    const idle = closeWorkers([{ worker, running: new Set() }]);
    await settle();
    t.mock.timers.tick(700);
    await idle;
    assert.deepEqual(closes, [false, true, false, true], 'a queue that is away is not waited for');
  });
});
