import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { push } from '../../src/outbox/push.ts';
import type { Order, Sandbox, SandboxOptions } from '../../src/sandbox/server.ts';
import { workbenchFor } from '../sync/workbench.ts';
import { type Bench, benchFor, HOUR, MINUTE, reconcileRow } from './bench.ts';
import { unknown } from './scripted-upstream.ts';

/** A row that the sandbox took in without saying so, and how many pages were read to find it. */
async function foundIn(
  t: TestContext,
  options: SandboxOptions,
): Promise<{ result: string; pages: number; sandbox: Sandbox }> {
  const { sandbox, client } = await workbenchFor(t, {
    posts: 400,
    pageSize: 10,
    faults: 'reset-after',
    ...options,
  });
  const bench = benchFor(t);
  const id = await bench.add({ board: sandbox.world.boards()[0]?.slug ?? '', title: 'Only one of its kind' });
  const context = { ...bench.context, client, clock: systemClock, settleMs: 0, createMs: 0 };
  await push(context, id);
  const before = sandbox.requestCount;
  const result = await reconcileRow(context, id);
  assert.equal((await bench.row(id)).post_id, sandbox.world.ledger()[0]?.post_id);
  return { result, pages: sandbox.requestCount - before, sandbox };
}

describe('the list of a whole service', () => {
  it('newest first is read only as far as the attempt', async (t) => {
    const { result, pages } = await foundIn(t, { order: 'newest' });
    assert.equal(result, 'found');
    assert.ok(pages <= 8, `${pages} pages`);
  });

  for (const order of ['oldest', 'votes'] satisfies Order[])
    it(`in another order (${order}) is read to its end`, async (t) => {
      const { result, pages } = await foundIn(t, { order });
      assert.deepEqual({ result, pages }, { result: 'found', pages: 41 });
    });

  for (const hours of [-1, 1])
    it(`is understood where the upstream's clock is ${hours} h off`, async (t) => {
      const clock = { ...systemClock, now: () => systemClock.now() + hours * HOUR };
      const { result } = await foundIn(t, { clock });
      assert.equal(result, 'found');
    });
});

/** Old posts below a new one, so that a reader can tell when it has gone far enough. */
function fill(bench: Bench, count: number, row: (n: number) => Record<string, unknown>): void {
  for (let n = 0; n < count; n++) {
    const created = new Date(bench.clock.now() - (count - n) * HOUR).toISOString();
    bench.upstream.publish({ title: `Old ${n}`, created, ...row(n) });
  }
}

async function ambiguous(bench: Bench): Promise<number> {
  const id = await bench.add();
  bench.upstream.outcomes = [unknown()];
  await push(bench.context, id);
  bench.clock.advance(2 * MINUTE);
  return id;
}

const VARIED = (n: number) => ({ votes_count: n % 5, comments_count: n % 3 });

describe('how far a list is read', () => {
  it('two pages beyond the attempt, twice, where the order is beyond doubt', async (t) => {
    const bench = benchFor(t);
    fill(bench, 300, VARIED);
    bench.upstream.pageSize = 20;
    const id = await ambiguous(bench);
    const before = bench.upstream.pagesRead;
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    assert.equal(bench.upstream.pagesRead - before, 4);
  });

  it('to the end where all have one vote: sorted by votes, a new post without any would stand last', async (t) => {
    const bench = benchFor(t);
    fill(bench, 300, (n) => ({ votes_count: 1, comments_count: n % 3 }));
    bench.upstream.pageSize = 20;
    const id = await ambiguous(bench);
    const ours = bench.upstream.publish({ votes_count: 0 });
    bench.upstream.posts.push(...bench.upstream.posts.splice(0, 1));
    assert.equal(await reconcileRow(bench.context, id), 'found');
    assert.equal((await bench.row(id)).post_id, ours.id);
  });

  it('to the end where newer posts have more votes: it may be those that the list is sorted by', async (t) => {
    const bench = benchFor(t);
    fill(bench, 300, (n) => ({ votes_count: 1 + n, comments_count: n % 3 }));
    bench.upstream.pageSize = 20;
    const id = await ambiguous(bench);
    const ours = bench.upstream.publish({ votes_count: 0 });
    bench.upstream.posts.push(...bench.upstream.posts.splice(0, 1));
    assert.equal(await reconcileRow(bench.context, id), 'found');
    assert.equal((await bench.row(id)).post_id, ours.id);
  });

  it('not to the end where all have one vote and a later post of ours stands on top', async (t) => {
    const bench = benchFor(t);
    fill(bench, 300, () => ({ votes_count: 1, comments_count: 0 }));
    bench.upstream.pageSize = 20;
    const id = await ambiguous(bench);
    const other = bench.upstream.publish({ title: 'Witness', votes_count: 1, comments_count: 0 });
    bench.upstream.outcomes = [
      { outcome: 'confirmed', postId: other.id, url: null, httpStatus: 201, serverTime: null },
    ];
    await push(bench.context, await bench.add({ title: 'Witness' }));
    const before = bench.upstream.pagesRead;
    await reconcileRow(bench.context, id);
    assert.equal(bench.upstream.pagesRead - before, 6);
  });

  it('to the end where pages hold one row each and only the whole shows that they are not in order', async (t) => {
    const bench = benchFor(t);
    fill(bench, 60, VARIED);
    bench.upstream.pageSize = 1;
    bench.upstream.posts.sort((a, b) => (a.id % 7) - (b.id % 7));
    const id = await ambiguous(bench);
    bench.upstream.publish();
    bench.upstream.posts.push(...bench.upstream.posts.splice(0, 1));
    assert.equal(await reconcileRow(bench.context, id), 'found');
  });
});

describe('the time of a post', () => {
  const cases: [string, string, number | null][] = [
    ['is cut to the minute', '2026-01-01T00:00', 0],
    ['has no zone and is a local one', '2025-12-31T19:00:30', 0],
    ['is in another zone', '2026-01-01T05:00:30+05:00', 0],
    ['comes from a clock nobody can read', '2025-12-31T18:00:30Z', null],
  ];
  for (const [name, created, aheadMs] of cases)
    it(`${name}: the post is found all the same`, async (t) => {
      const bench = benchFor(t);
      bench.clock.advance(30_000);
      Object.assign(bench.upstream, { aheadMs });
      const id = await ambiguous(bench);
      bench.upstream.publish({ created });
      assert.equal(await reconcileRow(bench.context, id), 'found');
    });

  it('that is hours before the attempt does not rule out a post with a new number', async (t) => {
    const bench = benchFor(t);
    const id = await ambiguous(bench);
    bench.upstream.publish({ created: '2025-12-31T19:00:00Z' });
    assert.equal(await reconcileRow(bench.context, id), 'found');
  });

  it('rules the post out together with a number that stood in the list before', async (t) => {
    const bench = benchFor(t);
    bench.upstream.publish({ created: '2025-12-31T19:00:00Z' });
    const id = await ambiguous(bench);
    assert.equal(await reconcileRow(bench.context, id), 'send again');
  });
});
