import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codeOf } from '../../src/base/errors.ts';
import { assertExact } from './mirror-rows.ts';
import { KILLED, killedAfter, stopAfter, type Workbench, workbenchFor } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;
const PAGES = 6;

interface Run {
  outcome: string;
  resumed: number;
  pages: number;
  rows: number;
}

function runsOf(bench: Workbench): Run[] {
  return bench.query<Run>('SELECT outcome, resumed, pages, rows FROM sync_runs ORDER BY id');
}

async function killAfter(bench: Workbench, pages: number): Promise<void> {
  await assert.rejects(bench.sync(SWEEP, { store: killedAfter(bench.store, pages) }), KILLED);
  await bench.restart();
}

describe('a sweep that is killed', () => {
  for (let written = 1; written < PAGES; written++) {
    it(`after page ${written} of ${PAGES} goes on from there in the next process, as the same run`, async (t) => {
      const bench = await workbenchFor(t);
      await killAfter(bench, written);
      const before = bench.sandbox.requestCount;
      const { resumed, pages, rows, inserted } = await bench.sync(SWEEP);
      assert.deepEqual({ resumed, pages, rows, inserted }, { resumed: 1, pages: 6, rows: 30, inserted: 30 });
      // The pages that were left, and one more: the page before them, whose gaps may have held something.
      assert.ok(bench.sandbox.requestCount - before <= PAGES - written + 1);
      assert.deepEqual(runsOf(bench), [{ outcome: 'complete', resumed: 1, pages: 6, rows: 30 }]);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    });
  }

  it('after the last page, before anything was concluded, reads that page again and concludes', async (t) => {
    const bench = await workbenchFor(t);
    await bench.sync(SWEEP);
    bench.sandbox.world.deletePost(14);
    await killAfter(bench, PAGES);
    assert.equal(bench.query('SELECT id FROM live_posts WHERE id = 14').length, 1);
    const { deleted } = await bench.sync(SWEEP);
    assert.equal(deleted, 1);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('again and again still ends as one run', async (t) => {
    const bench = await workbenchFor(t);
    for (let times = 0; times < 5; times++) await killAfter(bench, 1);
    const { resumed, pages } = await bench.sync(SWEEP);
    assert.deepEqual({ resumed, pages }, { resumed: 5, pages: 6 });
    assert.equal(runsOf(bench).length, 1);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('deletes what its first half proved, once the second half is read', async (t) => {
    const bench = await workbenchFor(t);
    await bench.sync(SWEEP);
    for (const id of [28, 3]) bench.sandbox.world.deletePost(id);
    await killAfter(bench, 2);
    assert.equal((await bench.sync(SWEEP)).deleted, 2);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('while nothing changed reads at most ten quiet pages again', async (t) => {
    const bench = await workbenchFor(t, { posts: 100 });
    await bench.sync(SWEEP);
    await killAfter(bench, 17);
    const before = bench.sandbox.requestCount;
    const { unchanged, pages } = await bench.sync(SWEEP);
    assert.deepEqual({ unchanged, pages }, { unchanged: 100, pages: 20 });
    assert.ok(bench.sandbox.requestCount - before <= 3 + 10 + 1);
  });
});

describe('a sweep that is asked to stop', () => {
  for (const pages of [1, 3, 5]) {
    it(`after page ${pages} says so in the log and goes on from there`, async (t) => {
      const bench = await workbenchFor(t);
      await assert.rejects(
        bench.sync(SWEEP, stopAfter(pages)),
        (error: unknown) => codeOf(error) === 'interrupted',
      );
      assert.deepEqual(runsOf(bench), [{ outcome: 'interrupted', resumed: 0, pages, rows: pages * 5 }]);
      const before = bench.sandbox.requestCount;
      const summary = await bench.sync(SWEEP);
      assert.deepEqual([summary.resumed, summary.pages, summary.rows], [1, 6, 30]);
      assert.ok(bench.sandbox.requestCount - before <= PAGES - pages + 1);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    });
  }
});

describe('a sweep without a proven order', () => {
  it('that stops between its last page and its conclusion still counts each id once', async (t) => {
    const bench = await workbenchFor(t, { order: 'votes' });
    await bench.sync(SWEEP);
    bench.sandbox.world.deletePost(14);
    await assert.rejects(bench.sync(SWEEP, { store: failingAtTheEnd(bench) }), /the disk is full/);
    await bench.restart();
    const deletions: number[] = [];
    for (let sweeps = 1; sweeps <= 3; sweeps++) {
      const { deleted, rows } = await bench.sync(SWEEP);
      assert.equal(rows, 29);
      deletions.push(deleted);
    }
    assert.deepEqual(deletions, [0, 0, 1]);
  });
});

/** A store that refuses to conclude, but lets the failure be written down. */
function failingAtTheEnd({ store }: Workbench): Workbench['store'] {
  return {
    ...store,
    async finishPass(end) {
      if (end.outcome === 'complete') throw new Error('the disk is full');
      return await store.finishPass(end);
    },
  };
}
