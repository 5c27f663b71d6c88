import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readWithin } from '../../src/base/timeout.ts';

describe('a reader with a time limit', () => {
  it('gives what was read', async () => {
    const read = readWithin(10_000, async () => 7);
    assert.equal(await read(), 7);
    assert.equal(await read(), 7);
  });

  it('gives null for a failure, also for one that comes at once, and tries again the next time', async () => {
    let asked = 0;
    const read = readWithin(10_000, () => {
      asked++;
      if (asked === 1) throw new Error('at once');
      return asked === 2 ? Promise.reject(new Error('later')) : Promise.resolve(asked);
    });
    assert.deepEqual([await read(), await read(), await read()], [null, null, 3]);
  });

  it('gives null for what hangs, asks it only once, and is there again when it comes back', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    let asked = 0;
    const read = readWithin(1, () => {
      asked++;
      return asked === 1 ? promise : Promise.resolve('fresh');
    });
    assert.deepEqual(await Promise.all([read(), read()]), [null, null]);
    assert.equal(await read(), null);
    assert.equal(asked, 1);
    resolve('late');
    assert.equal(await read(), 'late');
    assert.equal(await read(), 'fresh');
  });
});
