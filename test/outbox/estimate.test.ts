import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import {
  estimateOf,
  estimateText,
  estimateWaiting,
  type Pace,
  paceOfNewRows,
} from '../../src/outbox/send/estimate.ts';
import { push } from '../../src/outbox/send/push.ts';
import { benchFor, MINUTE } from './bench.ts';

const NOW = new Date(2026, 10, 15, 16, 17).getTime();
const PACE: Pace = {
  rows: 5000,
  ahead: 0,
  perMinute: 60,
  ownPerMinute: null,
  observed: null,
  closedUntil: null,
};

describe('how long an import takes', () => {
  it('is shown with rate, time and end', () => {
    assert.equal(
      estimateText(estimateOf(PACE, NOW)),
      '5,000 posts at 60 a minute: about 83 min, until 17:40',
    );
    assert.match(
      estimateText(estimateOf({ ...PACE, rows: 50_000 }, NOW)),
      /about 13\.9 h, until 2026-11-16 06:10$/,
    );
  });

  it('counts what goes before, and the wait that the service asked for', () => {
    assert.equal(estimateOf({ ...PACE, ahead: 600 }, NOW).ms, (5600 / 60) * MINUTE);
    assert.equal(estimateOf({ ...PACE, rows: 60, closedUntil: NOW + MINUTE }, NOW).ms, 2 * MINUTE);
    assert.equal(estimateOf({ ...PACE, rows: 60, closedUntil: NOW - MINUTE }, NOW).ms, MINUTE, 'it is over');
  });

  it('follows a service that is slower, and never promises more than is set', () => {
    const slow = { posts: 50, ms: 5 * MINUTE };
    assert.equal(estimateOf({ ...PACE, observed: slow }, NOW).perMinute, 10);
    assert.equal(estimateOf({ ...PACE, observed: { posts: 900, ms: MINUTE } }, NOW).perMinute, 60);
    assert.equal(estimateOf({ ...PACE, observed: { posts: 4, ms: MINUTE } }, NOW).perMinute, 60);
    assert.equal(estimateOf({ ...PACE, observed: { posts: 5, ms: MINUTE } }, NOW).perMinute, 5);
    assert.equal(estimateOf({ ...PACE, observed: { posts: 5, ms: MINUTE / 2 - 1 } }, NOW).perMinute, 60);
    assert.equal(estimateOf({ ...PACE, observed: { posts: 5, ms: MINUTE / 2 } }, NOW).perMinute, 10);
  });

  it('does not take a service for slow because there was nothing to send', async (t) => {
    const bench = benchFor(t);
    const observed = () =>
      paceOfNewRows(bench.store, 5000, { perMinute: 60, ownPerMinute: null }, bench.clock.now()).observed;
    const send = async (title: string, ms: number): Promise<void> => {
      const id = await bench.add({ title });
      bench.upstream.duringCreate = () => void bench.clock.advance(ms);
      await push(bench.context, id);
    };
    for (const title of ['A', 'B', 'C']) {
      await send(title, 200);
      bench.clock.advance(MINUTE / 2);
    }
    assert.deepEqual(observed(), { posts: 3, ms: 600 });
    await bench.add({ title: 'D' });
    assert.deepEqual(observed(), { posts: 3, ms: 600 });
    bench.clock.advance(MINUTE / 4);
    assert.deepEqual(observed(), { posts: 3, ms: 600 + MINUTE / 4 });
  });

  it('does not take a service for slow because an import was paused', async (t) => {
    const bench = benchFor(t);
    const { store, clock, upstream } = bench;
    const observed = () =>
      paceOfNewRows(store, 600, { perMinute: 60, ownPerMinute: null }, clock.now()).observed;
    const ids: number[] = [];
    for (const title of ['A', 'B', 'C', 'D']) ids.push(await bench.add({ title }, 'paused'));
    upstream.duringCreate = () => void clock.advance(1000);
    for (const id of ids.slice(0, 2)) await push(bench.context, id);
    store.pauseBatch('paused', clock.now());
    clock.advance(MINUTE);
    store.resumeBatch('paused', clock.now());
    assert.deepEqual(observed(), { posts: 2, ms: 2000 });
    await push(bench.context, ids[2] ?? 0);
    assert.deepEqual(observed(), { posts: 3, ms: 3000 });
    store.pauseBatch('paused', clock.now());
    clock.advance(MINUTE);
    store.moveAll(ids.slice(3), TRANSITIONS.cancel, { now: clock.now() });
    await bench.add({ title: 'E' }, 'next');
    assert.deepEqual(observed(), { posts: 3, ms: 3000 });
  });

  it('waits for what goes before at the pace of the service, also at a pace of its own', async (t) => {
    const bench = benchFor(t);
    const now = bench.clock.now();
    for (let i = 0; i < 30; i++) await bench.add({ title: `Big ${i}` }, 'big');
    const rates = { perMinute: 60, ownPerMinute: 6 };
    const dry = estimateOf(paceOfNewRows(bench.store, 3, rates, now), now);
    bench.store.paceBatch('small', 6, now);
    for (let i = 0; i < 3; i++) await bench.add({ title: `Small ${i}` }, 'small');
    for (let i = 0; i < 30; i++) await bench.add({ title: `Later ${i}` }, 'later');
    const told = estimateWaiting(bench.store, 'small', 60, now);
    assert.deepEqual([told, told?.perMinute, told?.ms], [dry, 6, MINUTE]);
    assert.equal(estimateWaiting(bench.store, 'big', 60, now)?.ms, MINUTE / 2, 'what came later goes later');
  });

  it('is nothing for an import that was cancelled, whatever waits in it', async (t) => {
    const { store, clock, add } = benchFor(t);
    await add({}, 'one');
    assert.equal(estimateWaiting(store, 'one', 60, clock.now())?.rows, 1);
    store.stopBatch('one', clock.now());
    assert.equal(estimateWaiting(store, 'one', 60, clock.now()), null);
  });

  it('goes by the pace of the import, and is nothing while it is paused', async (t) => {
    const bench = benchFor(t);
    bench.store.paceBatch('slow', 6, bench.clock.now());
    await bench.add({ title: 'A' }, 'slow');
    await bench.add({ title: 'B' }, 'fast');
    const estimate = (batch: string | null) => estimateWaiting(bench.store, batch, 60, bench.clock.now());
    assert.deepEqual([estimate('slow')?.perMinute, estimate('fast')?.perMinute], [6, 60]);
    const { mock } = t.mock.method(bench.store, 'countFree');
    assert.equal(estimate(null)?.rows, 1, 'what is held does not wait for the service');
    assert.equal(mock.callCount(), 1, 'counted once, as a million may wait');
    bench.store.pauseBatch('slow', bench.clock.now());
    assert.equal(estimate('slow'), null);
  });
});
