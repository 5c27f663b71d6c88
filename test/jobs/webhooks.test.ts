import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from 'bullmq';
import type { JobContext } from '../../jobs/context.ts';
import { backoffOf } from '../../jobs/push.ts';
import { deliverWebhook, webhookDispatcher } from '../../jobs/webhooks.ts';
import { AppError } from '../../src/base/errors.ts';
import { fakeClock } from '../support/clock.ts';

/** One endpoint that is `lag` changes behind, and a queue that notes what is added to it. */
function dispatcherOver(mirror: { lag: number; version: number }, state: object = {}) {
  const added: unknown[] = [];
  const promoted: string[] = [];
  const clock = fakeClock();
  let asked = 0;
  let delayed: string | null = null;
  const store = {
    state: () => ({ position: 1, disabled_at: null, not_before: null, ...state }),
    lag() {
      asked++;
      return mirror.lag;
    },
  };
  const webhooks = { endpoints: [{ id: 'one' }], deps: { store, feed: { version: () => mirror.version } } };
  const queue = {
    getJob: async (id: string) =>
      delayed === null
        ? undefined
        : { isDelayed: async () => id === delayed, promote: async () => promoted.push(id) },
    async add(_name: string, data: unknown, options: object) {
      added.push(data);
      // While a job of that id is kept, done or failed, none of it can be added.
      assert.partialDeepStrictEqual(options, {
        ...{ jobId: 'webhook-one', attempts: 50, backoff: { type: 'custom' } },
        ...{ removeOnComplete: true, removeOnFail: true },
      });
    },
  };
  const running = new Set<string>();
  const context = {
    app: { webhooks, clock },
    backend: { queue: () => queue },
    activity: { webhooks: running },
  };
  const delay = (id: string): void => {
    delayed = id;
  };
  const dispatch = webhookDispatcher(context as unknown as JobContext);
  return { dispatch, added, promoted, running, clock, delay, asked: () => asked };
}

const LATER = new Date(fakeClock().now() + 60_000).toISOString();

describe('the dispatcher of webhooks', () => {
  it('enqueues again for an endpoint that stays behind: its job may just have been ending', async () => {
    const { dispatch, added } = dispatcherOver({ lag: 2, version: 1 });
    for (let n = 0; n < 3; n++) await dispatch();
    assert.deepEqual(added, [{ webhook: 'one' }, { webhook: 'one' }, { webhook: 'one' }]);
  });

  it('asks nothing while everybody was told and nothing is written', async () => {
    const mirror = { lag: 0, version: 1 };
    const { dispatch, added, asked } = dispatcherOver(mirror);
    for (let n = 0; n < 3; n++) await dispatch();
    assert.deepEqual([added.length, asked()], [0, 1]);
    Object.assign(mirror, { lag: 1, version: 2 });
    await dispatch();
    assert.deepEqual([added.length, asked()], [1, 2]);
  });

  it('leaves alone one that is disabled, is being told, or is to be tried later', async () => {
    const disabled = dispatcherOver({ lag: 2, version: 1 }, { disabled_at: LATER });
    const waiting = dispatcherOver({ lag: 2, version: 1 }, { not_before: LATER });
    const told = dispatcherOver({ lag: 2, version: 1 });
    told.running.add('one');
    for (const { dispatch, added } of [disabled, waiting, told]) {
      await dispatch();
      assert.deepEqual(added, []);
    }
    told.running.delete('one');
    waiting.clock.advance(60_000);
    for (const { dispatch, added } of [waiting, told]) {
      await dispatch();
      assert.deepEqual(added, [{ webhook: 'one' }]);
    }
  });

  it('has a job that waits for its time run now, rather than a second one', async () => {
    const { dispatch, added, promoted, delay } = dispatcherOver({ lag: 2, version: 1 });
    delay('webhook-one');
    await dispatch();
    assert.deepEqual([added, promoted], [[], ['webhook-one']]);
    delay('webhook-another');
    await dispatch();
    assert.deepEqual([added, promoted.length], [[{ webhook: 'one' }], 1], 'one that runs is not promoted');
  });
});

/** The job of one endpoint that is two changes behind. */
function jobOver(answers: (string | null | Error)[], state: object = {}) {
  const known = { position: 1, disabled_at: null, not_before: null, lost: 0, failures: 0, ...state };
  const told: string[] = [];
  const change = (number: number) => ({ number, position: `${number}-x`, type: 'post.edited', time: LATER });
  const feed = {
    after: (since: string) => ({
      changes: [2, 3].filter((n) => n > Number(since)).map(change),
      ...{ next: '3', isLast: true },
    }),
  };
  const store = {
    state: () => known,
    advance: (_id: string, position: number) => Object.assign(known, { position }),
    note: () => undefined,
    failed: () => undefined,
  };
  const sender = {
    async post() {
      const error = answers.shift() ?? null;
      if (error instanceof Error) throw error;
      return { status: 200, ms: 1, error, waitMs: null };
    },
  };
  const url = { reveal: () => 'https://example.com/hook' };
  const endpoint = { id: 'one', host: 'example.com', format: 'standard', key: null, personal: false, url };
  const say = ({ event }: { event: string }) => void told.push(event);
  const running = new Set<string>();
  const deps = { feed, store, sender, clock: fakeClock(), mirrorId: 'mirror', base: null, random: () => 0 };
  const context = {
    app: {
      webhooks: { endpoints: [{ ...endpoint, types: null, boards: null, rule: null }], deps },
      log: { error: say, warn: say },
    },
    activity: { webhooks: running },
    signal: new AbortController().signal,
  } as unknown as JobContext;
  const run = (webhook = 'one') => deliverWebhook.run(context, { data: { webhook } } as Job);
  return { run, running, told, left: () => 3 - known.position };
}

describe('the job of a webhook', () => {
  it('tells what the endpoint was not told, and has it for itself meanwhile', async () => {
    const { run, running, told, left } = jobOver([]);
    running.add('one');
    assert.equal(await run(), 'nothing to do here', 'another handler has it');
    assert.equal(left(), 2);
    running.clear();
    assert.equal(await run('another'), 'nothing to do here');
    assert.deepEqual([await run(), left(), told], [{ delivered: 2 }, 0, []]);
    assert.equal(running.size, 0);
  });

  it('is run again when the next attempt is due, which is told', async () => {
    const { run, running, told, left } = jobOver([null, 'it answered 503']);
    await assert.rejects(run(), (error: Error) => backoffOf(error) === 5000);
    assert.deepEqual([left(), told, running.size], [1, ['webhook.failed'], 0]);
  });

  it('tells what is lost and what is disabled, and is not run again then', async () => {
    const lost = jobOver([], { lost: 1 });
    assert.deepEqual([await lost.run(), lost.told], [{ delivered: 1 }, ['webhook.lost']]);
    const disabled = jobOver(['it answered 503'], { failures: 9 });
    assert.deepEqual([await disabled.run(), disabled.told], [{ delivered: 0 }, ['webhook.disabled']]);
  });

  it('is none that failed where the service stops', async () => {
    const { run, running } = jobOver([new AppError('interrupted', 'the service stops')]);
    assert.equal(await run(), 'stopped');
    assert.equal(running.size, 0);
    await assert.rejects(jobOver([new Error('a defect')]).run(), /a defect/);
  });
});
