import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Client } from '../../src/api/client.ts';
import { systemClock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';
import { push } from '../../src/outbox/send/push.ts';
import { reconcile } from '../../src/outbox/send/reconcile.ts';
import type { Order, Sandbox, SandboxOptions } from '../laboratory/server.ts';
import { workbenchFor } from '../mirror/workbench.ts';
import { type Bench, benchFor, HOUR, MINUTE, reconcileRow } from './bench.ts';
import { confirmed, unknown } from './scripted-upstream.ts';

/** A row that the sandbox took in without saying so, and how many pages were read to find it. */
async function foundIn(
  t: TestContext,
  options: SandboxOptions,
  search?: Client['search'],
): Promise<{ result: string; pages: number; sandbox: Sandbox }> {
  const { sandbox, client: real } = await workbenchFor(t, {
    posts: 400,
    pageSize: 10,
    faults: 'reset-after',
    ...options,
  });
  const client = search ? { ...real, search } : real;
  const bench = benchFor(t);
  const id = await bench.add({ board: sandbox.world.boards()[0]?.slug ?? '', title: 'Only one of its kind' });
  const context = { ...bench.context, client, clock: systemClock, settleMs: 0, createMs: 0 };
  await push(context, id);
  const before = sandbox.requestCount;
  const result = await reconcileRow(context, id);
  assert.equal((await bench.row(id)).post_id, sandbox.world.ledger()[0]?.post_id);
  return { result, pages: sandbox.requestCount - before, sandbox };
}

const noSearch: Client['search'] = async () => {
  throw new AppError('protocol', 'there is no search');
};

describe('the list of a whole service', () => {
  it('newest first is read only as far as the attempt', async (t) => {
    const { result, pages } = await foundIn(t, { order: 'newest' }, noSearch);
    assert.equal(result, 'found');
    assert.ok(pages <= 8, `${pages} pages`);
  });

  it('is not read where the search of the service finds the post', async (t) => {
    const { result, pages } = await foundIn(t, { order: 'votes' });
    assert.deepEqual({ result, pages }, { result: 'found', pages: 1 });
  });

  for (const order of ['oldest', 'votes'] satisfies Order[])
    it(`in another order (${order}) is read to its end`, async (t) => {
      const { result, pages } = await foundIn(t, { order }, noSearch);
      assert.deepEqual({ result, pages }, { result: 'found', pages: 41 });
    });

  for (const hours of [-1, 1])
    it(`is understood where the upstream's clock is ${hours} h off`, async (t) => {
      const clock = { ...systemClock, now: () => systemClock.now() + hours * HOUR };
      const { result } = await foundIn(t, { clock }, noSearch);
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

/** Sends a row, and the upstream lists its post. */
async function published(bench: Bench, id: number): Promise<void> {
  bench.upstream.duringCreate = (asked) => {
    const post = bench.upstream.publish({ title: Reflect.get(asked, 'title') });
    bench.upstream.outcomes = [confirmed(post.id)];
  };
  await push(bench.context, id);
  bench.upstream.duringCreate = () => {};
  bench.clock.advance(1000);
}

const VARIED = (n: number) => ({ votes_count: n % 5, comments_count: n % 3 });

/** The mirror has swept so many old posts, in pages of ten. */
async function sweptBench(t: TestContext, count: number): Promise<Bench> {
  const bench = benchFor(t);
  bench.upstream.pageSize = 10;
  fill(bench, count, VARIED);
  await bench.sweep();
  return bench;
}

describe('how far a list is read', () => {
  it('once, and twenty old rows beyond the attempt, where the list is newest first', async (t) => {
    const bench = benchFor(t);
    fill(bench, 300, VARIED);
    bench.upstream.pageSize = 15;
    const id = await ambiguous(bench);
    const before = bench.upstream.pagesRead;
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    assert.equal(bench.upstream.pagesRead - before, 2);
  });

  it('also where two posts share a time, and their numbers do not fall', async (t) => {
    const bench = benchFor(t);
    const timeOf = (n: number) =>
      new Date(bench.clock.now() - (150 - Math.floor(n / 2)) * HOUR).toISOString();
    fill(bench, 300, (n) => ({ id: 5000 + (n % 2 === 0 ? n + 1 : n - 1), created: timeOf(n) }));
    bench.upstream.pageSize = 15;
    const id = await ambiguous(bench);
    const before = bench.upstream.pagesRead;
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    assert.ok(bench.upstream.pagesRead - before <= 6, `${bench.upstream.pagesRead - before} of 20 pages`);
  });

  it('twenty old rows beyond the attempt, also where posts of others stand between them and none was seen before', async (t) => {
    const bench = await sweptBench(t, 300);
    for (let n = 0; n < 100; n++) {
      await published(bench, await bench.add({ title: `Wish ${n}` }));
      if (n % 10 === 0) bench.upstream.publish({ title: `Of others ${n}` });
    }
    const id = await ambiguous(bench);
    const before = bench.upstream.pagesRead;
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    assert.ok(bench.upstream.pagesRead - before <= 3, `${bench.upstream.pagesRead - before} of 42 pages`);
  });

  it('beyond posts that were made later than it, for rows that were first sent earlier', async (t) => {
    const bench = await sweptBench(t, 100);
    const earlier = [];
    for (let n = 0; n < 25; n++) {
      earlier.push(await bench.add({ title: `Wish ${n}` }));
      bench.upstream.outcomes = [unknown()];
      await push(bench.context, earlier.at(-1) ?? 0);
      bench.clock.advance(1000);
    }
    bench.clock.advance(2 * MINUTE);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    assert.equal((await reconcile(bench.context)).get(earlier[0] ?? 0), 'send again');
    bench.upstream.publish();
    for (const row of earlier) await published(bench, row);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'found');
  });

  it('concludes nothing if a newest-first list leaves out the newest posts that the mirror knows', async (t) => {
    const bench = benchFor(t);
    fill(bench, 300, VARIED);
    await bench.sweep();
    const id = await ambiguous(bench);
    const [, , , , ...behind] = bench.upstream.posts;
    bench.upstream.posts = behind;
    assert.equal(await reconcileRow(bench.context, id), 'later');
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
