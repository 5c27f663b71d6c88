import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { compactHeap } from '../../src/base/heap.ts';

describe('the heap after a start', () => {
  it('is rid of what nothing holds, and no other code can ask for that', async () => {
    const held = new WeakRef({});
    // A weak reference holds until the turn that made it is over.
    await setImmediate();
    compactHeap();
    assert.equal(held.deref(), undefined);
    assert.equal(globalThis.gc, undefined);
  });
});
