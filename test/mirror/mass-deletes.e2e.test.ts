import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertExact } from './mirror-rows.ts';
import { settledBench, type Workbench } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;
const ACCEPT = { ...SWEEP, acceptDeletes: true };

async function heldBy(bench: Workbench): Promise<number | undefined> {
  const { resources } = await bench.store.status();
  return resources.find(({ resource }) => resource === 'posts')?.held;
}

function deleteRange(bench: Workbench, from: number, to: number): void {
  for (let id = from; id <= to; id++) bench.sandbox.world.deletePost(id);
}

/** Sweeps until everything that is missing is deleted or held. */
async function sweepAll(bench: Workbench) {
  const all = { deleted: 0, held: 0 };
  for (let sweeps = 0; sweeps < 6; sweeps++) {
    const { deleted, held, suspects } = await bench.sync(SWEEP);
    Object.assign(all, { deleted: all.deleted + deleted, held });
    if (suspects === 0) break;
  }
  return all;
}

describe('the mass-delete guard', () => {
  it('holds 30 of 100, shows them, and lets go when somebody accepts', async (t) => {
    const bench = await settledBench(t, { posts: 100, pageSize: 20 });
    deleteRange(bench, 31, 60);
    assert.deepEqual(await sweepAll(bench), { deleted: 0, held: 30 });
    assert.equal(await heldBy(bench), 30);
    assert.equal(bench.query('SELECT 1 FROM live_posts').length, 100);

    assert.equal((await bench.sync(SWEEP)).held, 30, 'they stay held until somebody says so');
    const accepted = await bench.sync(ACCEPT);
    assert.deepEqual([accepted.deleted, accepted.held], [30, 0]);
    assert.equal(await heldBy(bench), 0);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('lets twenty pass, and one in twenty of a larger mirror', async (t) => {
    const bench = await settledBench(t, { posts: 100, pageSize: 20 });
    deleteRange(bench, 41, 60);
    assert.equal((await sweepAll(bench)).deleted, 20);
    const large = await settledBench(t, { posts: 600, pageSize: 200 });
    deleteRange(large, 41, 70);
    assert.equal((await sweepAll(large)).deleted, 30);
    deleteRange(large, 81, 111);
    assert.equal((await sweepAll(large)).held, 31);
  });

  it('lets rows go that went over several sweeps, also where they are concluded at once', async (t) => {
    const bench = await settledBench(t, { posts: 100, pageSize: 20 });
    deleteRange(bench, 31, 45);
    await bench.sync(SWEEP);
    deleteRange(bench, 46, 60);
    await sweepAll(bench);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('lets go of accepted rows while the list moves', async (t) => {
    const bench = await settledBench(t, { posts: 100, pageSize: 20 });
    deleteRange(bench, 31, 60);
    bench.meanwhile = () => void bench.sandbox.world.addPost();
    await sweepAll(bench);
    assert.equal(await heldBy(bench), 30);
    assert.equal((await bench.sync(ACCEPT)).deleted, 30);
  });

  it('lets rows go that are seen again while they are held', async (t) => {
    const bench = await settledBench(t, { posts: 100, pageSize: 100 });
    bench.sandbox.faults.set('empty on=posts');
    assert.equal((await sweepAll(bench)).held, 100);
    bench.sandbox.faults.set('');
    const { held, deleted, unchanged } = await bench.sync(SWEEP);
    assert.deepEqual({ held, deleted, unchanged }, { held: 0, deleted: 0, unchanged: 100 });
  });

  it('holds everything when a mirror of even one row gets an empty answer', async (t) => {
    const bench = await settledBench(t, { posts: 1 });
    bench.sandbox.world.deletePost(1);
    assert.deepEqual(await sweepAll(bench), { deleted: 0, held: 1 });
    assert.equal((await bench.sync(ACCEPT)).deleted, 1);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});
