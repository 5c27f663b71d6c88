import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { push } from '../../src/outbox/push.ts';
import { benchFor, CREATE_MS, MINUTE, SETTLE_MS } from './bench.ts';
import { unknown } from './scripted-upstream.ts';

describe('the rows that are due', () => {
  it('are those that waited for their time, then those that were never tried, as many as asked for', async (t) => {
    const bench = benchFor(t);
    const ids: number[] = [];
    for (let n = 0; n < 4; n++) ids.push(await bench.add({ title: `Wish ${n}` }));
    const began = bench.clock.now();
    assert.deepEqual(await bench.store.due(began, 10), { ready: ids, settled: [], since: began, at: null });
    bench.upstream.outcomes = [{ outcome: 'not-sent', reason: 'refused' }];
    await push(bench.context, ids[2] ?? 0);
    const { not_before: later } = await bench.row(ids[2] ?? 0);
    const at = Date.parse(later ?? '');
    const rest = ids.filter((_, n) => n !== 2);
    assert.deepEqual(await bench.store.due(bench.clock.now(), 10), {
      ready: rest,
      settled: [],
      since: began,
      at,
    });
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
    assert.deepEqual(await bench.store.due(bench.clock.now(), 10), {
      ready: [],
      settled: [],
      since: null,
      at: settles,
    });
    bench.clock.advance(CREATE_MS + SETTLE_MS);
    assert.deepEqual(await bench.store.due(bench.clock.now(), 10), {
      ready: [],
      settled: [first],
      since: settles,
      at: null,
    });
  });
});
