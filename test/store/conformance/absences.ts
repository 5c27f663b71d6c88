import assert from 'node:assert/strict';
import type { MirrorStore } from '../../../src/store/mirror/seam.ts';
import { aComment, aPost, iso, minute, posts, range } from '../rows.ts';
import { apply, begin, between, EVERYWHERE, finish, sweep } from '../steps.ts';
import type { Reader } from './mirror.ts';
import type { Story } from './story.ts';

/** Rows that the upstream no longer shows, where the order of its list proves it. */
export function absences(story: Story): void {
  story('a row within a proven gap is deleted at the end, and keeps its id', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2, 3, 4), 1);
    const pass = await begin(store, 'posts', 2);
    await apply(store, pass, posts(4, 2), 2, { absence: gaps([between(2, 4)]) });
    assert.deepEqual(liveIds(read), [1, 2, 3, 4]);
    const { deleted, held, suspects } = await finish(store, pass, 3, { conclude: 'proven' });
    assert.deepEqual({ deleted, held, suspects }, { deleted: 1, held: 0, suspects: 0 });
    assert.deepEqual(liveIds(read), [1, 2, 4]);
    assert.partialDeepStrictEqual(read.table('posts')[2], { id: 3, deleted_at: iso(3), changed_at: iso(3) });
  });

  story('a gap in an order by creation is one of moment and id', async ({ store, read }) => {
    const at = (id: number, day: string) => aPost(id, { created: `2025-01-${day}T00:00:00Z` });
    const rows = [at(9, '01'), at(5, '02'), at(6, '02'), at(7, '02'), at(1, '03')];
    await sweep(store, 'posts', rows, 1);
    const pass = await begin(store, 'posts', 2);
    const key = (id: number) => ({ created: '2025-01-02T00:00:00.000Z', id });
    const absence = { by: 'created', proven: [{ above: key(5), below: key(7) }], suspected: null } as const;
    await apply(store, pass, [at(7, '02'), at(5, '02')], 2, {
      absence: { ...absence, proven: [...absence.proven] },
    });
    await finish(store, pass, 2, { conclude: 'proven' });
    assert.deepEqual(liveIds(read), [1, 5, 7, 9]);
  });

  story('the ends of the list are gaps as well, up to the highest id', async ({ store, read }) => {
    await sweep(store, 'posts', posts(0, 5, Number.MAX_SAFE_INTEGER), 1);
    await sweep(store, 'posts', posts(5), 2);
    assert.deepEqual(liveIds(read), [5]);
  });

  story('a suspect is named, is not deleted, and is cleared when it is seen', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2, 3, 4), 1);
    const pass = await begin(store, 'posts', 2);
    const absence = { ...gaps([]), suspected: between(1, 4) };
    const { suspects } = await apply(store, pass, posts(1), 2, { absence });
    assert.deepEqual(suspects, [2, 3]);
    assert.equal((await finish(store, pass, 2, { conclude: 'proven' })).suspects, 2);
    assert.equal(await suspectsOf(store), 2);
    assert.deepEqual(liveIds(read), [1, 2, 3, 4]);
    const head = await begin(store, 'posts', 3, { mode: 'head' });
    await apply(store, head, posts(2), 3);
    assert.equal(await suspectsOf(store), 1);
  });

  story('a suspect that is proven by another look is deleted', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    const pass = await begin(store, 'posts', 2);
    await apply(store, pass, posts(1, 3), 2, { absence: { ...gaps([]), suspected: between(1, 3) } });
    await store.noteAbsent({ pass, ids: [2], verdict: 'proven', now: minute(2) });
    assert.equal((await finish(store, pass, 3, { conclude: 'proven' })).deleted, 1);
    assert.deepEqual(liveIds(read), [1, 3]);
  });

  story('a row that is seen after its absence was proven stays', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    const pass = await begin(store, 'posts', 2);
    await apply(store, pass, posts(1, 3), 2, { absence: gaps([between(1, 3)]) });
    await apply(store, pass, posts(2), 2);
    assert.equal((await finish(store, pass, 3, { conclude: 'proven' })).deleted, 0);
    assert.deepEqual(liveIds(read), [1, 2, 3]);
  });

  story('a row that came but could not be read is not absent', async ({ store, read }) => {
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    const pass = await begin(store, 'posts', 2);
    const rejects = [{ id: 2, reason: 'title is missing', body: '{"id":2}' }];
    await apply(store, pass, posts(1, 3), 2, { rejects, absence: gaps([EVERYWHERE]) });
    assert.equal((await finish(store, pass, 2, { conclude: 'proven' })).deleted, 0);
    assert.deepEqual(liveIds(read), [1, 2, 3]);
  });

  story('nothing is deleted by a pass that failed, stopped short or concludes nothing', async (mirror) => {
    const { store, read } = mirror;
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    for (const end of [{ outcome: 'failed' }, { outcome: 'interrupted' }, { conclude: 'nothing' }] as const) {
      await sweep(store, 'posts', posts(1, 3), 2, { acceptDeletes: true, ...end });
      assert.deepEqual(liveIds(read), [1, 2, 3]);
    }
  });

  story('a sweep that starts anew does not inherit the proofs of one that was given up', async (mirror) => {
    const { store, read } = mirror;
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    const given = await begin(store, 'posts', 2);
    await apply(store, given, posts(1, 3), 2, { absence: gaps([between(1, 3)]), state: 'page two' });
    assert.equal(await suspectsOf(store), 1);
    const fresh = await begin(store, 'posts', 3, { resume: false });
    assert.equal(await suspectsOf(store), 0);
    await apply(store, fresh, posts(1), 3);
    assert.equal((await finish(store, fresh, 3, { conclude: 'proven' })).deleted, 0);
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
    const { updated, inserted } = await sweep(store, 'posts', posts(1, 2), 3);
    assert.deepEqual({ updated, inserted }, { updated: 1, inserted: 0 });
    assert.partialDeepStrictEqual(read.table('posts')[1], {
      id: 2,
      first_seen_at: iso(1),
      changed_at: iso(3),
      deleted_at: null,
    });
    assert.deepEqual(liveIds(read), range(1, 2));
  });
}

function gaps(proven: ReturnType<typeof between>[]) {
  return { by: 'id' as const, proven, suspected: null };
}

export function liveIds(read: Reader): number[] {
  return read.table('live_posts').map((row) => row.id as number);
}

async function suspectsOf(store: MirrorStore): Promise<number | undefined> {
  const { resources } = await store.status();
  return resources.find(({ resource }) => resource === 'posts')?.suspects;
}
