import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stageFor, until } from './sender.ts';

/** Where to die, and the trouble that brings a row there. */
const POINTS: [point: string, faults: string][] = [
  ['push:claimed', ''],
  ['push:answered', ''],
  ['push:recorded', ''],
  ['reconcile:read', 'status-after code=503 times=1'],
  ['reconcile:recorded', 'reset times=1 on=creates'],
];

describe('a sender that is killed', { concurrency: 2 }, () => {
  for (const [point, faults] of POINTS)
    it(`at ${point} leaves everything to the next one, and every row arrives once`, async (t) => {
      const stage = await stageFor(t, { faults });
      const ids = await stage.addRows(3);
      const { signal, output } = await stage.start(point).ended;
      assert.equal(signal, 'SIGKILL', `it did not die: ${output}`);
      const second = await stage.start().ended;
      assert.equal(second.code, 0, second.output);
      await stage.assertOnceEach(ids);
    });
});

describe('a sender that is frozen', () => {
  it('keeps its place: another one only watches, and when it wakes up all ends well', async (t) => {
    const stage = await stageFor(t, { faults: 'hang-after times=1' });
    const ids = await stage.addRows(3);
    const frozen = stage.start();
    await until('the service has the first post', () => stage.sandbox.world.ledger().length === 1);
    frozen.child.kill('SIGSTOP');
    const requests = stage.sandbox.requestCount;
    const watcher = stage.start();
    // Longer than the attempt may take, and longer than it would have to settle.
    await until('the other one has looked often', () => watcher.naps() >= 4);
    assert.equal(stage.sandbox.requestCount, requests, 'nobody talked to the service meanwhile');
    assert.equal((await stage.bench.store.counts(null)).sending, 1);
    frozen.child.kill('SIGCONT');
    for (const { ended } of [frozen, watcher]) {
      const { code, output } = await ended;
      assert.equal(code, 0, output);
    }
    await stage.assertOnceEach(ids);
  });

  it('and then killed: the one that watched takes over, and every row arrives once', async (t) => {
    const stage = await stageFor(t, { faults: 'hang-after times=1' });
    const ids = await stage.addRows(2);
    const frozen = stage.start();
    await until('the service has the first post', () => stage.sandbox.world.ledger().length === 1);
    frozen.child.kill('SIGSTOP');
    const watcher = stage.start();
    await until('the other one has looked', () => watcher.naps() >= 1);
    frozen.child.kill('SIGKILL');
    const { code, output } = await watcher.ended;
    assert.equal(code, 0, output);
    await stage.assertOnceEach(ids);
  });
});
