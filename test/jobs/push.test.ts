import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from 'bullmq';
import { type JobContext, newActivity } from '../../jobs/context.ts';
import { createDispatcher } from '../../jobs/dispatch.ts';
import { push } from '../../jobs/push.ts';
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
    const { clock, context: sending, upstream, add } = benchFor(t);
    const id = await add();
    const log = createLogger({ level: 'silent', format: 'json', secrets: () => [] });
    const app = { gate: sending.gate, clock, log };
    const context = {
      app,
      sending,
      activity: newActivity(),
      metrics: createMetrics(),
    } as unknown as JobContext;
    const job = { data: { outbox: id } } as Job;
    const second: unknown[] = [];
    upstream.duringCreate = async () => void second.push(await push.run(context, job));
    assert.equal(await push.run(context, job), 'confirmed');
    assert.deepEqual(second, ['another handler has it']);
  });
});
