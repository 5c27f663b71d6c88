import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { MirrorStore } from '../../src/store/mirror/store.ts';
import type { Absence, PassEnd, PassSummary } from '../../src/store/mirror/types.ts';
import { liveIds, story } from '../support/mirror.ts';
import { aComment, aPost, iso, posts, range } from '../support/rows.ts';
import {
  apply,
  begin,
  between,
  finish,
  gaps,
  oneSweep,
  PROOF,
  sweep,
  THREE_SWEEPS,
} from '../support/steps.ts';

const INSIDE = gaps([between(1, 3)]);
const ONE_SIDED = gaps([between(1, 3)], 'between');
const BEYOND = gaps([between(1, 3)], 'end');
/** Something else changes in every sweep: the list does not stand still. */
let votes = 0;

/** A sweep of posts 1 and 3 whose pages show these gaps, one after the other. */
async function sweepWithout(
  store: MirrorStore,
  at: number,
  reads: Absence[],
  rest: Partial<PassEnd> & { moves?: boolean } = {},
): Promise<PassSummary> {
  const { moves = true, ...end } = rest;
  const pass = await begin(store, 'posts', at, { resume: false });
  if (moves) await apply(store, pass, [aPost(9, { votes_count: ++votes })], at);
  for (const absence of reads) await apply(store, pass, posts(1, 3), at, { absence });
  return await finish(store, pass, at, { conclusion: PROOF, ...end });
}

async function begun({ store }: { store: MirrorStore }): Promise<void> {
  await sweep(store, 'posts', posts(1, 2, 3, 9), 1);
}

/** Rows that the upstream no longer shows, where the order of its list proves it. */
describe('evidence of absence', () => {
  story('a row is deleted by three reads in two sweeps with a neighbour on each side', async (mirror) => {
    const { store, read } = mirror;
    await begun(mirror);
    assert.equal((await sweepWithout(store, 2, [INSIDE])).suspects, 1);
    assert.deepEqual(liveIds(read), [1, 2, 3, 9]);
    const { deleted, held, suspects } = await sweepWithout(store, 3, [INSIDE, INSIDE]);
    assert.deepEqual({ deleted, held, suspects }, { deleted: 1, held: 0, suspects: 0 });
    assert.partialDeepStrictEqual(read.table('posts')[1], { id: 2, deleted_at: iso(3), changed_at: iso(3) });
  });

  story('a row is not deleted by any number of reads in one sweep', async (mirror) => {
    await begun(mirror);
    const { deleted, suspects } = await sweepWithout(mirror.store, 2, Array(9).fill(INSIDE));
    assert.deepEqual({ deleted, suspects }, { deleted: 0, suspects: 1 });
  });

  story('a row is not deleted by one read in each of many sweeps', async (mirror) => {
    await begun(mirror);
    for (const at of range(2, 9)) assert.equal((await sweepWithout(mirror.store, at, [INSIDE])).deleted, 0);
  });

  story('a read with a neighbour on one side counts for less than one with two', async (mirror) => {
    await begun(mirror);
    const deleted: number[] = [];
    for (const reads of [[INSIDE], [INSIDE, ONE_SIDED], [INSIDE, ONE_SIDED]])
      deleted.push((await sweepWithout(mirror.store, 2 + deleted.length, reads)).deleted);
    assert.deepEqual(deleted, [0, 0, 1]);
  });

  story(
    'a row that a sweep has shown is not missed by it where it reads that place again',
    async (mirror) => {
      const { store } = mirror;
      await begun(mirror);
      const pass = begin(store, 'posts', 2, { resume: false });
      apply(store, pass, posts(1, 2, 3, 9), 2);
      for (let reads = 0; reads < 2; reads++)
        apply(store, pass, posts(1, 3), 2, { absence: { ...INSIDE, isReread: true } });
      finish(store, pass, 2, { conclusion: PROOF });
      assert.equal((await sweepWithout(store, 3, [INSIDE, INSIDE])).deleted, 0);
      assert.equal((await sweepWithout(store, 4, [INSIDE, INSIDE])).deleted, 1);
    },
  );

  story('at an end, or between two pages, it takes two reads in each of three sweeps', async (mirror) => {
    await begun(mirror);
    const deleted: number[] = [];
    for (const at of [2, 3, 4])
      deleted.push((await sweepWithout(mirror.store, at, [ONE_SIDED, ONE_SIDED])).deleted);
    assert.deepEqual(deleted, [0, 0, 1]);
  });

  story('at an end it takes two sweeps where nothing else has changed', async (mirror) => {
    await begun(mirror);
    const still = { moves: false };
    assert.equal((await sweepWithout(mirror.store, 2, [ONE_SIDED, ONE_SIDED], still)).deleted, 0);
    assert.equal((await sweepWithout(mirror.store, 3, [ONE_SIDED, ONE_SIDED], still)).deleted, 1);
  });

  story('between two pages it takes a sweep that showed no row twice', async (mirror) => {
    await begun(mirror);
    const moved = { conclusion: { ...PROOF, moved: true } };
    for (const at of range(2, 9))
      assert.equal((await sweepWithout(mirror.store, at, [ONE_SIDED, ONE_SIDED], moved)).deleted, 0);
    assert.equal((await sweepWithout(mirror.store, 10, [ONE_SIDED, ONE_SIDED])).deleted, 1);
  });

  story(
    'between two pages nothing speaks against a row whose second the service may have skipped',
    async (mirror) => {
      const { store } = mirror;
      await begun(mirror);
      const tie = aPost(2).created.slice(0, 19);
      const skipped = { ...ONE_SIDED, gaps: ONE_SIDED.gaps.map((gap) => ({ ...gap, tie })) };
      const still = { moves: false };
      for (const at of range(2, 9))
        assert.equal((await sweepWithout(store, at, [skipped, skipped], still)).suspects, 0);
      const other = {
        ...ONE_SIDED,
        gaps: ONE_SIDED.gaps.map((gap) => ({ ...gap, tie: '1999-01-01T00:00:00' })),
      };
      assert.equal((await sweepWithout(store, 10, [other, other], still)).suspects, 1);
    },
  );

  for (const conclusion of [PROOF, THREE_SWEEPS])
    story(
      `rows missing wherever pages meet, and hardly elsewhere, are left out by the service (${conclusion.rule})`,
      async ({ store }) => {
        const all = posts(...range(1, 100));
        const missing = [10, 20, 30, 40];
        const left = all.filter(({ id }) => !missing.includes(id));
        await sweep(store, 'posts', all, 1);
        const skipped = (at: number, places: number[]): PassSummary => {
          const pass = begin(store, 'posts', at, { resume: false });
          for (let n = 0; n < 10; n++)
            apply(store, pass, left.slice(10 * n, 10 * n + 10), at, { keepIds: true });
          for (const round of [1, 2])
            for (const id of places)
              apply(store, pass, posts(id - round), at, {
                absence: {
                  by: 'id',
                  gaps: [
                    { range: between(id - 1, id + 1), kind: 'between', page: `page=${id}`, pageBefore: null },
                  ],
                },
              });
          return finish(store, pass, at, { conclusion });
        };
        for (const at of range(2, 9)) assert.equal(skipped(at, missing).deleted, 0);
      },
    );

  story('beyond the end nothing adds up with what was missed between rows', async (mirror) => {
    await begun(mirror);
    for (const at of [2, 4, 6]) {
      await sweepWithout(mirror.store, at, [INSIDE, INSIDE]);
      assert.equal((await sweepWithout(mirror.store, at + 1, [BEYOND, BEYOND])).deleted, 0);
    }
  });

  story('beyond the end only sweeps that end at the same row add up', async (mirror) => {
    await begun(mirror);
    const elsewhere = { conclusion: { ...PROOF, sameEnd: false } };
    for (const at of range(2, 9))
      assert.equal((await sweepWithout(mirror.store, at, [BEYOND, BEYOND], elsewhere)).deleted, 0);
    assert.equal((await sweepWithout(mirror.store, 10, [BEYOND, BEYOND])).deleted, 0);
    assert.equal((await sweepWithout(mirror.store, 11, [BEYOND, BEYOND])).deleted, 1);
  });

  story('a list that leaves out rows needs more sweeps', async ({ store }) => {
    const shown = (from: number, at: number) => [
      aPost(20, { votes_count: at }),
      ...posts(...range(from, 19)),
    ];
    await sweep(store, 'posts', shown(1, 1), 1);
    assert.equal((await oneSweep(store, 'posts', shown(7, 2), 2)).suspects, 6);
    const deleted: number[] = [];
    for (const at of range(3, 6)) deleted.push((await oneSweep(store, 'posts', shown(2, at), at)).deleted);
    assert.deepEqual(deleted, [0, 0, 0, 1]);
  });

  story('a list that was cut short once, and is whole again, leaves out no rows', async ({ store }) => {
    const shown = (from: number, at: number) => [
      aPost(20, { votes_count: at }),
      ...posts(...range(from, 19)),
    ];
    await sweep(store, 'posts', shown(1, 1), 1);
    assert.equal((await oneSweep(store, 'posts', shown(12, 2), 2)).suspects, 11);
    const deleted: number[] = [];
    for (const at of [3, 4]) deleted.push((await oneSweep(store, 'posts', shown(2, at), at)).deleted);
    assert.deepEqual(deleted, [1, 0]);
  });

  story(
    'two reads in each of two sweeps are enough where one had a neighbour on each side',
    async (mirror) => {
      await begun(mirror);
      await sweepWithout(mirror.store, 2, [INSIDE, ONE_SIDED]);
      assert.equal((await sweepWithout(mirror.store, 3, [ONE_SIDED, ONE_SIDED])).deleted, 1);
    },
  );

  story('a sweep more is needed where a number runs along with the order', async (mirror) => {
    await begun(mirror);
    const conclusion = { ...PROOF, sweeps: 3 as const };
    const deleted: number[] = [];
    for (const at of [2, 3, 4])
      deleted.push((await sweepWithout(mirror.store, at, [INSIDE, INSIDE], { conclusion })).deleted);
    assert.deepEqual(deleted, [0, 0, 1]);
  });

  story('beyond the end that makes two sweeps more', async (mirror) => {
    await begun(mirror);
    const conclusion = { ...PROOF, sweeps: 3 as const };
    const deleted: number[] = [];
    for (const at of range(2, 6))
      deleted.push((await sweepWithout(mirror.store, at, [BEYOND, BEYOND], { conclusion })).deleted);
    assert.deepEqual(deleted, [0, 0, 0, 0, 1]);
  });

  story(
    'a sweep that misses another row for the first time is none in which nothing changed',
    async (mirror) => {
      const { store } = mirror;
      await sweep(store, 'posts', posts(1, 2, 3, 5, 9), 1);
      const still = { moves: false };
      const both = gaps([between(1, 3), between(4, 6)], 'between');
      await sweepWithout(store, 2, [ONE_SIDED, ONE_SIDED], still);
      assert.equal((await sweepWithout(store, 3, [both, both], still)).deleted, 0);
      assert.equal((await sweepWithout(store, 4, [both, both], still)).deleted, 2);
    },
  );

  story(
    'reads of a sweep that failed, was interrupted or concludes nothing do not add up',
    async (mirror) => {
      await begun(mirror);
      for (const end of [{ outcome: 'failed' }, { outcome: 'interrupted' }, { conclusion: null }] as const)
        await sweepWithout(mirror.store, 2, [INSIDE, INSIDE], { acceptDeletes: true, ...end });
      assert.equal((await sweepWithout(mirror.store, 3, [INSIDE, INSIDE])).deleted, 0);
      assert.deepEqual(liveIds(mirror.read), [1, 2, 3, 9]);
    },
  );

  story('any sighting, by a head pass too, takes back all that spoke against a row', async (mirror) => {
    const { store } = mirror;
    await begun(mirror);
    await sweepWithout(store, 2, [INSIDE, INSIDE]);
    await apply(store, await begin(store, 'posts', 3, { mode: 'head' }), posts(2), 3);
    assert.equal(await suspectsOf(store), 0);
    assert.equal((await sweepWithout(store, 4, [INSIDE, INSIDE])).deleted, 0);
  });

  story('an order that proves to be none takes back what was noted in it', async (mirror) => {
    const { store } = mirror;
    await begun(mirror);
    await sweepWithout(store, 2, [INSIDE, INSIDE]);
    const none = { ...PROOF, rule: 'none', why: 'rows are out of order', sweeps: null } as const;
    await finish(store, await begin(store, 'posts', 3, { mode: 'head' }), 3, { conclusion: none });
    assert.equal((await sweepWithout(store, 4, [INSIDE, INSIDE])).deleted, 0);
    assert.equal((await sweepWithout(store, 5, [INSIDE, INSIDE])).deleted, 1);
  });

  story('what should be read again is told with the place where it was missed', async (mirror) => {
    const { store } = mirror;
    await begun(mirror);
    const pass = await begin(store, 'posts', 2);
    const [gap] = ONE_SIDED.gaps;
    assert.ok(gap);
    const at = { page: 'page=2', pageBefore: 'page=1' };
    await apply(store, pass, posts(1, 3), 2, { absence: { by: 'id', gaps: [{ ...gap, ...at }] } });
    const { total, candidates } = await store.toReread(pass);
    const created = mirror.read.table('posts')[1]?.created;
    assert.deepEqual([total, candidates], [1, [{ id: 2, key: { created, id: 2 }, ...at }]]);
  });

  story('what lacks least is read again first', async ({ store }) => {
    await sweep(store, 'posts', posts(1, 2, 3, 4, 5, 9), 1);
    const missed = (at: number, ranges: [number, number][]) => {
      const pass = begin(store, 'posts', at, { resume: false });
      const absence = gaps(
        ranges.map(([low, high]) => between(low, high)),
        'between',
      );
      apply(store, pass, posts(1, 3, 5), at, { absence });
      return pass;
    };
    const first = missed(2, [[3, 5]]);
    apply(store, first, [], 2, { absence: gaps([between(3, 5)], 'between') });
    finish(store, first, 2, { conclusion: PROOF });
    const second = missed(3, [
      [1, 3],
      [3, 5],
    ]);
    assert.deepEqual(
      store.toReread(second).candidates.map(({ id }) => id),
      [4, 2],
    );
  });

  story('a row missed for the first time between two neighbours waits for the next sweep', async (mirror) => {
    const { store } = mirror;
    await begun(mirror);
    const first = await begin(store, 'posts', 2);
    await apply(store, first, posts(1, 3), 2, { absence: INSIDE });
    assert.deepEqual((await store.toReread(first)).candidates, []);
    await finish(store, first, 2, { conclusion: PROOF });
    const second = await begin(store, 'posts', 3);
    await apply(store, second, posts(1, 3), 3, { absence: INSIDE });
    assert.equal((await store.toReread(second)).candidates.length, 1);
  });

  story('a gap in an order by creation is one of moment and id', async ({ store, read }) => {
    const at = (id: number, day: string) => aPost(id, { created: `2025-01-${day}T00:00:00Z` });
    await sweep(store, 'posts', [at(9, '01'), at(5, '02'), at(6, '02'), at(7, '02'), at(1, '03')], 1);
    const key = (id: number) => ({ created: '2025-01-02T00:00:00.000Z', id });
    const absence = { ...gaps([{ above: key(5), below: key(7) }]), by: 'created' as const };
    for (const minute of [2, 3]) {
      const pass = await begin(store, 'posts', minute);
      for (const _ of range(1, 2)) await apply(store, pass, [at(7, '02'), at(5, '02')], minute, { absence });
      await finish(store, pass, minute, { conclusion: PROOF });
    }
    assert.deepEqual(liveIds(read), [1, 5, 7, 9]);
  });

  story('the ends of the list are gaps as well, up to the highest id', async ({ store, read }) => {
    await sweep(store, 'posts', posts(0, 5, Number.MAX_SAFE_INTEGER), 1);
    await sweep(store, 'posts', posts(5), 2);
    assert.deepEqual(liveIds(read), [5]);
  });

  story('a row that came but could not be read is not absent', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    for (const at of [2, 3, 4]) {
      const pass = await begin(store, 'posts', at);
      const rejects = [{ id: 2, reason: 'title is missing', body: '{"id":2}' }];
      for (const _ of range(1, 2)) await apply(store, pass, posts(1, 3), at, { rejects, absence: INSIDE });
      await finish(store, pass, at, { conclusion: PROOF });
    }
    assert.deepEqual(liveIds(read), [1, 2, 3]);
  });

  story('posts and comments with the same ids do not answer for each other', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2), 1);
    await sweep(store, 'comments', [aComment(1), aComment(2)], 1);
    await sweep(store, 'comments', [aComment(1)], 2);
    assert.deepEqual(liveIds(read), [1, 2]);
    assert.deepEqual(
      read.table('comments').map((row) => row.deleted_at),
      [null, iso(2)],
    );
  });

  story('a deleted row that is seen again lives again under its id', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2), 1);
    await sweep(store, 'posts', posts(1), 2);
    const { updated, inserted } = await oneSweep(store, 'posts', posts(1, 2), 3);
    assert.deepEqual({ updated, inserted }, { updated: 1, inserted: 0 });
    assert.partialDeepStrictEqual(read.table('posts')[1], {
      id: 2,
      first_seen_at: iso(1),
      changed_at: iso(3),
      deleted_at: null,
    });
    assert.deepEqual(liveIds(read), range(1, 2));
  });
});

async function suspectsOf(store: MirrorStore): Promise<number | undefined> {
  const { resources } = await store.status();
  return resources.find(({ resource }) => resource === 'posts')?.suspects;
}
