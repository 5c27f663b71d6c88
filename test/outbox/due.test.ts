import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { push } from '../../src/outbox/push.ts';
import { benchFor, CREATE_MS, HOUR, MINUTE, reconcileRow, SETTLE_MS } from './bench.ts';
import { unknown } from './scripted-upstream.ts';

const DAY = 24 * HOUR;

describe('the rows that are due', () => {
  it('are those that waited for their time, then those that were never tried, as many as asked for', async (t) => {
    const bench = benchFor(t);
    const ids: number[] = [];
    for (let n = 0; n < 4; n++) ids.push(await bench.add({ title: `Wish ${n}` }));
    const began = bench.clock.now();
    const none = { unclear: null, count: 4, since: began };
    assert.deepEqual(await bench.store.due(began, 10), { ...none, ready: ids, at: null });
    bench.upstream.outcomes = [{ outcome: 'not-sent', reason: 'refused' }];
    await push(bench.context, ids[2] ?? 0);
    const { not_before: later } = await bench.row(ids[2] ?? 0);
    const at = Date.parse(later ?? '');
    const rest = ids.filter((_, n) => n !== 2);
    assert.deepEqual(await bench.store.due(bench.clock.now(), 10), { ...none, count: 3, ready: rest, at });
    bench.clock.advance(MINUTE);
    assert.deepEqual((await bench.store.due(bench.clock.now(), 10)).ready, [ids[2], ...rest]);
    assert.deepEqual((await bench.store.due(bench.clock.now(), 2)).ready, [ids[2], ids[0]]);
    assert.equal(
      (await bench.store.due(bench.clock.now(), 10)).ready[0],
      (await bench.store.next(bench.clock.now(), null)).ready,
    );
  });

  it('are also those to be looked for, but no twin of one that is under way', async (t) => {
    const bench = benchFor(t);
    const [first, _twin] = [await bench.add(), await bench.add()];
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, first);
    const settles = bench.clock.now() + CREATE_MS + SETTLE_MS;
    const unclear = { first: settles, last: settles };
    const waiting = { ready: [], unclear, at: null };
    assert.deepEqual(await bench.store.due(bench.clock.now(), 10), { ...waiting, count: 0, since: null });
    bench.clock.advance(CREATE_MS + SETTLE_MS);
    assert.deepEqual(await bench.store.due(bench.clock.now(), 10), { ...waiting, count: 1, since: settles });
  });
});

describe('a clock that was a day ahead and is right again', () => {
  it('leaves nothing waiting until tomorrow: what it put off is due', async (t) => {
    const bench = benchFor(t);
    const [id, other] = [await bench.add(), await bench.add({ title: 'Another' })];
    bench.clock.advance(DAY);
    bench.upstream.outcomes = [unknown(), { outcome: 'not-sent', reason: 'refused' }];
    await push(bench.context, id);
    await push(bench.context, other);
    bench.clock.advance(-DAY + MINUTE);
    const now = bench.clock.now();
    const due = await bench.store.due(now, 10);
    assert.deepEqual(due, {
      ready: [other],
      unclear: { first: now, last: now },
      at: null,
      count: 2,
      since: now - MINUTE,
    });
    assert.equal((await bench.store.next(now, null)).ready, other);
    assert.equal(await bench.store.refusal(other, now), null);
  });

  it('still leaves an unclear attempt time to settle before it is sent again', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.clock.advance(DAY);
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(-DAY);
    assert.equal(await reconcileRow(bench.context, id), 'later');
    bench.upstream.publish();
    bench.clock.advance(SETTLE_MS);
    assert.equal(await reconcileRow(bench.context, id), 'found');
  });
});
