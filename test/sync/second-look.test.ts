import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertExact } from './mirror-rows.ts';
import { KILLED, killedAfter, type Workbench, workbenchFor } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;
const PAGES = 6;

async function sweptBench(...args: Parameters<typeof workbenchFor>): Promise<Workbench> {
  const bench = await workbenchFor(...args);
  await bench.sync(SWEEP);
  return bench;
}

async function requestsOf(bench: Workbench, work: () => Promise<unknown>): Promise<number> {
  const before = bench.sandbox.requestCount;
  await work();
  return bench.sandbox.requestCount - before;
}

describe('the second look before anything is deleted', () => {
  it('saves a row that a page left out in silence', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('missing-row on=posts nth=2');
    const { deleted, pages, rows, unchanged } = await bench.sync(SWEEP);
    assert.deepEqual({ deleted, pages, rows, unchanged }, { deleted: 0, pages: 6, rows: 29, unchanged: 29 });
    assert.deepEqual(bench.query('SELECT * FROM post_versions'), []);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('costs one request for each page with a gap, and none where nothing is gone', async (t) => {
    const bench = await sweptBench(t);
    assert.equal(await requestsOf(bench, () => bench.sync(SWEEP)), PAGES);
    for (const id of [28, 22]) bench.sandbox.world.deletePost(id);
    const requests = await requestsOf(bench, async () => {
      assert.equal((await bench.sync(SWEEP)).deleted, 2);
    });
    assert.equal(requests, PAGES + 2);
  });

  it('is not forgotten when the sweep is killed right after the page with the gap', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('missing-row on=posts nth=2');
    await assert.rejects(bench.sync(SWEEP, { store: killedAfter(bench.store, 2) }), KILLED);
    await bench.restart();
    assert.equal((await bench.sync(SWEEP)).deleted, 0);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is not forgotten when the sweep is killed later', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('missing-row on=posts nth=2');
    await assert.rejects(bench.sync(SWEEP, { store: killedAfter(bench.store, 4) }), KILLED);
    await bench.restart();
    assert.equal((await bench.sync(SWEEP)).deleted, 0);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('stops after twenty pages', async (t) => {
    const bench = await sweptBench(t, { posts: 500, pageSize: 20 });
    // Every 21st row: in the list that is left, each gap lies within a page of its own.
    for (let i = 0; i < 23; i++) bench.sandbox.world.deletePost(490 - 21 * i);
    const requests = await requestsOf(bench, async () => {
      const { deleted, pages } = await bench.sync(SWEEP);
      assert.deepEqual({ deleted, pages }, { deleted: 23, pages: 24 });
    });
    assert.equal(requests, 24 + 20);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('lets a row go that is left out both times, and it lives again after the next sweep', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('missing-row on=posts row=2 nth=1; missing-row on=posts row=2 nth=7');
    assert.equal((await bench.sync(SWEEP)).deleted, 1);
    bench.sandbox.faults.set('');
    await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('follows a list that grew before it, and still sees what is really gone', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.world.deletePost(12);
    bench.sandbox.faults.set('missing-row on=posts nth=2');
    const start = bench.sandbox.requestCount;
    // After all pages of the sweep, before the first of them is read again.
    bench.meanwhile = () => {
      if (bench.sandbox.requestCount === start + PAGES)
        for (let i = 0; i < 3; i++) bench.sandbox.world.addPost();
    };
    const { deleted } = await bench.sync(SWEEP);
    assert.equal(deleted, 1);
    assert.equal(bench.query<{ id: number }>('SELECT id FROM posts WHERE deleted_at IS NOT NULL')[0]?.id, 12);
    await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('concludes nothing from a list that shrank before it: what it came for may stand where nobody looked', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('missing-row on=posts nth=2');
    const start = bench.sandbox.requestCount;
    bench.meanwhile = () => {
      if (bench.sandbox.requestCount === start + PAGES)
        for (const id of [30, 29, 28]) bench.sandbox.world.deletePost(id);
    };
    assert.equal((await bench.sync(SWEEP)).deleted, 0);
    bench.meanwhile = () => {};
    assert.equal((await bench.sync(SWEEP)).deleted, 3);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('concludes nothing from a list that moved while it was followed', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('missing-row on=posts nth=2');
    const start = bench.sandbox.requestCount;
    bench.meanwhile = () => {
      const since = bench.sandbox.requestCount - start;
      if (since === PAGES) for (let i = 0; i < 3; i++) bench.sandbox.world.addPost();
      if (since === PAGES + 1) bench.sandbox.world.deletePost(30);
    };
    assert.equal((await bench.sync(SWEEP)).deleted, 0);
    bench.meanwhile = () => {};
    await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});
