import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { createTurns, type JobContext, newActivity } from '../../jobs/context.ts';
import { createDispatcher } from '../../jobs/dispatch.ts';
import { push, rowOf } from '../../jobs/push.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { benchFor, SETTLE_MS } from '../outbox/bench.ts';

describe('rows that the queue did not take', () => {
  it('are enqueued by the next look', async (t) => {
    const { store: outbox, clock, add } = benchFor(t);
    const id = await add();
    const taken: unknown[] = [];
    let isAway = true;
    const addBulk = async (jobs: { data: object }[]): Promise<void> => {
      if (isAway) throw new Error('the queue is away');
      taken.push(...jobs.map(({ data }) => data));
    };
    const backend = { queue: () => ({ addBulk }) } as unknown as QueueBackend;
    const settings = { pushPerMinute: 60, pushSettle: SETTLE_MS };
    const app = { outbox, gate: createRateLimit(clock), clock, settings };
    const dispatcher = createDispatcher({ app, backend, forgetMs: 20_000 });
    await assert.rejects(dispatcher.look(), /the queue is away/);
    isAway = false;
    assert.equal(await dispatcher.look(), 1);
    assert.deepEqual(taken, [{ outbox: id }]);
  });
});

describe('a row that the queue hands out twice', () => {
  it('is left to the handler that has it', async (t) => {
    const { context, upstream, add } = benchOf(t);
    const job = { data: { outbox: await add() } } as Job;
    const second: unknown[] = [];
    upstream.duringCreate = async () => void second.push(await push.run(context, job));
    assert.equal(await push.run(context, job), 'confirmed');
    assert.deepEqual(second, ['another handler has it']);
  });
});

describe('a row that the queue hands out while another is on its way', () => {
  it('waits with a connection for the answer to be recorded, and then leaves before the queue has heard of it', async (t) => {
    const { context, upstream, store, add } = benchOf(t);
    const jobs = [await add(), await add()].map((outbox) => ({ data: { outbox } }) as Job);
    const states = (): unknown[] => jobs.map((job) => store.find(rowOf(job))?.state);
    const seen: unknown[] = [];
    const ended: unknown[] = [];
    let second: Promise<unknown> | undefined;
    upstream.client.connectAhead = () => void seen.push('connected ahead');
    upstream.duringCreate = async () => {
      seen.push([...ended]);
      second ??= push.run(context, jobs[1] as Job);
      // Whatever it could do without its turn, it has done by then.
      await setImmediate();
      seen.push(states());
    };
    ended.push(await push.run(context, jobs[0] as Job));
    assert.equal(await second, 'confirmed');
    assert.deepEqual(seen, [[], 'connected ahead', ['sending', 'ready'], [], ['confirmed', 'sending']]);
  });
});

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
