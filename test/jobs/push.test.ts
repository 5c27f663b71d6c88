import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Job, RateLimitError } from 'bullmq';
import { createTurns, type JobContext, newActivity } from '../../jobs/context.ts';
import { createDispatcher } from '../../jobs/dispatch.ts';
import { backoffOf, dispatch, pushJob, RunAgain, reconcileJob, rowOf } from '../../jobs/push.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { benchFor, SETTLE_MS } from '../outbox/bench.ts';
import { confirmed, unknown } from '../outbox/scripted-upstream.ts';
import { fakeClock } from '../support/clock.ts';

describe('rows that the queue did not take', () => {
  it('are enqueued by the next look', async (t) => {
    const { store: outbox, clock, add } = benchFor(t);
    const id = await add();
    const taken: unknown[] = [];
    let isAway = true;
    const addBulk = async (jobs: { data: object; opts: object }[]): Promise<void> => {
      if (isAway) throw new Error('the queue is away');
      taken.push(...jobs.map(({ data }) => data));
      // While a job of that row is kept, done or failed, the row cannot be enqueued again.
      for (const { opts } of jobs)
        assert.partialDeepStrictEqual(opts, {
          ...{ jobId: `push-${id}`, attempts: 50, backoff: { type: 'custom' } },
          ...{ removeOnComplete: true, removeOnFail: true },
        });
    };
    const getRanges = async (): Promise<string[]> => [];
    const backend = { queue: () => ({ addBulk, getRanges }) } as unknown as QueueBackend;
    const settings = { pushPerMinute: 60, pushSettle: SETTLE_MS };
    const app = { outbox, gate: createRateLimit(clock), clock, settings };
    const dispatcher = createDispatcher({ app, backend, forgetMs: 20_000 });
    await assert.rejects(dispatcher.look(), /the queue is away/);
    isAway = false;
    assert.equal(await dispatcher.look(), 1);
    assert.deepEqual(taken, [{ outbox: id }]);
  });
});

describe('the next look at the outbox', () => {
  it('is due when the last unclear row has settled, if nothing else is to be sent', async (t) => {
    const { store: outbox, clock, add } = benchFor(t);
    const app = { outbox, gate: createRateLimit(clock), clock, settings: { pushPerMinute: 60 } };
    const dispatcher = createDispatcher({ app, backend: queueOf().backend, forgetMs: 20_000 });
    const now = clock.now();
    outbox.move(await add(), TRANSITIONS.recheck, { now, notBefore: now + 40_000 });
    await dispatcher.look();
    assert.equal(dispatcher.nextAt(), now + 40_000);
  });

  it('is due when the first row stops waiting, has settled, or has its turn', async (t) => {
    const { store: outbox, clock, add } = benchFor(t);
    const { backend, jobIds } = queueOf();
    const settings = { pushPerMinute: 60, pushSettle: SETTLE_MS };
    const gate = createRateLimit(clock);
    const dispatcher = createDispatcher({
      app: { outbox, gate, clock, settings },
      backend,
      forgetMs: 20_000,
    });
    const now = clock.now();
    const nextAt = async (): Promise<number | null> => {
      await dispatcher.look();
      const at = dispatcher.nextAt();
      return at === null ? null : at - now;
    };
    assert.equal(await nextAt(), null);
    outbox.paceBatch('slow', 1, now);
    for (const title of ['One', 'Two', 'Three']) await add({ title }, 'slow');
    assert.equal(await nextAt(), 60_000, 'the next turn of the slow import');
    const unclear = await add({ title: 'Unclear' });
    outbox.move(unclear, TRANSITIONS.recheck, { now, notBefore: now + 40_000 });
    assert.equal(
      await nextAt(),
      60_000,
      'the list is read a minute after the row has settled, while others are sent',
    );
    assert.equal(jobIds.has('reconcile'), false);
    outbox.move(await add({ title: 'Again' }), TRANSITIONS.defer, { now, notBefore: now + 5000 });
    assert.equal(await nextAt(), 5000, 'the row that was tried is due');
    clock.advance(100_000);
    await dispatcher.look();
    assert.equal(jobIds.has('reconcile'), true);
    gate.closeUntil(clock.now() + 7000);
    assert.equal(await nextAt(), 107_000, 'nothing before the upstream may be called');
  });

  it('runs once at a time, and early when the queue runs low', async (t) => {
    const { store: outbox, clock, add } = benchFor(t);
    const { backend, jobIds } = queueOf();
    const settings = { pushPerMinute: 1, pushSettle: SETTLE_MS };
    const app = { outbox, gate: createRateLimit(clock), clock, settings };
    const dispatcher = createDispatcher({ app, backend, forgetMs: 20_000 });
    const ids = [await add({ title: 'First' })];
    assert.deepEqual(await Promise.all([dispatcher.look(), dispatcher.look()]), [1, 1]);
    assert.equal(dispatcher.isLow(), false, 'there are no more than those');
    for (let n = 0; n < 12; n++) ids.push(await add({ title: `Wish ${n}` }));
    assert.equal(await dispatcher.look(), 9);
    assert.deepEqual([jobIds.size, dispatcher.isLow()], [10, false]);
    for (const id of ids.slice(0, 5)) dispatcher.ended(id);
    assert.equal(dispatcher.isLow(), true);
  });
});

describe('rows of an import that is paused or cancelled', () => {
  it('leave the queue, where they would keep others waiting, and come back with it', async (t) => {
    const { store: outbox, clock, add } = benchFor(t);
    const { backend, jobIds } = queueOf();
    const settings = { pushPerMinute: 60, pushSettle: SETTLE_MS };
    const app = { outbox, gate: createRateLimit(clock), clock, settings };
    const dispatcherOf = () => createDispatcher({ app, backend, forgetMs: 20_000 });
    const big = [await add({ title: 'One' }, 'big'), await add({ title: 'Two' }, 'big')];
    const small = await add({ title: 'Three' }, 'small');
    await dispatcherOf().look();
    assert.equal(jobIds.size, 3);
    outbox.pauseBatch('big', clock.now());
    const next = dispatcherOf();
    await next.look();
    assert.deepEqual(
      [...jobIds],
      [`push-${small}`],
      'also where a process before this one has enqueued them',
    );
    outbox.resumeBatch('big', clock.now());
    assert.equal(await next.look(), 2);
    assert.equal(jobIds.size, 3);
    outbox.moveAll(big, TRANSITIONS.cancel, { now: clock.now() });
    await next.look();
    assert.deepEqual([...jobIds], [`push-${small}`]);
  });
});

describe('a row that the queue hands out twice', () => {
  it('is left to the handler that has it', async (t) => {
    const { context, upstream, add } = benchOf(t);
    const job = { data: { outbox: await add() } } as Job;
    const second: unknown[] = [];
    upstream.duringCreate = async () => void second.push(await pushJob.run(context, job));
    assert.equal(await pushJob.run(context, job), 'confirmed');
    assert.deepEqual(second, ['another handler has it']);
  });
});

describe('a row that the queue hands out before the pace allows it', () => {
  const openPaced = async (t: TestContext) => {
    const bench = benchOf(t);
    const [one, two] = [await bench.add({ title: 'One' }), await bench.add({ title: 'Two' })].map(
      (outbox) => ({ data: { outbox } }) as Job,
    );
    Object.assign(bench.context.sending, { perMinute: 6 });
    const stop = new AbortController();
    Object.assign(bench.context, { signal: stop.signal });
    assert.equal(await pushJob.run(bench.context, one as Job), 'confirmed');
    return { ...bench, two: two as Job, stop };
  };

  it('waits in its job for the next moment at which a post may leave', async (t) => {
    const { context, clock, two } = await openPaced(t);
    clock.advance(4000);
    assert.equal(await pushJob.run(context, two), 'confirmed');
    assert.deepEqual(clock.slept, [6000]);
  });

  it('goes back to the queue when the process stops', async (t) => {
    const { context, store, two, stop } = await openPaced(t);
    stop.abort();
    await assert.rejects(pushJob.run(context, two), RateLimitError);
    assert.equal(store.find(rowOf(two))?.state, 'ready');
  });
});

describe('a row that the queue hands out while another is on its way', () => {
  for (const { outcome, state, last } of [
    { outcome: confirmed(5), state: 'sending', last: 'confirmed' },
    { outcome: unknown(), state: 'ambiguous', last: 'ambiguous' },
  ])
    it(`leaves on a connection that waits for it where the answer is "${outcome.outcome}", with that row ${state}`, async (t) => {
      const { context, upstream, store, add } = benchOf(t);
      const ids = [await add({ title: 'One' }), await add({ title: 'Two' })];
      const jobs = ids.map((outbox) => ({ data: { outbox } }) as Job);
      const states = (): unknown[] => jobs.map((job) => store.find(rowOf(job))?.state);
      const seen: unknown[] = [];
      const ended: unknown[] = [];
      let second: Promise<unknown> | undefined;
      upstream.outcomes = [outcome];
      upstream.client.connectAhead = () => void seen.push('connected ahead');
      upstream.duringCreate = async () => {
        seen.push([...ended], states());
        second ??= pushJob.run(context, jobs[1] as Job);
        // Whatever it could do without its turn, it has done by then.
        await setImmediate();
      };
      ended.push(await pushJob.run(context, jobs[0] as Job));
      assert.equal(await second, 'confirmed');
      assert.deepEqual(seen, [[], ['sending', 'ready'], 'connected ahead', [], [state, 'sending']]);
      assert.deepEqual(states(), [last, 'confirmed']);
    });
});

describe('while the upstream wants no calls', () => {
  it('the queue waits a minute at most before the rate limit is read again, whatever the clock did meanwhile', async (t) => {
    const { context, clock, add, upstream } = benchOf(t);
    const job = { data: { outbox: await add() } } as Job;
    const waits: number[] = [];
    const rateLimit = async (ms: number): Promise<void> => void waits.push(ms);
    const backend = { queue: () => ({ rateLimit }) };
    const waiting = { ...context, backend, signal: new AbortController().signal } as unknown as JobContext;
    for (const ms of [3_600_000, 1500]) {
      const gate = { closedUntil: () => clock.now() + ms };
      const app = { ...context.app, gate } as unknown as JobContext['app'];
      await assert.rejects(async () => await pushJob.run({ ...waiting, app }, job), RateLimitError);
    }
    assert.deepEqual([waits, upstream.created], [[60_000, 1500], []]);
  });
});

describe('a row that may not go yet', () => {
  /** For how long each queue is told to wait. */
  const waitingOf = (context: JobContext, changes: object = {}) => {
    const waits: unknown[] = [];
    const queue = (name: string) => ({
      rateLimit: async (ms: number): Promise<void> => void waits.push([name, ms]),
    });
    const signal = new AbortController().signal;
    const waiting = { ...context, backend: { queue }, signal, ...changes } as unknown as JobContext;
    return { waiting, waits };
  };

  it('lets it wait for the rate limit that closed while the row waited for its turn', async (t) => {
    const { context, clock, add, upstream } = benchOf(t);
    let asked = 0;
    const closes = { closedUntil: () => (asked++ === 0 ? null : clock.now() + 9000) };
    const app = { ...context.app, gate: closes };
    const closed = { closedUntil: () => clock.now() + 9000 };
    const { waiting, waits } = waitingOf(context, { app, sending: { ...context.sending, gate: closed } });
    const job = { data: { outbox: await add() } } as Job;
    await assert.rejects(async () => await pushJob.run(waiting, job), RateLimitError);
    assert.deepEqual([waits, upstream.created], [[['push', 9000]], []]);
  });

  it('is looked for by one handler at a time', async (t) => {
    const { context, clock, add, upstream } = benchOf(t);
    upstream.outcomes = [unknown()];
    await pushJob.run(context, { data: { outbox: await add() } } as Job);
    clock.advance(3_600_000);
    const job = { data: { outbox: 0 } } as Job;
    let second: Promise<unknown> | undefined;
    upstream.beforePage = () => {
      second ??= Promise.resolve(reconcileJob.run(context, job));
    };
    await reconcileJob.run(context, job);
    assert.equal(await second, 'another handler has it');
  });
});

describe('looking for unclear rows', () => {
  it('waits while the upstream wants no calls, and is not begun when the service stops', async (t) => {
    const { context, clock, upstream } = benchOf(t);
    let reads = 0;
    upstream.beforePage = () => void reads++;
    const waits: unknown[] = [];
    const queue = (name: string) => ({ rateLimit: async (ms: number) => void waits.push([name, ms]) });
    const stop = new AbortController();
    const gate = { closedUntil: () => clock.now() + 9000 };
    const closed = { ...context, backend: { queue }, signal: stop.signal, app: { ...context.app, gate } };
    const job = { data: { outbox: 0 } } as Job;
    await assert.rejects(
      async () => await reconcileJob.run(closed as unknown as JobContext, job),
      RateLimitError,
    );
    assert.deepEqual(waits, [['reconcile', 9000]]);
    stop.abort(new Error('the service stops'));
    const stopping = { ...context, sending: { ...context.sending, signal: stop.signal } };
    await assert.rejects(async () => await reconcileJob.run(stopping, job), /the service stops/);
    assert.equal(reads, 0);
  });

  it('shows with each page that it gets on, and counts what came of it', async (t) => {
    const { context, clock, add, upstream } = benchOf(t);
    upstream.outcomes = [unknown()];
    await pushJob.run(context, { data: { outbox: await add() } } as Job);
    clock.advance(3_600_000);
    const began = clock.monotonic();
    upstream.beforePage = () => {
      clock.advance(60_000);
    };
    assert.deepEqual(await reconcileJob.run(context, { data: { outbox: 0 } } as Job), { 'send again': 1 });
    assert.ok((context.activity.lastAttemptAt ?? 0) >= began + 120_000, 'the list was read twice');
    const text = await context.metrics.text();
    assert.match(text, /push_outcomes_total\{outcome="unknown"\} 1/);
    assert.match(text, /reconcile_results_total\{result="send again"\} 1/);
  });
});

describe('the tick of the queue', () => {
  it('is noted once the outbox was looked at, and not where that failed', async () => {
    const clock = fakeClock();
    const activity = newActivity();
    clock.advance(7000);
    let failure: Error | null = new Error('the queue is away');
    const look = async (): Promise<number> => {
      if (failure) throw failure;
      return 0;
    };
    const { signal } = new AbortController();
    const context = { app: { clock }, activity, dispatcher: { look }, signal } as unknown as JobContext;
    await assert.rejects(async () => await dispatch.run(context, {} as Job), /away/);
    assert.equal(activity.lastTickAt, null);
    failure = null;
    await dispatch.run(context, {} as Job);
    assert.equal(activity.lastTickAt, 7000);
  });
});

describe('rows that are enqueued', () => {
  const dispatcherFor = (t: TestContext, batch?: string) => {
    const bench = benchFor(t);
    const { store: outbox, clock } = bench;
    const { backend, jobIds } = queueOf();
    const gate = createRateLimit(clock);
    const app = { outbox, gate, clock, settings: { pushPerMinute: 60, pushSettle: SETTLE_MS } };
    const dispatcher = createDispatcher({ app, backend, forgetMs: 20_000, batch: batch ?? null });
    return { ...bench, gate, jobIds, dispatcher };
  };

  it('are limited to one import for a command that sends that import', async (t) => {
    const { add, jobIds, dispatcher } = dispatcherFor(t, 'ours');
    await add({ title: 'Theirs' }, 'theirs');
    const ours = await add({ title: 'Ours' }, 'ours');
    assert.equal(await dispatcher.look(), 1);
    assert.deepEqual([...jobIds], [`push-${ours}`]);
  });

  it('are enqueued again after forgetMs, or once their job has ended', async (t) => {
    const { add, clock, dispatcher } = dispatcherFor(t);
    const id = await add();
    assert.equal(await dispatcher.look(), 1);
    clock.advance(19_999);
    assert.equal(await dispatcher.look(), 0);
    clock.advance(1);
    assert.equal(await dispatcher.look(), 1);
    dispatcher.ended(id);
    assert.equal(await dispatcher.look(), 1);
  });

  it('are not enqueued while sending is paused, the rate limit is closed, or a slow import waits', async (t) => {
    const { add, clock, gate, store, dispatcher, jobIds } = dispatcherFor(t);
    store.paceBatch('slow', 1, clock.now());
    const slow = await add({ title: 'Slow' }, 'slow');
    gate.closeUntil(clock.now() + 60_000);
    assert.equal(await dispatcher.look(), 0);
    assert.equal(
      store.due(clock.now(), 9).ready.includes(slow),
      false,
      'it waits for a turn that it can use',
    );
    clock.advance(60_000);
    store.setPaused('the token');
    assert.deepEqual([await dispatcher.look(), [...jobIds]], [0, []]);
    store.setPaused(null);
    assert.equal(await dispatcher.look(), 1);
  });
});

describe('a row that was not sent', () => {
  it('is retried at the time in the outbox, or after a second without one', async (t) => {
    const { context, clock, add, upstream, store } = benchOf(t);
    const id = await add();
    upstream.outcomes = [{ outcome: 'not-sent', reason: 'no route' }];
    clock.advance(5000);
    const again = await pushJob.run(context, { data: { outbox: id } } as Job).catch((error: Error) => error);
    assert.ok(again instanceof RunAgain);
    const wait = Date.parse(store.find(id)?.not_before ?? '') - clock.now();
    assert.ok(wait > 0);
    assert.equal(backoffOf(again), wait);
    assert.equal(backoffOf(new Error('something else')), 1000);
    assert.equal(context.activity.lastAttemptAt, clock.monotonic());
    assert.deepEqual([...context.activity.rows], [], 'another handler may have it');
  });

  it('because the upstream asked to wait lets the whole queue wait so long', async (t) => {
    const { context, clock, add, upstream } = benchOf(t);
    const waits: unknown[] = [];
    const rateLimit = async (ms: number): Promise<void> => void waits.push(ms);
    const queue = (name: string) => ({
      rateLimit: (ms: number) => rateLimit(ms).then(() => waits.push(name)),
    });
    const waiting = {
      ...context,
      backend: { queue },
      signal: new AbortController().signal,
    } as unknown as JobContext;
    const retryAt = clock.now() + 7000;
    upstream.outcomes = [{ outcome: 'throttled', httpStatus: 429, retryAt, reason: 'slow down' }];
    const job = { data: { outbox: await add() } } as Job;
    await assert.rejects(async () => await pushJob.run(waiting, job), RateLimitError);
    assert.deepEqual(waits, [7000, 'push']);
  });
});

describe('what is done in turns', () => {
  it('runs in order with one job a turn, and a turn ends once', async () => {
    const turns = createTurns(2);
    const began: string[] = [];
    const gates = ['a', 'b', 'c', 'd'].map((name) => ({ name, ...Promise.withResolvers<void>() }));
    const ends: (() => void)[] = [];
    const done = gates.map(({ name, promise }) =>
      turns.take(async (end) => {
        began.push(name);
        ends.push(end);
        await promise;
        return name;
      }),
    );
    await setImmediate();
    assert.deepEqual([began, turns.areTaken], [['a', 'b'], true]);
    ends[0]?.();
    ends[0]?.();
    await setImmediate();
    assert.deepEqual([began, turns.areTaken], [['a', 'b', 'c'], true], 'one turn for one that ended');
    for (const { resolve } of gates) resolve();
    assert.deepEqual(await Promise.all(done), ['a', 'b', 'c', 'd']);
    assert.equal(turns.areTaken, false);
    await assert.rejects(
      turns.take(() => Promise.reject(new Error('failed'))),
      /failed/,
    );
    const more = [1, 2, 3].map((n) => turns.take(async () => n));
    assert.deepEqual(await Promise.all(more), [1, 2, 3], 'a turn that failed is over as well');
  });
});

/** The ids of the jobs are all that a queue has to keep here. */
function queueOf() {
  const jobIds = new Set<string>();
  const queue = {
    addBulk: async (jobs: { opts: { jobId: string } }[]) => jobs.map(({ opts }) => jobIds.add(opts.jobId)),
    getRanges: async (_types: string[], start = 0, end = 1) =>
      [...jobIds].slice(start, end < 0 ? undefined : end + 1),
    remove: async (id: string) => Number(jobIds.delete(id)),
  };
  return { backend: { queue: () => queue } as unknown as QueueBackend, jobIds };
}

function benchOf(t: TestContext) {
  const bench = benchFor(t);
  const { clock, context: sending } = bench;
  const log = createLogger({ level: 'silent', format: 'json', secrets: () => [] });
  const context = {
    app: { gate: sending.gate, clock, log },
    sending,
    activity: newActivity(),
    turns: createTurns(1),
    metrics: createMetrics(),
  } as unknown as JobContext;
  return { ...bench, context };
}
