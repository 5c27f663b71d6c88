import assert from 'node:assert/strict';
import type { Client } from '../../src/api/client.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';
import { drive } from './drive.ts';

/** A second sender that is started while the first one seems to do nothing. */
export interface Rival {
  findsItTaken(): Promise<void>;
}

const WATCHED = new Error('watched long enough');

/** It may look, and nothing else: a single request of it would be a second sender's. */
export function rivalTo(store: OutboxStore, clock: Clock): Rival {
  const client = new Proxy({} as Client, {
    get: () => () => assert.fail('a second sender talked to the upstream'),
  });
  return {
    async findsItTaken() {
      // Frozen before it had the lock, or after, the first one is no sender, and there is nothing to find.
      const lock = await store.lockSender();
      if (lock.ok) {
        lock.release();
        return;
      }
      let looks = 0;
      const watching: Clock = {
        ...clock,
        sleep: async () => {
          if (++looks === 3) throw WATCHED;
        },
      };
      const signal = new AbortController().signal;
      const context = {
        store,
        client,
        gate: createRateLimit(watching),
        clock: watching,
        signal,
        createMs: 1,
        perMinute: Number.POSITIVE_INFINITY,
        settleMs: 1,
        random: Math.random,
      };
      const before = await store.counts(null);
      await drive(context, { batch: null, perMinute: 60 }).catch((error: unknown) => {
        if (error !== WATCHED) throw error;
      });
      assert.deepEqual(await store.counts(null), before, 'a second sender changed rows');
    },
  };
}
