import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobContext } from '../../jobs/context.ts';
import { webhookDispatcher } from '../../jobs/webhooks.ts';
import { fakeClock } from '../support/clock.ts';

/** One endpoint that is `lag` changes behind, and a queue that notes what is added to it. */
function dispatcherOver(mirror: { lag: number; version: number }) {
  const added: unknown[] = [];
  let asked = 0;
  const store = {
    state: () => ({ position: 1, disabled_at: null, not_before: null }),
    lag() {
      asked++;
      return mirror.lag;
    },
  };
  const webhooks = { endpoints: [{ id: 'one' }], deps: { store, feed: { version: () => mirror.version } } };
  const queue = {
    getJob: async () => undefined,
    add: async (_name: string, data: unknown) => void added.push(data),
  };
  const context = {
    app: { webhooks, clock: fakeClock() },
    backend: { queue: () => queue },
    activity: { webhooks: new Set() },
  };
  return { dispatch: webhookDispatcher(context as unknown as JobContext), added, asked: () => asked };
}

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
});
