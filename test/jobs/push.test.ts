import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Job, RateLimitError } from 'bullmq';
import { createSlots, type JobContext, newActivity } from '../../jobs/context.ts';
import { createDispatcher } from '../../jobs/dispatch.ts';
import { pushJob, rowOf } from '../../jobs/push.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { benchFor, SETTLE_MS } from '../outbox/bench.ts';
import { confirmed, unknown } from '../outbox/scripted-upstream.ts';

describe('the next look at the outbox', () => {
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
    assert.equal(await nextAt(), 60_000, 'the list is read five minutes after, while others are sent');
    assert.equal(jobIds.has('reconcile'), false);
    outbox.move(await add({ title: 'Again' }), TRANSITIONS.defer, { now, notBefore: now + 5000 });
    assert.equal(await nextAt(), 5000, 'the row that was tried is due');
    clock.advance(340_000);
    await dispatcher.look();
    assert.equal(jobIds.has('reconcile'), true);
    gate.closeUntil(clock.now() + 7000);
    assert.equal(await nextAt(), 347_000, 'nothing before the upstream may be called');
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
    it(`leaves as soon as the answer before it is known where that is "${outcome.outcome}", with that row ${state}`, async (t) => {
      const { context, upstream, store, add } = benchOf(t);
      const ids = [await add({ title: 'One' }), await add({ title: 'Two' })];
      const jobs = ids.map((outbox) => ({ data: { outbox } }) as Job);
      const states = (): unknown[] => jobs.map((job) => store.find(rowOf(job))?.state);
      const seen: unknown[] = [];
      const ended: unknown[] = [];
      let second: Promise<unknown> | undefined;
      upstream.outcomes = [outcome];
      upstream.duringCreate = async () => {
        seen.push([...ended], states());
        second ??= pushJob.run(context, jobs[1] as Job);
        // Whatever it could do without its turn, it has done by then.
        await setImmediate();
      };
      ended.push(await pushJob.run(context, jobs[0] as Job));
      assert.equal(await second, 'confirmed');
      assert.deepEqual(seen, [[], ['sending', 'ready'], [], [state, 'sending']]);
      assert.deepEqual(states(), [last, 'confirmed']);
    });
});

describe('the slots of creates', () => {
  it('hold one job each, in order, and are freed once', async () => {
    const slots = createSlots(2);
    const began: string[] = [];
    const gates = ['a', 'b', 'c', 'd'].map((name) => ({ name, ...Promise.withResolvers<void>() }));
    const ends: (() => void)[] = [];
    const done = gates.map(({ name, promise }) =>
      slots.take(async (end) => {
        began.push(name);
        ends.push(end);
        await promise;
        return name;
      }),
    );
    await setImmediate();
    assert.deepEqual(began, ['a', 'b']);
    ends[0]?.();
    ends[0]?.();
    await setImmediate();
    assert.deepEqual(began, ['a', 'b', 'c'], 'one slot for one that ended');
    for (const { resolve } of gates) resolve();
    assert.deepEqual(await Promise.all(done), ['a', 'b', 'c', 'd']);
    await assert.rejects(
      slots.take(() => Promise.reject(new Error('failed'))),
      /failed/,
    );
    const more = [1, 2, 3].map((n) => slots.take(async () => n));
    assert.deepEqual(await Promise.all(more), [1, 2, 3], 'a slot of work that failed is free as well');
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
    slots: createSlots(1),
    metrics: createMetrics(),
  } as unknown as JobContext;
  return { ...bench, context };
}
