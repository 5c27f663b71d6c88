import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { benchFor, SETTLE_MS } from './bench.ts';
import { ALL, drive } from './drive.ts';
import { unknown } from './scripted-upstream.ts';

function wordsOf(asked: object): { title: unknown; content: unknown } {
  return { title: Reflect.get(asked, 'title'), content: Reflect.get(asked, 'content') };
}

describe('finding out about many rows', () => {
  it('takes three reads of the whole list at most, and three for those that were sent again', async (t) => {
    const bench = benchFor(t);
    const { upstream } = bench;
    // No order, so that every read goes to the end.
    for (let n = 0; n < 300; n++) upstream.publish({ title: `Old ${n}`, created: '2025-06-01T00:00:00.5Z' });
    upstream.posts.sort((a, b) => (a.id % 7) - (b.id % 7) || a.id - b.id);
    upstream.pageSize = 20;
    await bench.sweep();
    const before = upstream.pagesRead;
    for (let n = 0; n < 80; n++) await bench.add({ title: `Wish ${n}`, content: `Number ${n}.` });
    upstream.outcomes = Array.from({ length: 80 }, () => unknown());
    let sent = 0;
    upstream.duringCreate = (asked) => {
      // Three of four arrive, the others when they are sent again.
      if (++sent % 4 === 0 && sent <= 80) return;
      upstream.publish(wordsOf(asked));
      upstream.posts.push(...upstream.posts.splice(0, 1));
    };
    const counts = await drive(bench.context, ALL);
    assert.equal(counts.confirmed, 80);
    assert.equal(upstream.created.length, 100);
    const lists = (upstream.pagesRead - before) / Math.ceil(upstream.posts.length / upstream.pageSize);
    assert.ok(lists <= 6, `${lists} times the whole list`);
  });
});

describe('a rate limit', () => {
  it('that is known keeps rows from being claimed', async (t) => {
    const bench = benchFor(t);
    const ids: number[] = [];
    for (let n = 0; n < 30; n++) ids.push(await bench.add({ title: `Wish ${n}` }));
    const opens = bench.clock.now() + SETTLE_MS;
    const gate = { closedUntil: (now: number) => (now < opens ? opens : null), isDoubtful: () => false };
    await drive({ ...bench.context, gate }, ALL);
    for (const id of ids) assert.equal((await bench.row(id)).attempts, 1);
  });

  it('that another request has just met takes the attempt back', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const now = bench.clock.now();
    const claimed = await bench.store.claim({
      id,
      transition: TRANSITIONS.claim,
      now,
      deadline: now,
      listedMaxId: null,
    });
    assert.ok(!('refused' in claimed));
    const end = { id, n: 1, outcome: 'throttled' as const, httpStatus: null, error: 'closed', isVoid: true };
    await bench.store.endAttempt({
      ...end,
      transition: TRANSITIONS.release,
      change: { now, notBefore: now + 1000 },
    });
    const { state, attempts } = await bench.row(id);
    assert.deepEqual(
      { state, attempts, tries: await bench.store.attempts(id) },
      { state: 'ready', attempts: 0, tries: [] },
    );
  });
});
