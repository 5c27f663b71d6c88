import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { compactHeap, keepHeapSmall, onceQuiet } from '../../src/base/heap.ts';

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

describe('work that can wait', () => {
  it('is done once, after the first five seconds that were quiet', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const shares = [0.9, 0.021, 0.02, 0];
    let times = 0;
    onceQuiet(
      () => times++,
      () => shares.shift() ?? 0,
    );
    const after = (ms: number): number => {
      t.mock.timers.tick(ms);
      return times;
    };
    assert.deepEqual([after(5000), after(5000), after(4999), after(1), after(60_000)], [0, 0, 0, 1, 1]);
  });
});

describe('the heap of a program that waits for calls', () => {
  it('is collected once it has grown over the least it was since, not over what a call held', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let [megabytes, collections] = [0, 0];
    keepHeapSmall(
      () => megabytes * 1024 * 1024,
      () => collections++,
    );
    const collectionsAt = (...sizes: number[]): number[] =>
      sizes.map((size) => {
        megabytes = size;
        t.mock.timers.tick(250);
        return collections;
      });
    assert.deepEqual(collectionsAt(20, 23, 60, 30, 33, 34), [1, 1, 2, 2, 2, 3]);
  });
});
