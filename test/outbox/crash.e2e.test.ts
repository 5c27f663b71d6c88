import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { recoverOrphans } from '../../src/outbox/send/ended.ts';
import { until } from '../support/until.ts';
import { benchFor, CREATE_MS, HOUR, SETTLE_MS } from './bench.ts';
import { drive } from './drive.ts';
import { stageFor } from './sender.ts';

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
    await until('the service has the first post', () => stage.sandbox.world.ledger().length >= 1);
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

  it('lets the waiting process take over after a kill, and every row arrives once', async (t) => {
    const stage = await stageFor(t, { faults: 'hang-after times=1' });
    const ids = await stage.addRows(2);
    const frozen = stage.start();
    await until('the service has the first post', () => stage.sandbox.world.ledger().length >= 1);
    frozen.child.kill('SIGSTOP');
    const watcher = stage.start();
    await until('the other one has looked', () => watcher.naps() >= 1);
    frozen.child.kill('SIGKILL');
    const { code, output } = await watcher.ended;
    assert.equal(code, 0, output);
    await stage.assertOnceEach(ids);
  });
});

describe('rows that a dead sender left behind', () => {
  it('are unclear, and settle from the deadline of their attempt', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const { clock, store } = bench;
    const began = clock.now();
    await store.claim({
      id,
      transition: TRANSITIONS.claim,
      now: began,
      deadline: began + CREATE_MS,
      listedMaxId: null,
    });
    clock.advance(1000);
    assert.equal(await recoverOrphans(bench.context), 1);
    const row = await bench.row(id);
    assert.equal(row.state, 'ambiguous');
    assert.equal(row.not_before, new Date(began + CREATE_MS + SETTLE_MS).toISOString());
    const [attempt] = await store.attempts(id);
    assert.deepEqual([attempt?.outcome, attempt?.ended_at], ['unknown', new Date(clock.now()).toISOString()]);
    assert.equal(await recoverOrphans(bench.context), 0);
  });

  it('settle within the usual time where the clock was set back since', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const { clock, store } = bench;
    const ahead = clock.now() + 24 * HOUR;
    await store.claim({
      id,
      transition: TRANSITIONS.claim,
      now: ahead,
      deadline: ahead + CREATE_MS,
      listedMaxId: null,
    });
    await recoverOrphans(bench.context);
    const settled = clock.now() + CREATE_MS + SETTLE_MS;
    assert.equal((await bench.row(id)).not_before, new Date(settled).toISOString());
  });

  it('settle from now where the deadline is long past: a frozen sender may have sent it just before it died', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const { clock, store } = bench;
    await store.claim({
      id,
      transition: TRANSITIONS.claim,
      now: clock.now(),
      deadline: clock.now() + CREATE_MS,
      listedMaxId: null,
    });
    clock.advance(2 * HOUR);
    await recoverOrphans(bench.context);
    const settled = clock.now() + SETTLE_MS;
    assert.equal((await bench.row(id)).not_before, new Date(settled).toISOString());
    // It commits late and is listed late: looked for at once, it would not be found and go out a second time.
    clock.advance(50_000);
    bench.upstream.publish();
    await drive(bench.context, { batch: null, perMinute: 60 });
    assert.equal((await bench.row(id)).state, 'confirmed');
    assert.equal(bench.upstream.created.length, 0);
  });
});
