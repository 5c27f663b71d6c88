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
    it(`over an unchanged list of ${posts} costs one request`, async (t) => {
      const bench = await sweptBench(t, { posts, pageSize });
      const requests = await requestsOf(bench, async () => {
        const { inserted, updated, pages } = await bench.sync(HEAD);
        assert.deepEqual({ inserted, updated, pages }, { inserted: 0, updated: 0, pages: 1 });
      });
      assert.equal(requests, 1);
    });
  }

  it('finds what is new and what changed near the top', async (t) => {
    const bench = await sweptBench(t);
    addPosts(bench, 12);
    bench.sandbox.world.vote(29);
    const { inserted, updated } = await bench.sync(HEAD);
    assert.deepEqual({ inserted, updated }, { inserted: 12, updated: 1 });
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('reads five pages at most, and leaves the rest to the next sweep', async (t) => {
    const bench = await sweptBench(t);
    addPosts(bench, 40);
    const { inserted, pages } = await bench.sync(HEAD);
    assert.deepEqual({ inserted, pages }, { inserted: 25, pages: 5 });
    assert.equal((await bench.sync(SWEEP)).inserted, 15);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('that was stopped, failed or was killed leaves no hole after the next sweep', async (t) => {
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
    await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('leaves the checkpoint of an interrupted sweep alone', async (t) => {
    for (const pages of [1, 2, 5]) {
      const bench = await sweptBench(t);
      addPosts(bench, 40);
      await assert.rejects(bench.sync(SWEEP, { store: killedAfter(bench.store, pages) }), KILLED);
      await bench.restart();
      await bench.sync(HEAD);
      assert.equal((await bench.sync(SWEEP)).resumed, 1);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    }
  });

  it('reads on after a page with a row that cannot be read', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('bad-row on=posts nth=1');
    assert.equal((await bench.sync(HEAD)).pages, 2);
  });

  it('over a list by votes brings what changed on its first page', async (t) => {
    const bench = await sweptBench(t, { order: 'votes' });
    const [{ id } = { id: 0 }] = bench.query<{ id: number }>(
      'SELECT id FROM posts ORDER BY votes_count DESC, id DESC LIMIT 1',
    );
    bench.sandbox.world.vote(id);
    assert.equal((await bench.sync(HEAD)).updated, 1);
  });
});

describe('a head pass is declined', () => {
  it('without a request if new rows do not come at the start of the list', async (t) => {
    const bench = await sweptBench(t, { order: 'oldest' });
    addPosts(bench, 1);
    await bench.sync(SWEEP);
    const requests = await requestsOf(bench, async () => {
      const outcome = await bench.attempt(HEAD);
      assert.ok(!outcome.done);
      assert.match(outcome.reason, /new rows do not come at the start of this list; sweeps find them/);
    });
    assert.equal(requests, 0);
  });

  it('before the first complete sweep', async (t) => {
    const bench = await workbenchFor(t);
    assert.equal((await bench.attempt(HEAD)).done, false);
    await assert.rejects(bench.sync(SWEEP, stopAfter(2)), /stopped by the test/);
    assert.equal((await bench.attempt(HEAD)).done, false);
    assert.deepEqual(bench.query('SELECT mode FROM sync_runs'), [{ mode: 'sweep' }]);
  });
});
