import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { MirrorStore } from '../../src/store/mirror/store.ts';
import { liveIds, queryFile, story } from '../support/mirror.ts';
import { aComment, aPost, posts, range } from '../support/rows.ts';
import {
  apply,
  begin,
  between,
  EVERYWHERE,
  finish,
  gaps,
  oneSweep,
  PROOF,
  sweep,
  THREE_SWEEPS,
  unorderedSweep,
} from '../support/steps.ts';

/** The mass-delete guard, and rows of lists whose order proves nothing. */
describe('mass deletions', () => {
  story('twenty deletions at once are done, twenty-one are held', async ({ store, read }) => {
    await sweep(store, 'posts', posts(...range(1, 100)), 1);
    const one = await sweep(store, 'posts', posts(...range(1, 80)), 2);
    assert.deepEqual([one.deleted, one.held], [20, 0]);
    const two = await sweep(store, 'posts', posts(...range(1, 59)), 3);
    assert.deepEqual([two.deleted, two.held], [0, 21]);
    assert.deepEqual(liveIds(read), range(1, 80));
  });

  story('of many rows, one in twenty may go at once', async ({ store, read }) => {
    await sweep(store, 'posts', posts(...range(1, 1000)), 1);
    const one = await sweep(store, 'posts', posts(...range(1, 950)), 2);
    assert.deepEqual([one.deleted, one.held], [50, 0]);
    const two = await sweep(store, 'posts', posts(...range(1, 902)), 3);
    assert.deepEqual([two.deleted, two.held], [0, 48]);
    assert.equal(liveIds(read).length, 950);
  });

  story('what is held is shown, and deleted once a person accepts it', async ({ store, read }) => {
    await sweep(store, 'posts', posts(...range(1, 60)), 1);
    await sweep(store, 'posts', posts(...range(1, 10)), 2);
    assert.equal(await heldIn(store), 50);
    await finish(store, await begin(store, 'posts', 2), 2, { outcome: 'failed', acceptDeletes: true });
    assert.equal(await heldIn(store), 50);
    const { deleted, held } = await sweep(store, 'posts', posts(...range(1, 10)), 3, { acceptDeletes: true });
    assert.deepEqual([deleted, held], [50, 0]);
    assert.equal(await heldIn(store), 0);
    assert.deepEqual(liveIds(read), range(1, 10));
  });

  story('what is held and seen again is held no longer, and the rest waits for a person', async (mirror) => {
    const { store, read } = mirror;
    await sweep(store, 'posts', posts(...range(1, 60)), 1);
    await sweep(store, 'posts', posts(...range(1, 10)), 2);
    const some = await sweep(store, 'posts', posts(...range(1, 55)), 3);
    assert.deepEqual([some.deleted, some.held], [0, 5]);
    // An order that proves to be none takes back what speaks against them, and not that they are held.
    await unorderedSweep(store, 'posts', [posts(...range(1, 55))], 4);
    assert.equal(await heldIn(store), 5);
    const grown = await sweep(store, 'posts', posts(...range(1, 55), ...range(61, 999)), 5);
    assert.deepEqual([grown.deleted, grown.held], [0, 5]);
    await oneSweep(store, 'posts', posts(...range(1, 55), ...range(61, 999)), 6, { acceptDeletes: true });
    assert.deepEqual(liveIds(read), [...range(1, 55), ...range(61, 999)]);
  });

  story('what is held because others are missing with it waits for a person too', async (mirror) => {
    const { store, read } = mirror;
    await sweep(store, 'posts', posts(...range(1, 60)), 1);
    await oneSweep(store, 'posts', posts(...range(1, 30)), 2);
    // Of thirty that are missing only the last five are missed twice.
    const pass = begin(store, 'posts', 3);
    for (const _ of [1, 2])
      apply(store, pass, posts(...range(1, 30)), 3, { absence: gaps([between(55, 61)]) });
    assert.deepEqual([finish(store, pass, 3, { conclusion: PROOF }).held, liveIds(read).length], [5, 60]);
    const { deleted, held } = oneSweep(store, 'posts', posts(...range(1, 55)), 4);
    assert.deepEqual([deleted, held], [0, 5]);
  });

  story('deletions of several sweeps that are concluded together are no mass deletion', async (mirror) => {
    const { store, read } = mirror;
    await sweep(store, 'posts', posts(...range(1, 100)), 1);
    const late = { conclusion: { ...PROOF, sweeps: null } };
    for (const [at, left] of [
      [2, 85],
      [3, 70],
      [4, 55],
    ] as const)
      assert.equal((await oneSweep(store, 'posts', posts(...range(1, left)), at, late)).deleted, 0);
    const { deleted, held } = await oneSweep(store, 'posts', posts(...range(1, 55)), 5);
    assert.deepEqual([deleted, held], [45, 0]);
    assert.deepEqual(liveIds(read), range(1, 55));
  });

  story(
    'what went at once is held also where sweeps that broke off had missed parts of it',
    async (mirror) => {
      const { store, read } = mirror;
      await sweep(store, 'posts', posts(...range(1, 100)), 1);
      for (const [at, low] of [
        [2, 85],
        [3, 70],
      ] as const) {
        const pass = begin(store, 'posts', at, { resume: false });
        apply(store, pass, posts(low, 101), at, { absence: gaps([between(low, 101)]) });
        finish(store, pass, at, { outcome: 'failed' });
      }
      const { deleted, held } = sweep(store, 'posts', posts(...range(1, 55), 101), 4);
      assert.deepEqual([deleted, held, liveIds(read).length], [0, 45, 101]);
    },
  );

  story('rows of several sweeps beyond the end are counted together', async ({ store, read }) => {
    await sweep(store, 'posts', posts(...range(1, 100)), 1);
    const beyond = (last: number) => gaps([{ above: { created: '', id: last }, below: null }], 'end');
    const sweepTo = (last: number, at: number, sameEnd: boolean) => {
      const pass = begin(store, 'posts', at);
      for (const _ of [1, 2]) apply(store, pass, posts(...range(1, last)), at, { absence: beyond(last) });
      return finish(store, pass, at, { conclusion: { ...PROOF, sameEnd } });
    };
    sweepTo(88, 2, false);
    sweepTo(76, 3, false);
    assert.deepEqual([sweepTo(76, 4, true).held, liveIds(read).length], [24, 100]);
  });

  story('an acceptance is for the rows that were held when it was given', async ({ store, read }) => {
    await sweep(store, 'posts', posts(...range(1, 100)), 1);
    const accepting = async (left: number, at: number) => {
      const rows = posts(...range(1, left));
      const { deleted, held } = await oneSweep(store, 'posts', rows, at, { acceptDeletes: true });
      return [deleted, held];
    };
    assert.deepEqual(
      [await accepting(60, 2), await accepting(60, 3)],
      [
        [0, 0],
        [0, 40],
      ],
    );
    assert.deepEqual([await accepting(30, 4), liveIds(read).length], [[40, 0], 60]);
  });

  story('rows that were accepted do not hold others that went with them', async ({ store, read }) => {
    await sweep(store, 'posts', posts(...range(1, 100)), 1);
    oneSweep(store, 'posts', posts(...range(1, 75)), 2);
    const missing = (at: number, low: number, high: number, acceptDeletes = false) => {
      const pass = begin(store, 'posts', at, { resume: false });
      for (const _ of [1, 2])
        apply(store, pass, posts(...range(1, 75)), at, { absence: gaps([between(low, high)]) });
      const { deleted, held } = finish(store, pass, at, { conclusion: PROOF, acceptDeletes });
      return [deleted, held];
    };
    assert.deepEqual(missing(3, 75, 98), [0, 22]);
    assert.deepEqual(missing(4, 10, 12, true), [0, 0], 'nothing more speaks against them in this sweep');
    assert.deepEqual(missing(5, 97, 101), [3, 0]);
    assert.deepEqual(liveIds(read), range(1, 97));
  });

  story('accepted rows go when a sweep has as much against them as against any row', async (mirror) => {
    const { store } = mirror;
    await sweep(store, 'posts', posts(...range(1, 100)), 1);
    await sweep(store, 'posts', posts(...range(1, 60)), 2);
    const pass = await begin(store, 'posts', 3);
    await apply(store, pass, posts(...range(1, 60)), 3);
    const end = { conclusion: PROOF, acceptDeletes: true };
    const { deleted, held, suspects } = await finish(store, pass, 3, end);
    assert.deepEqual([deleted, held, suspects], [0, 0, 40], 'accepted, they wait as any other row');
    assert.equal((await oneSweep(store, 'posts', posts(...range(1, 60)), 4)).deleted, 40);
  });

  story('an empty answer deletes nothing, however few the rows', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1), 1);
    const { deleted, held } = await sweep(store, 'posts', [], 2);
    assert.deepEqual([deleted, held], [0, 1]);
    assert.deepEqual(liveIds(read), [1]);
    assert.equal((await sweep(store, 'posts', [], 3, { acceptDeletes: true })).deleted, 1);
    assert.deepEqual(liveIds(read), []);
  });

  story('where the order proves nothing, a row goes when it was missing three times', async (mirror) => {
    const { store, read } = mirror;
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    for (const at of [2, 3]) {
      const { deleted, suspects } = await unorderedSweep(store, 'posts', [posts(3), posts(1)], at);
      assert.deepEqual([deleted, suspects], [0, 1]);
    }
    await mirror.reopen();
    assert.equal((await unorderedSweep(mirror.store, 'posts', [posts(3), posts(1)], 4)).deleted, 1);
    assert.deepEqual(liveIds(read), [1, 3]);
  });

  story(
    'a row of the last second of a page is not counted where pages go on after a time',
    async ({ store }) => {
      const created = aPost(3).created;
      const rows = (...ids: number[]) => ids.map((id) => aPost(id, { created }));
      await unorderedSweep(store, 'posts', [rows(3, 2), posts(1)], 1);
      const isTimed = { conclusion: { ...THREE_SWEEPS, timed: 'finer' as const } };
      for (const at of range(2, 9))
        assert.equal((await unorderedSweep(store, 'posts', [rows(3), posts(1)], at, isTimed)).deleted, 0);
      assert.equal((await unorderedSweep(store, 'posts', [rows(3), posts(1)], 10)).suspects, 1);
    },
  );

  story(
    'a row of that second is counted where the next page begins with the very moment',
    async ({ store }) => {
      const { created } = aPost(3);
      const rows = (...ids: number[]) => ids.map((id) => aPost(id, { created }));
      const isTimed = { conclusion: { ...THREE_SWEEPS, timed: 'exact' as const } };
      await unorderedSweep(store, 'posts', [rows(3, 2, 5), [...rows(4), ...posts(1)]], 1);
      const pages = [rows(3, 5), [...rows(4), ...posts(1)]];
      for (const at of [2, 3])
        assert.equal((await unorderedSweep(store, 'posts', pages, at, isTimed)).suspects, 1);
      assert.equal((await unorderedSweep(store, 'posts', pages, 4, isTimed)).deleted, 1);
    },
  );

  story('a row seen in between starts to be counted anew', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    const short = [posts(3), posts(1)];
    for (const at of [2, 3]) await unorderedSweep(store, 'posts', short, at);
    await unorderedSweep(store, 'posts', [posts(2, 3), posts(1)], 4);
    for (const at of [5, 6]) await unorderedSweep(store, 'posts', short, at);
    assert.deepEqual(liveIds(read), [1, 2, 3]);
    await unorderedSweep(store, 'posts', short, 7);
    assert.deepEqual(liveIds(read), [1, 3]);
  });

  story('a list that moves needs five sweeps, each of which showed other rows twice', async (mirror) => {
    const { store, read } = mirror;
    await sweep(store, 'posts', posts(...range(1, 40)), 1);
    /** Two pages without post 40; this row slides over the boundary between them. */
    const sliding = (id: number) => {
      const others = range(1, 39).filter((other) => other !== id);
      return [posts(...others.slice(0, 19), id), posts(id, ...others.slice(19))];
    };
    for (const at of range(2, 9)) await unorderedSweep(store, 'posts', sliding(7), at);
    assert.equal(liveIds(read).length, 40, 'in step with the reader');
    const deleted: number[] = [];
    for (const at of range(10, 13))
      deleted.push((await unorderedSweep(store, 'posts', sliding(at), at)).deleted);
    assert.deepEqual(deleted, [0, 0, 0, 1]);
  });

  for (const [which, absence] of [
    ['without an order', null],
    ['whose order changes', gaps([EVERYWHERE])],
  ] as const)
    story(`a list ${which} that is cut short does not add to what other sweeps missed`, async (mirror) => {
      const { store, read } = mirror;
      const all = range(1, 100);
      await sweep(store, 'posts', posts(...all), 1);
      const upTo = (last: number, at: number) => {
        const pass = begin(store, 'posts', at, { resume: false });
        for (const rows of [posts(1), posts(...all.slice(1, last))])
          apply(store, pass, rows, at, { keepIds: true, absence });
        return finish(store, pass, at, { conclusion: THREE_SWEEPS });
      };
      await upTo(99, 2);
      await upTo(70, 3);
      assert.deepEqual([(await upTo(40, 4)).deleted, liveIds(read).length], [0, 100]);
    });

  story('a list that shows a tenth of its rows twice has no order, and concludes nothing', async (mirror) => {
    await sweep(mirror.store, 'posts', posts(1, 2, 3), 1);
    for (const at of range(2, 9)) await unorderedSweep(mirror.store, 'posts', [posts(3), posts(1, 3)], at);
    assert.deepEqual(liveIds(mirror.read), [1, 2, 3]);
  });

  for (const [where, page] of [
    ['on top and in its place', posts(5, ...range(20, 37))],
    ['twice in one page', posts(20, 20, ...range(21, 37))],
  ] as const)
    story(`a row that always stands ${where} is no movement`, async ({ store, read }) => {
      await sweep(store, 'posts', posts(...range(1, 40)), 1);
      const pages = [page, posts(...range(38, 39)), posts(...range(1, 19))];
      for (const at of range(2, 5)) await unorderedSweep(store, 'posts', pages, at);
      assert.equal(liveIds(read).length, 39);
    });

  story('two sweeps are enough where the second was read twice and all were the same', async (mirror) => {
    const { store, read } = mirror;
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    const pages = [posts(3), posts(1)];
    await unorderedSweep(store, 'posts', pages, 2);
    const pass = begin(store, 'posts', 3);
    for (const rows of pages) apply(store, pass, rows, 3, { keepIds: true });
    const counts = { ...pass.counts };
    for (const rows of pages) apply(store, pass, rows, 3, { keepIds: true });
    Object.assign(pass.counts, counts);
    assert.equal((await finish(store, pass, 3, { conclusion: THREE_SWEEPS })).deleted, 1);
    assert.deepEqual(liveIds(read), [1, 3]);
  });

  story('of the ids of all sweeps only those of the last one are kept, for each list', async (mirror) => {
    const { store, path } = mirror;
    for (const at of [1, 2, 3]) {
      unorderedSweep(store, 'posts', [posts(3), posts(1)], at);
      unorderedSweep(store, 'comments', [[aComment(1)]], at);
    }
    const kept = queryFile(path, 'SELECT run_id, count(*) AS pages FROM sweep_pages GROUP BY run_id');
    assert.deepEqual(kept, [
      { run_id: 5, pages: 2 },
      { run_id: 6, pages: 1 },
    ]);
  });

  story(
    'a sweep that was resumed forgets the ids of pages that it read beyond its checkpoint',
    async (mirror) => {
      const { store, read } = mirror;
      sweep(store, 'posts', posts(1, 2, 3), 1);
      const pass = begin(store, 'posts', 2);
      apply(store, pass, [aPost(3, { votes_count: 9 })], 2, { keepIds: true, state: 'two' });
      const counts = { ...pass.counts };
      for (const id of [1, 2]) apply(store, pass, posts(id), 2, { keepIds: true });
      Object.assign(pass.counts, counts);
      finish(store, pass, 2, { outcome: 'interrupted', keepState: 'two' });
      const resumed = begin(store, 'posts', 3);
      assert.equal(resumed.runId, pass.runId);
      apply(store, resumed, posts(1), 3, { keepIds: true });
      assert.equal(finish(store, resumed, 3, { conclusion: THREE_SWEEPS }).suspects, 1);
      assert.deepEqual(liveIds(read), [1, 2, 3]);
    },
  );

  story('a sweep that was resumed counts the ids of both its parts, each page once', async (mirror) => {
    await sweep(mirror.store, 'posts', posts(1, 2, 3, 4), 1);
    for (const at of [2, 3, 4]) {
      const pass = await begin(mirror.store, 'posts', at);
      // A change makes it worth a checkpoint at once.
      await apply(mirror.store, pass, [aPost(4, { votes_count: at })], at, { keepIds: true, state: 'two' });
      // The last page has no state of its own: a kill after it reads it again.
      await apply(mirror.store, pass, posts(3, 1), at, { keepIds: true });
      await mirror.reopen();
      const resumed = await begin(mirror.store, 'posts', at);
      assert.deepEqual([resumed.runId, resumed.counts.pages], [pass.runId, 1]);
      await apply(mirror.store, resumed, posts(3, 1), at, { keepIds: true });
      await finish(mirror.store, resumed, at, { conclusion: THREE_SWEEPS });
    }
    assert.deepEqual(liveIds(mirror.read), [1, 3, 4]);
  });
});

async function heldIn(store: MirrorStore): Promise<number | undefined> {
  const { resources } = await store.status();
  return resources.find(({ resource }) => resource === 'posts')?.held;
}
