import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { readWithin, unlessStopped, within } from '../../src/base/timeout.ts';

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

  it('returns null for a source that hangs, asks it once, and reads again when it answers', async () => {
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

describe('work that a stop does not wait for', () => {
  const never = new Promise<string>(() => undefined);

  it('returns undefined if the stop comes before or during it, and removes its listener', async () => {
    assert.equal(await unlessStopped(AbortSignal.abort(), never), undefined);
    const controller = new AbortController();
    const waiting = unlessStopped(controller.signal, never);
    controller.abort();
    assert.equal(await waiting, undefined);
    const { signal } = new AbortController();
    assert.equal(await unlessStopped(signal, Promise.resolve('done')), 'done');
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    assert.equal(await unlessStopped(undefined, Promise.resolve('done')), 'done');
  });

  it('fails where the work fails first', async () => {
    const { signal } = new AbortController();
    await assert.rejects(unlessStopped(signal, Promise.reject(new Error('broken'))), /broken/);
  });
});

describe('a promise with a time limit', () => {
  it('is replaced by a value, or fails with an error, when the time is over', async () => {
    const never = new Promise<string>(() => undefined);
    assert.equal(await within(1, never, () => 'instead'), 'instead');
    await assert.rejects(
      within(1, never, () => new Error('late')),
      /late/,
    );
    assert.equal(await within(600_000, Promise.resolve('in time'), () => 'instead'), 'in time');
  });
});
