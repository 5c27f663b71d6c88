import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertExact } from './mirror-rows.ts';
import { type Workbench, workbenchFor } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;
const HEAD = { resource: 'posts', mode: 'head' } as const;

/** Pages of five, newest first: 30–26, 25–21, 20–16, … */
async function sweptBench(...args: Parameters<typeof workbenchFor>): Promise<Workbench> {
  const bench = await workbenchFor(...args);
  await bench.sync(SWEEP);
  return bench;
}

async function assertFound(bench: Workbench, ids: number[]): Promise<void> {
  for (const id of ids) assert.ok(bench.sandbox.world.deletePost(id));
  const { deleted, suspects } = await bench.sync(SWEEP);
  assert.deepEqual({ deleted, suspects }, { deleted: ids.length, suspects: 0 });
  assertExact(bench.path, bench.sandbox.world, ['posts']);
}

describe('a row that was deleted upstream', () => {
  it('is found in the gap it leaves within a page', async (t) => {
    await assertFound(await sweptBench(t), [28, 17]);
  });

  it('is found at the start and at the end of the list', async (t) => {
    await assertFound(await sweptBench(t), [30, 29, 2, 1]);
  });

  it('is found between two pages, where both sides are looked at twice', async (t) => {
    const bench = await sweptBench(t);
    // One row from each of the first two pages, and then the rest of the list keeps its boundaries.
    bench.sandbox.world.deletePost(25);
    const before = bench.sandbox.requestCount;
    const { deleted, pages } = await bench.sync(SWEEP);
    assert.equal(deleted, 1);
    // 25 stood at the start of page 2; the list without it has 24 there, and 26 still ends page 1.
    assert.equal(bench.sandbox.requestCount - before, pages + 9);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is found at the end of a list that ends with an empty page', async (t) => {
    const bench = await sweptBench(t);
    bench.meanwhile = ({ url }) => bench.sandbox.faults.set(url.includes('page=6') ? 'empty on=posts' : '');
    // Rows 5 to 1 of the mirror are gone for whoever asks for page 6.
    const { deleted, suspects } = await bench.sync(SWEEP);
    assert.deepEqual({ deleted, suspects }, { deleted: 5, suspects: 0 });
  });

  it('is not believed at once where the list ends too early', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('empty on=posts nth=4');
    const { deleted, suspects, pages } = await bench.sync(SWEEP);
    assert.deepEqual({ deleted, suspects, pages }, { deleted: 0, suspects: 15, pages: 4 });
    assert.equal((await bench.sync(SWEEP)).suspects, 0);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is found in a list that starts with its oldest rows', async (t) => {
    await assertFound(await sweptBench(t, { order: 'oldest' }), [1, 5, 6, 13, 30]);
  });

  it('keeps its id, its fields and its history, and carries the time', async (t) => {
    const bench = await sweptBench(t);
    const { title } = bench.sandbox.world.post(17);
    await assertFound(bench, [17]);
    const [row] = bench.query<{ title: string; deleted_at: string }>('SELECT * FROM posts WHERE id = 17');
    assert.equal(row?.title, title);
    assert.match(row?.deleted_at ?? '', /^\d{4}-.*Z$/);
    const states = bench.query<{ deleted: number }>('SELECT deleted FROM post_history WHERE post_id = 17');
    assert.deepEqual(
      states.map(({ deleted }) => deleted),
      [0, 1],
    );
  });

  it('lives again when it is seen again', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.faults.set('missing-row on=posts row=2 nth=1; missing-row on=posts row=2 nth=7');
    assert.equal((await bench.sync(SWEEP)).deleted, 1);
    bench.sandbox.faults.set('');
    const { updated } = await bench.sync(SWEEP);
    assert.equal(updated, 1);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
    assert.equal(bench.query('SELECT 1 FROM post_history WHERE post_id = 28').length, 3);
  });

  it('is never found by a head pass, which concludes nothing from absence', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.world.deletePost(28);
    assert.equal((await bench.sync(HEAD)).deleted, 0);
    assert.equal(bench.query('SELECT 1 FROM live_posts WHERE id = 28').length, 1);
  });
});

describe('a row that fell between two pages', () => {
  it('is shown as a suspect while it cannot be settled, and settled by a quiet sweep', async (t) => {
    const bench = await sweptBench(t);
    bench.sandbox.world.deletePost(25);
    let requests = 0;
    bench.meanwhile = () => {
      // From the first reading of the check on, the list has another start each time.
      if (++requests > 2) bench.sandbox.world.addPost();
    };
    const { deleted, suspects } = await bench.sync(SWEEP);
    assert.deepEqual({ deleted, suspects }, { deleted: 0, suspects: 1 });
    assert.equal(bench.query('SELECT 1 FROM live_posts WHERE id = 25').length, 1);
    bench.meanwhile = () => {};
    assert.equal((await bench.sync(SWEEP)).suspects, 0);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is not deleted when it only crossed from one page to the other', async (t) => {
    const bench = await sweptBench(t);
    // A deletion above moves 20, which the sweep has not met yet, into the page it has read already.
    bench.meanwhile = ({ url }) => {
      if (url.includes('page=3')) bench.sandbox.world.deletePost(27);
    };
    await bench.sync(SWEEP);
    assert.equal(bench.query('SELECT 1 FROM live_posts WHERE id = 20').length, 1);
    await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is not deleted when it crossed and cannot be read just now', async (t) => {
    const bench = await sweptBench(t);
    bench.meanwhile = ({ url }) => {
      if (url.includes('page=3')) bench.sandbox.world.deletePost(27);
    };
    // Where 20 now stands: at the end of page 2, which is read again to see whether anything crossed.
    bench.sandbox.faults.set('bad-row on=posts row=4 from=4');
    await bench.sync(SWEEP);
    assert.equal(bench.query('SELECT 1 FROM live_posts WHERE id = 20').length, 1);
  });
});

describe('a list sorted by votes', () => {
  it('loses a row only after three complete sweeps without it', async (t) => {
    const bench = await sweptBench(t, { order: 'votes' });
    bench.sandbox.world.deletePost(17);
    const deletions: number[] = [];
    for (let sweeps = 0; sweeps < 3; sweeps++) deletions.push((await bench.sync(SWEEP)).deleted);
    assert.deepEqual(deletions, [0, 0, 1]);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('starts counting again when the row was seen in between', async (t) => {
    const bench = await sweptBench(t, { order: 'votes' });
    bench.sandbox.faults.set('missing-row on=posts row=1 nth=2; missing-row on=posts row=1 nth=8');
    await bench.sync(SWEEP);
    await bench.sync(SWEEP);
    bench.sandbox.faults.set('');
    await bench.sync(SWEEP);
    assert.equal((await bench.sync(SWEEP)).suspects, 0);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});
