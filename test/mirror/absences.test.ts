import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { liveIds, queryFile, story } from '../support/mirror.ts';
import { aComment, aPost, iso, posts, range } from '../support/rows.ts';
import { apply, begin, conclude, finish, oneSweep, show, sweep, sweepPages } from '../support/steps.ts';

/** Rows that the upstream no longer shows. The rule itself has its tests in absence.test.ts. These lists are new and short: it takes three sweeps. */
describe('a row that sweeps miss', () => {
  story('of a new list of three is deleted by the fourth sweep that misses it', async ({ store, read }) => {
    oneSweep(store, 'posts', posts(1, 2, 3), 1);
    for (const at of [2, 3, 4]) assert.equal(oneSweep(store, 'posts', posts(1, 3), at).suspects, 1);
    assert.deepEqual(liveIds(read), [1, 2, 3]);
    const { deleted, held, suspects } = oneSweep(store, 'posts', posts(1, 3), 5);
    assert.deepEqual({ deleted, held, suspects }, { deleted: 1, held: 0, suspects: 0 });
    assert.partialDeepStrictEqual(read.table('posts')[1], { id: 2, deleted_at: iso(5), changed_at: iso(5) });
  });

  story('is deleted by more sweeps where it was the first or the last of the list', async (mirror) => {
    const { store } = mirror;
    oneSweep(store, 'posts', posts(0, 1, 5, Number.MAX_SAFE_INTEGER), 1);
    const deleted = range(2, 5).map((at) => oneSweep(store, 'posts', posts(1, 5), at).deleted);
    assert.deepEqual(deleted, [0, 0, 2, 0]);
    assert.deepEqual(liveIds(mirror.read), [1, 5]);
  });

  story('has its score, the sweeps that missed it and its neighbours in the table', async (mirror) => {
    oneSweep(mirror.store, 'posts', posts(1, 2, 3), 1);
    for (const at of [2, 3]) oneSweep(mirror.store, 'posts', posts(1, 3), at);
    assert.deepEqual(
      queryFile(mirror.path, 'SELECT id, since, sweeps, misses, way, before_id, after_id FROM absences'),
      [{ id: 2, since: iso(2), sweeps: 2, misses: '{"inside":2}', way: 'inside', before_id: 1, after_id: 3 }],
    );
    const [{ score = 0 } = {}] = queryFile<{ score: number }>(mirror.path, 'SELECT score FROM absences');
    assert.ok(score > 0.5 && score < 1, String(score));
  });

  story('keeps its score over a restart', async (mirror) => {
    oneSweep(mirror.store, 'posts', posts(1, 2, 3), 1);
    for (const at of [2, 3, 4]) oneSweep(mirror.store, 'posts', posts(1, 3), at);
    mirror.reopen();
    assert.equal(oneSweep(mirror.store, 'posts', posts(1, 3), 5).deleted, 1);
  });

  story('is not missed by sweeps that failed, were interrupted or conclude nothing', async (mirror) => {
    oneSweep(mirror.store, 'posts', posts(1, 2, 3), 1);
    const ends = [{ outcome: 'failed' }, { outcome: 'interrupted' }, {}] as const;
    for (const end of ends) {
      const pass = begin(mirror.store, 'posts', 2, { resume: false });
      show(mirror.store, pass, posts(1, 3), 2);
      finish(mirror.store, pass, 2, { acceptDeletes: true, ...end });
    }
    assert.equal(oneSweep(mirror.store, 'posts', posts(1, 3), 3).deleted, 0);
    assert.deepEqual(liveIds(mirror.read), [1, 2, 3]);
  });

  story('begins at nothing when any pass has shown it, a head pass too', async ({ store }) => {
    oneSweep(store, 'posts', posts(1, 2, 3), 1);
    oneSweep(store, 'posts', posts(1, 3), 2);
    const head = begin(store, 'posts', 3, { mode: 'head' });
    apply(store, head, posts(2), 3);
    finish(store, head, 3);
    assert.equal(suspectsOf(store), 0);
    assert.equal(oneSweep(store, 'posts', posts(1, 3), 4).deleted, 0);
  });

  story('keeps its score where a page from before it was missed shows it', async ({ store }) => {
    oneSweep(store, 'posts', posts(1, 2, 3), 1);
    for (const at of [3, 4, 5]) oneSweep(store, 'posts', posts(1, 3), at);
    const head = begin(store, 'posts', 6, { mode: 'head' });
    apply(store, head, posts(2), 6, { ageMs: 240_000 });
    finish(store, head, 6);
    assert.equal(suspectsOf(store), 1);
    assert.equal(oneSweep(store, 'posts', posts(1, 3), 7).deleted, 1);
  });

  story('lowers the weight of other misses when it comes back', async ({ store }) => {
    const shown = (...missing: number[]) => posts(...range(1, 100).filter((id) => !missing.includes(id)));
    oneSweep(store, 'posts', shown(), 1);
    oneSweep(store, 'posts', shown(10, 20, 30, 40), 2);
    const deleted = range(3, 8).map((at) => oneSweep(store, 'posts', shown(40), at).deleted);
    assert.deepEqual(deleted, [0, 0, 0, 1, 0, 0]);
  });

  story('is not absent where it came and could not be read', async ({ store, read }) => {
    oneSweep(store, 'posts', posts(1, 2, 3), 1);
    for (const at of range(2, 7)) {
      const pass = begin(store, 'posts', at);
      const rejects = [{ id: 2, reason: 'title is missing', body: '{"id":2}' }];
      apply(store, pass, posts(1, 3), at, { rejects, shown: [1, 2, 3] });
      assert.equal(conclude(store, pass, at).suspects, 0);
    }
    assert.deepEqual(liveIds(read), [1, 2, 3]);
  });

  story('that a head pass brought is missed at the start of the list', async ({ store, path }) => {
    oneSweep(store, 'posts', posts(1, 2, 3), 1);
    const head = begin(store, 'posts', 2, { mode: 'head' });
    apply(store, head, posts(9), 2);
    finish(store, head, 2);
    oneSweep(store, 'posts', posts(1, 2, 3), 3);
    assert.deepEqual(queryFile(path, 'SELECT id, way, after_id FROM absences'), [
      { id: 9, way: 'edge', after_id: 1 },
    ]);
    // Rows that come there later are neighbours: it needs fewer sweeps than at the start.
    const deleted = [4, 5].map((at) => oneSweep(store, 'posts', posts(8, 1, 2, 3), at).deleted);
    assert.deepEqual(deleted, [0, 1]);
  });

  story('among posts is not answered for by comments with the same ids', async ({ store, read }) => {
    sweep(store, 'posts', posts(1, 2), 1);
    sweep(store, 'comments', [aComment(1), aComment(2)], 1);
    sweep(store, 'comments', [aComment(1)], 2);
    assert.deepEqual(liveIds(read), [1, 2]);
    assert.deepEqual(
      read.table('comments').map((row) => row.deleted_at),
      [null, iso(2)],
    );
  });

  story('lives again under its id when it is seen after it was deleted', async ({ store, read }) => {
    sweep(store, 'posts', posts(1, 2), 1);
    sweep(store, 'posts', posts(1), 2);
    const { updated, inserted } = oneSweep(store, 'posts', posts(1, 2), 3);
    assert.deepEqual({ updated, inserted }, { updated: 1, inserted: 0 });
    assert.partialDeepStrictEqual(read.table('posts')[1], {
      id: 2,
      first_seen_at: iso(1),
      changed_at: iso(3),
      deleted_at: null,
    });
    assert.deepEqual(liveIds(read), range(1, 2));
  });

  story('takes more sweeps after a deletion that proved wrong', async ({ store }) => {
    const shown = (...missing: number[]) => posts(...range(1, 100).filter((id) => !missing.includes(id)));
    sweep(store, 'posts', shown(), 1);
    sweep(store, 'posts', shown(50), 2);
    oneSweep(store, 'posts', shown(), 3);
    const deleted = range(4, 7).map((at) => oneSweep(store, 'posts', shown(50), at).deleted);
    assert.deepEqual(deleted, [0, 0, 0, 1]);
  });
});

/** The order of the list is what the last complete sweep showed, page by page. */
describe('the pages of a list', () => {
  const kept = (path: string, table: string) =>
    queryFile<{ n: number }>(path, `SELECT * FROM ${table} ORDER BY n`).map(({ n }) => n);

  story(
    'are kept of the last complete sweep, and only those that differ of one under way',
    async (mirror) => {
      const { store, path } = mirror;
      sweepPages(store, 'posts', [posts(6, 5), posts(4, 3), posts(2, 1)], 1);
      assert.deepEqual([kept(path, 'list_pages'), kept(path, 'sweep_pages')], [[0, 1, 2], []]);
      const pass = begin(store, 'posts', 2);
      show(store, pass, posts(6, 5), 2);
      show(store, pass, [aPost(7), ...posts(4)], 2, { state: 'three' });
      assert.deepEqual(kept(path, 'sweep_pages'), [1]);
      conclude(store, pass, 2);
      assert.deepEqual([kept(path, 'list_pages'), kept(path, 'sweep_pages')], [[0, 1], []]);
    },
  );

  story('stay where the pages that a resumed sweep reads again are other ones', async (mirror) => {
    const { store } = mirror;
    oneSweep(store, 'posts', posts(3, 2, 1), 1);
    const pass = begin(store, 'posts', 2);
    show(store, pass, [aPost(3, { votes_count: 9 })], 2, { state: 'two' });
    const counts = { ...pass.counts };
    for (const id of [1, 2]) show(store, pass, posts(id), 2);
    Object.assign(pass.counts, counts);
    finish(store, pass, 2, { outcome: 'interrupted', keepState: 'two' });
    const resumed = begin(store, 'posts', 3);
    assert.equal(resumed.runId, pass.runId);
    show(store, resumed, posts(1), 3);
    assert.equal(conclude(store, resumed, 3).suspects, 1);
  });

  story('of both parts of a resumed sweep count, each page once', async (mirror) => {
    sweepPages(mirror.store, 'posts', [posts(4), posts(3, 2, 1)], 1);
    for (const at of [2, 3, 4]) {
      const pass = begin(mirror.store, 'posts', at);
      // A change makes it worth a checkpoint at once.
      show(mirror.store, pass, [aPost(4, { votes_count: at })], at, { state: 'two' });
      // The last page has no state of its own: a kill after it reads it again.
      show(mirror.store, pass, posts(3, 1), at);
      mirror.reopen();
      const resumed = begin(mirror.store, 'posts', at);
      assert.deepEqual([resumed.runId, resumed.counts.pages], [pass.runId, 1]);
      show(mirror.store, resumed, posts(3, 1), at);
      conclude(mirror.store, resumed, at);
    }
    assert.deepEqual(liveIds(mirror.read), [1, 3, 4]);
  });

  story('of a sweep that is given up are forgotten', async ({ store, path }) => {
    sweepPages(store, 'posts', [posts(2), posts(1)], 1);
    show(store, begin(store, 'posts', 2), posts(3), 2, { state: 'two' });
    assert.deepEqual(kept(path, 'sweep_pages'), [0]);
    begin(store, 'posts', 3, { resume: false });
    assert.deepEqual([kept(path, 'list_pages'), kept(path, 'sweep_pages')], [[0, 1], []]);
  });
});

function suspectsOf(store: MirrorStore): number | undefined {
  return store.status().resources.find(({ resource }) => resource === 'posts')?.suspects;
}
