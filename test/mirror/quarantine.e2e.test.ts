import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertExact } from './mirror-rows.ts';
import { settledBench, type Workbench, workbenchFor } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;

interface Kept {
  reason: string;
  body: string;
}

function keptBy(bench: Workbench): Kept[] {
  return bench.query<Kept>('SELECT reason, body FROM quarantine ORDER BY id');
}

describe('a row that does not decode', () => {
  for (const { fault, reason } of [
    { fault: 'bad-row field=created', reason: /created/ },
    { fault: 'bad-row field=votes_count', reason: /votes_count/ },
    { fault: 'bad-row field=creator.id', reason: /creator\.id/ },
    { fault: 'huge-id', reason: /id/ },
  ]) {
    it(`(${fault}) is set aside with its reason, and what the mirror had of it stays`, async (t) => {
      const bench = await workbenchFor(t);
      await bench.sync(SWEEP);
      bench.sandbox.faults.set(`${fault} on=posts nth=2`);
      const { quarantined, deleted, unchanged, outcome } = await bench.sync(SWEEP);
      assert.deepEqual(
        { quarantined, deleted, unchanged, outcome },
        { quarantined: 1, deleted: 0, unchanged: 29, outcome: 'complete' },
      );
      const [kept] = keptBy(bench);
      assert.match(kept?.reason ?? '', reason);
      assert.match(kept?.body ?? '', /"title":/);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    });
  }

  it('is released by the sweep that reads it again', async (t) => {
    const bench = await workbenchFor(t);
    bench.sandbox.faults.set('bad-row on=posts nth=2; bad-row on=posts nth=8');
    assert.equal((await bench.sync(SWEEP)).inserted, 29);
    await bench.sync(SWEEP);
    assert.equal(keptBy(bench).length, 1, 'the same row is not kept twice');
    bench.sandbox.faults.set('');
    const { quarantined, inserted } = await bench.sync(SWEEP);
    assert.deepEqual({ quarantined, inserted }, { quarantined: 0, inserted: 1 });
    assert.deepEqual(keptBy(bench), []);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is not released by a head pass that never came to it', async (t) => {
    const bench = await workbenchFor(t);
    await bench.sync(SWEEP);
    bench.sandbox.faults.set('bad-row on=posts nth=5');
    await bench.sync(SWEEP);
    bench.sandbox.faults.set('');
    await bench.sync({ resource: 'posts', mode: 'head' });
    assert.equal(keptBy(bench).length, 1);
  });

  it('at the edge of a page leaves its neighbours alone', async (t) => {
    for (const row of [0, 4]) {
      for (const kind of ['bad-row', 'huge-id']) {
        const bench = await workbenchFor(t);
        await bench.sync(SWEEP);
        bench.sandbox.faults.set(`${kind} on=posts row=${row}`);
        const { deleted, suspects, quarantined } = await bench.sync(SWEEP);
        assert.deepEqual({ deleted, suspects, quarantined }, { deleted: 0, suspects: 0, quarantined: 6 });
        assert.equal(bench.query('SELECT 1 FROM live_posts').length, 30, `${kind} in place ${row}`);
      }
    }
  });

  it('does not hide a deletion elsewhere in its page', async (t) => {
    const bench = await settledBench(t, { pageSize: 10 });
    bench.sandbox.world.deletePost(28);
    bench.sandbox.faults.set('bad-row on=posts nth=1 row=6');
    await bench.sync(SWEEP);
    assert.equal((await bench.sync(SWEEP)).deleted, 1);
    bench.sandbox.faults.set('');
    await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is kept for comments too, beside what posts have', async (t) => {
    const bench = await workbenchFor(t);
    bench.sandbox.faults.set('bad-row on=comments nth=1 field=post.id');
    const { quarantined } = await bench.sync({ resource: 'comments', mode: 'sweep' });
    assert.equal(quarantined, 1);
    assert.match(keptBy(bench)[0]?.reason ?? '', /post\.id/);
  });
});
