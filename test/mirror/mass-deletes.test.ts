import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { liveIds, story, watchForWeeks } from '../support/mirror.ts';
import { posts, range } from '../support/rows.ts';
import { begin, finish, oneSweep, sweep, sweepPages } from '../support/steps.ts';

/** The mass-delete guard holds what goes at once in large numbers. */
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
    const grown = await sweep(store, 'posts', posts(...range(1, 55), ...range(61, 999)), 5);
    assert.deepEqual([grown.deleted, grown.held], [0, 5]);
    await oneSweep(store, 'posts', posts(...range(1, 55), ...range(61, 999)), 6, { acceptDeletes: true });
    assert.deepEqual(liveIds(read), [...range(1, 55), ...range(61, 999)]);
  });

  story('rows that went at once are held also where some of them have less evidence', async (mirror) => {
    const { store, read } = mirror;
    const [first, middle, last] = [range(1, 15), range(16, 45), range(46, 60)];
    oneSweep(store, 'posts', posts(...first, ...middle, ...last), 1);
    watchForWeeks(mirror.path);
    // Of thirty that are missing, those on the first page are missed inside it, one by one.
    const shown = () =>
      sweepPages(store, 'posts', [posts(...first.filter((id) => id % 3 !== 2)), posts(...last)], 2);
    assert.equal(shown().suspects, 35);
    const { deleted, held, suspects } = shown();
    assert.deepEqual([deleted, held, suspects], [0, 5, 30]);
    assert.equal(liveIds(read).length, 60);
    assert.equal(oneSweep(store, 'posts', posts(...range(1, 13), 15, ...middle, ...last), 3).held, 1);
  });

  story('deletions of several sweeps that are concluded together are no mass deletion', async (mirror) => {
    const { store, read } = mirror;
    oneSweep(store, 'posts', posts(...range(1, 100)), 1);
    const counts = [
      [2, 85],
      [3, 70],
      [4, 55],
      [5, 55],
      [6, 55],
      [7, 55],
    ].map(([at, left = 0]) => oneSweep(store, 'posts', posts(...range(1, left)), at));
    assert.deepEqual(
      counts.map(({ deleted }) => deleted),
      [0, 0, 0, 15, 15, 15],
    );
    assert.deepEqual([counts.at(-1)?.held, liveIds(read)], [0, range(1, 55)]);
  });

  story('an acceptance is for the rows that were held when it was given', async ({ store, read }) => {
    oneSweep(store, 'posts', posts(...range(1, 100)), 1);
    const accepting = (left: number, at: number) => {
      const rows = posts(...range(1, left));
      const { deleted, held } = oneSweep(store, 'posts', rows, at, { acceptDeletes: true });
      return [deleted, held];
    };
    const none = [0, 0];
    assert.deepEqual(
      range(2, 5).map((at) => accepting(60, at)),
      [none, none, none, [0, 40]],
    );
    assert.deepEqual([accepting(30, 6), liveIds(read).length], [[40, 0], 60]);
  });

  story('accepted rows go when a sweep has as much against them as against any row', async (mirror) => {
    const { store } = mirror;
    sweep(store, 'posts', posts(...range(1, 100)), 1);
    sweep(store, 'posts', posts(...range(1, 60)), 2);
    // This sweep says nothing about rows that it did not show.
    const accepted = finish(store, begin(store, 'posts', 3), 3, { acceptDeletes: true });
    assert.deepEqual([accepted.deleted, accepted.held, accepted.suspects], [0, 0, 40]);
    assert.equal(oneSweep(store, 'posts', posts(...range(1, 60)), 4).deleted, 40);
  });

  story('rows that were accepted do not hold others that went with them', async ({ store, read }) => {
    const [first, middle, last] = [range(1, 40), range(41, 62), range(63, 99)];
    oneSweep(store, 'posts', posts(...first, ...middle, ...last, 100), 1);
    // Row 100 is the last of its list: it needs a sweep more than the others.
    const shown = (at: number, acceptDeletes = false) => {
      const { deleted, held } = oneSweep(store, 'posts', posts(...first, ...last), at, { acceptDeletes });
      return [deleted, held];
    };
    assert.deepEqual(
      [shown(2), shown(3)],
      [
        [0, 0],
        [0, 0],
      ],
    );
    assert.deepEqual(shown(4), [0, 22]);
    assert.deepEqual(shown(5, true), [23, 0]);
    assert.deepEqual(liveIds(read), [...first, ...last]);
  });

  story('an empty answer deletes nothing, however few the rows', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1), 1);
    const { deleted, held } = await sweep(store, 'posts', [], 2);
    assert.deepEqual([deleted, held], [0, 1]);
    assert.deepEqual(liveIds(read), [1]);
    assert.equal((await sweep(store, 'posts', [], 3, { acceptDeletes: true })).deleted, 1);
    assert.deepEqual(liveIds(read), []);
  });
});

async function heldIn(store: MirrorStore): Promise<number | undefined> {
  const { resources } = await store.status();
  return resources.find(({ resource }) => resource === 'posts')?.held;
}
