import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { push } from '../../src/outbox/send/push.ts';
import { type Bench, benchFor, HOUR } from './bench.ts';

/** Sends the next of so many rows with this pace, or says why not. */
async function senderOf(bench: Bench, rows: number) {
  const ids: number[] = [];
  for (let n = 0; n < rows; n++) ids.push(await bench.add({ title: `Wish ${n}` }));
  return async (perMinute: number, store = bench.store) => {
    const result = await push({ ...bench.context, store, perMinute }, ids[0] ?? 0);
    if (result.sent) ids.shift();
    return result.sent ? 'sent' : result.reason;
  };
}

describe('the pace of sending', () => {
  it('is kept by whatever process sends', async (t) => {
    const bench = benchFor(t);
    const send = await senderOf(bench, 3);
    const other = bench.another();
    assert.equal(await send(6), 'sent');
    assert.equal(await send(6, other), 'rate limit');
    bench.clock.advance(9999);
    assert.equal(await send(6, other), 'rate limit');
    assert.equal(other.nextSendAt(6, bench.clock.now()), bench.clock.now() + 1);
    bench.clock.advance(1);
    assert.equal(await send(6, other), 'sent');
    assert.equal(await send(6), 'rate limit');
  });

  it('is even, with bursts of a tenth of a second where it is fast', async (t) => {
    for (const [perMinute, burst] of [
      [7, 1],
      [60, 1],
      [600, 1],
      [6000, 10],
    ] as const) {
      const bench = benchFor(t);
      const send = await senderOf(bench, burst + 2);
      const sendAll = async (): Promise<number> => {
        let sent = 0;
        while (sent <= burst && (await send(perMinute)) === 'sent') sent += 1;
        return sent;
      };
      assert.equal(await sendAll(), burst, `${perMinute} a minute`);
      const window = Math.ceil((burst * 60_000) / perMinute);
      assert.equal(bench.store.nextSendAt(perMinute, bench.clock.now()), bench.clock.now() + window);
    }
  });

  it('is as many a minute as was asked for', async (t) => {
    for (const perMinute of [1, 7, 61, 599, 1234, 59_999]) {
      const { store, clock, add } = benchFor(t);
      const id = await add();
      const from = clock.now();
      let sent = 0;
      while (sent < 150) {
        const now = clock.now();
        const nextAt = store.nextSendAt(perMinute, now);
        if (nextAt !== null) clock.advance(nextAt - now);
        else {
          const times = { now, deadline: now, listedMaxId: null, perMinute };
          const claimed = store.claim({ id, transition: { from: ['ready'], to: 'sending' }, ...times });
          assert.ok('id' in claimed);
          store.move(id, { from: ['sending'], to: 'ready' }, { now, notBefore: null });
          sent += 1;
        }
      }
      const most = Math.floor(((clock.now() - from) * perMinute) / 60_000) + Math.ceil(perMinute / 600);
      assert.ok(sent <= most, `${sent} of ${most} at ${perMinute} a minute`);
    }
  });

  it('waits for no time that a clock which was ahead has written', async (t) => {
    for (const jump of [-HOUR, -11_000, 11_000, HOUR]) {
      const bench = benchFor(t);
      const send = await senderOf(bench, 3);
      assert.equal(await send(6), 'sent');
      bench.clock.set(bench.clock.now() + jump);
      assert.equal(await send(6), 'sent', `the clock was set by ${jump} ms`);
      assert.equal(await send(6), 'rate limit');
    }
  });
});
