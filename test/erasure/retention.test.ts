import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eraseExpired } from '../../src/erasure/retention.ts';
import type { ErasureStore } from '../../src/store/erasure/store.ts';
import { fakeClock } from '../support/clock.ts';

describe('an erasure whose file still has to be rewritten', () => {
  for (const isUnclean of [true, false])
    it(`${isUnclean ? 'is made up for' : 'is left alone where it is clean'} although nothing is to be erased now`, async () => {
      const store = {
        expire: () => ({ counts: { posts: 0, comments: 0, outbox: 0 }, more: false }),
        retire: () => ({ users: 0, next: null }),
        isUnclean: () => isUnclean,
      } as unknown as ErasureStore;
      const { signal } = new AbortController();
      const options = { keepMs: 0, clock: fakeClock(), signal, compact: async () => true };
      assert.equal((await eraseExpired(store, options)).compacted, isUnclean);
    });
});
