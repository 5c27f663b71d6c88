import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertExact } from './mirror-rows.ts';
import { KILLED, killedAfter, stopAfter, type Workbench, workbenchFor } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;
const HEAD = { resource: 'posts', mode: 'head' } as const;

async function sweptBench(...args: Parameters<typeof workbenchFor>): Promise<Workbench> {
  const bench = await workbenchFor(...args);
  await bench.sync(SWEEP);
  return bench;
}

function addPosts(bench: Workbench, count: number): void {
  for (let n = 0; n < count; n++) bench.sandbox.world.addPost();
}

async function requestsOf(bench: Workbench, work: () => Promise<unknown>): Promise<number> {
  const before = bench.sandbox.requestCount;
  await work();
  return bench.sandbox.requestCount - before;
}

describe('a head pass', () => {
  for (const [posts, pageSize] of [
    [30, 5],
    [3000, 100],
  ] as const) {
    it(`over an unchanged list of ${posts} costs three requests at most`, async (t) => {
      const bench = await sweptBench(t, { posts, pageSize });
      const requests = await requestsOf(bench, async () => {
        const { inserted, updated, pages } = await bench.sync(HEAD);
        assert.deepEqual({ inserted, updated, pages }, { inserted: 0, updated: 0, pages: 2 });
      });
      assert.ok(requests <= 3, `${requests} requests`);
    });
  }

  it('over a list of one page costs one request', async (t) => {
    const bench = await sweptBench(t, { posts: 4, pageSize: 50 });
    assert.equal(await requestsOf(bench, () => bench.sync(HEAD)), 1);
  });

  it('finds what is new and what changed near the top', async (t) => {
    const bench = await sweptBench(t);
    addPosts(bench, 12);
    bench.sandbox.world.vote(29);
    const { inserted, updated } = await bench.sync(HEAD);
    assert.deepEqual({ inserted, updated }, { inserted: 12, updated: 1 });
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('leaves no hole when it is killed with new rows on top: the next one goes on down', async (t) => {
    const bench = await sweptBench(t);
    addPosts(bench, 40);
    await assert.rejects(bench.sync(HEAD, { store: killedAfter(bench.store, 4) }), KILLED);
    await bench.restart();
    // Four pages of new rows are known now. Whoever stops at the first known rows never sees the other twenty.
    const { inserted, unchanged } = await bench.sync(HEAD);
    assert.equal(inserted, 20);
    assert.ok(unchanged >= 20);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
    assert.ok((await requestsOf(bench, () => bench.sync(HEAD))) <= 3, 'and then it is short again');
  });

  it('leaves no hole when it is stopped, fails, and is killed one after the other', async (t) => {
    const bench = await sweptBench(t);
    addPosts(bench, 40);
    await assert.rejects(bench.sync(HEAD, stopAfter(3)), /stopped by the test/);
    addPosts(bench, 20);
    bench.sandbox.faults.set('unauthorised from=4');
    await assert.rejects(bench.sync(HEAD), /401/);
    bench.sandbox.faults.set('');
    addPosts(bench, 10);
    await assert.rejects(bench.sync(HEAD, { store: killedAfter(bench.store, 1) }), KILLED);
    await bench.restart();
    await bench.sync(HEAD);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('leaves no hole after a sweep that was cut short', async (t) => {
    for (const pages of [1, 2, 5]) {
      const bench = await sweptBench(t);
      addPosts(bench, 40);
      await assert.rejects(bench.sync(SWEEP, { store: killedAfter(bench.store, pages) }), KILLED);
      await bench.restart();
      await bench.sync(HEAD);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
      assert.equal((await bench.sync(SWEEP)).resumed, 1, 'the sweep can still be taken up');
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    }
  });

  it('reads further down past rows that cannot be read', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('bad-row on=posts nth=2');
    assert.equal((await bench.sync(HEAD)).pages, 4);
  });
});

describe('a head pass is declined', () => {
  const cases = [
    { order: 'oldest', reason: /the list starts with its oldest rows.*run a sweep/ },
    { order: 'votes', reason: /no complete sweep has shown that the list starts with its newest rows/ },
  ] as const;
  for (const { order, reason } of cases) {
    it(`where the list is sorted ${order} first, without a request`, async (t) => {
      const bench = await sweptBench(t, { order });
      const requests = await requestsOf(bench, async () => {
        const outcome = await bench.attempt(HEAD);
        assert.ok(!outcome.done);
        assert.match(outcome.reason, reason);
      });
      assert.equal(requests, 0);
    });
  }

  it('before the first complete sweep', async (t) => {
    const bench = await workbenchFor(t);
    assert.equal((await bench.attempt(HEAD)).done, false);
    await assert.rejects(bench.sync(SWEEP, stopAfter(2)), /stopped by the test/);
    assert.equal((await bench.attempt(HEAD)).done, false);
    assert.deepEqual(bench.query('SELECT mode FROM sync_runs'), [{ mode: 'sweep' }]);
  });
});
