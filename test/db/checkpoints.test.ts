import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { story } from '../support/mirror.ts';
import { aPost, iso, minute, posts, range } from '../support/rows.ts';
import { apply, begin, finish, sweep } from '../support/steps.ts';

describe('checkpoints', () => {
  story('a sweep that was killed goes on from its last page, with its counts', async (mirror) => {
    const pass = await begin(mirror.store, 'posts', 1);
    assert.deepEqual([pass.state, pass.resumed, pass.startedAt], [null, 0, iso(1)]);
    await apply(mirror.store, pass, posts(1, 2), 1, { state: 'page two' });
    await apply(mirror.store, pass, posts(3), 1, { state: 'page three' });
    await mirror.reopen();
    const resumed = await begin(mirror.store, 'posts', 9);
    assert.deepEqual(resumed, {
      runId: pass.runId,
      resource: 'posts',
      mode: 'sweep',
      resumed: 1,
      startedAt: iso(1),
      state: 'page three',
      counts: { pages: 2, rows: 3, inserted: 3, updated: 0, unchanged: 0, quarantined: 0 },
    });
    await mirror.reopen();
    const again = await begin(mirror.store, 'posts', 9);
    const { rows, inserted, outcome, resumed: times, startedAt } = await finish(mirror.store, again, 9);
    assert.deepEqual([rows, inserted, outcome, times, startedAt], [3, 3, 'complete', 2, iso(1)]);
    assert.equal((await begin(mirror.store, 'posts', 10)).state, null);
  });

  story('a sweep that was killed before its first page was written starts over', async (mirror) => {
    const pass = await begin(mirror.store, 'posts', 1);
    await mirror.reopen();
    const next = await begin(mirror.store, 'posts', 2);
    assert.notEqual(next.runId, pass.runId);
    const { runs } = await mirror.store.status();
    assert.deepEqual(
      runs.map(({ id, outcome, finished_at }) => [id, outcome, finished_at]),
      [
        [next.runId, 'running', null],
        [pass.runId, 'interrupted', iso(2)],
      ],
    );
  });

  story('pages that change nothing wait for the tenth, and no more are read again', async (mirror) => {
    await sweep(mirror.store, 'posts', posts(...range(1, 25)), 1);
    const pass = await begin(mirror.store, 'posts', 2);
    for (const id of range(1, 25)) await apply(mirror.store, pass, posts(id), 2, { state: `after ${id}` });
    await mirror.reopen();
    const resumed = await begin(mirror.store, 'posts', 3);
    assert.deepEqual([resumed.state, resumed.counts.pages, resumed.counts.unchanged], ['after 20', 20, 20]);
  });

  for (const [what, times, written] of [
    ['wait no longer than a fifth of a second', [0, 199, 200, 201, 400], 3],
    ['are written with every second one where each takes a second', [0, 1000, 2000, 3000, 4000], 4],
    ['are written where the clock was set back', [0, 1, -3_600_000], 3],
    ['wait for the tenth where each takes 10 ms', [0, 10, 20, 30, 40, 50, 60, 70, 80], null],
  ] as const)
    story(`pages that change nothing ${what}`, async (mirror) => {
      await sweep(mirror.store, 'posts', posts(...range(1, 10)), 1);
      const pass = await begin(mirror.store, 'posts', 2);
      for (const [i, ms] of times.entries())
        await apply(mirror.store, pass, posts(i + 1), 2, {
          state: `after ${i + 1}`,
          observedAt: minute(2) + ms,
        });
      await mirror.reopen();
      const { state } = await begin(mirror.store, 'posts', 3);
      assert.equal(state, written === null ? null : `after ${written}`);
    });

  story('a page that changes something is never left waiting', async (mirror) => {
    await sweep(mirror.store, 'posts', posts(1, 2, 3), 1);
    const pass = await begin(mirror.store, 'posts', 2);
    await apply(mirror.store, pass, posts(1), 2, { state: 'after 1' });
    await apply(mirror.store, pass, [aPost(2, { votes_count: 0 })], 2, { state: 'after 2' });
    await apply(mirror.store, pass, posts(3), 2, { state: 'after 3' });
    await mirror.reopen();
    assert.equal((await begin(mirror.store, 'posts', 3)).state, 'after 2');
  });

  story('a sweep that ends early keeps the state it is given, and its error', async ({ store }) => {
    const pass = await begin(store, 'posts', 1);
    await apply(store, pass, posts(1), 1, { state: 'as applied' });
    const end = { outcome: 'failed', error: 'HTTP 503', keepState: 'as finished' } as const;
    assert.equal((await finish(store, pass, 2, end)).error, 'HTTP 503');
    const { resources, runs } = await store.status();
    assert.equal(resources[0]?.unfinished, true);
    assert.partialDeepStrictEqual(runs[0], { outcome: 'failed', error: 'HTTP 503', finished_at: iso(2) });
    const resumed = await begin(store, 'posts', 3);
    assert.deepEqual([resumed.runId, resumed.state, resumed.counts.pages], [pass.runId, 'as finished', 1]);
    assert.partialDeepStrictEqual((await store.status()).runs[0], { outcome: 'running', error: null });
  });

  story('a sweep that ends with nothing to go on with is not resumed', async ({ store }) => {
    const pass = await begin(store, 'posts', 1);
    await apply(store, pass, posts(1), 1, { state: 'page two' });
    await finish(store, pass, 2, { outcome: 'failed', error: 'not a list' });
    assert.equal((await store.status()).resources[0]?.unfinished, false);
    const next = await begin(store, 'posts', 3);
    assert.deepEqual([next.state, next.resumed], [null, 0]);
    assert.notEqual(next.runId, pass.runId);
  });

  story('a sweep can be begun anew, and the one given up is closed', async ({ store }) => {
    const pass = await begin(store, 'posts', 1);
    await apply(store, pass, posts(1), 1, { state: 'page two' });
    const next = await begin(store, 'posts', 2, { resume: false });
    assert.deepEqual([next.state, next.counts.pages], [null, 0]);
    const { runs } = await store.status();
    assert.deepEqual(
      runs.map(({ outcome }) => outcome),
      ['running', 'interrupted'],
    );
  });

  story('a head pass leaves no checkpoint, and that of a sweep alone', async (mirror) => {
    const pass = await begin(mirror.store, 'posts', 1);
    await apply(mirror.store, pass, posts(1), 1, { state: 'page two' });
    const head = await begin(mirror.store, 'posts', 2, { mode: 'head' });
    assert.deepEqual([head.state, head.mode, head.counts.pages], [null, 'head', 0]);
    await apply(mirror.store, head, posts(2), 2);
    await mirror.reopen();
    const next = await begin(mirror.store, 'posts', 3, { mode: 'head' });
    assert.notEqual(next.runId, head.runId);
    assert.equal((await finish(mirror.store, next, 3)).mode, 'head');
    const resumed = await begin(mirror.store, 'posts', 4);
    assert.deepEqual([resumed.runId, resumed.state], [pass.runId, 'page two']);
  });

  story('the sweeps of posts and comments do not know of each other', async ({ store }) => {
    const pass = await begin(store, 'posts', 1);
    await apply(store, pass, posts(1), 1, { state: 'posts' });
    assert.equal((await begin(store, 'comments', 2)).state, null);
    assert.equal((await begin(store, 'posts', 3)).state, 'posts');
  });

  story('what was learned stays until a pass has learned more, also over a restart', async (mirror) => {
    assert.equal(mirror.store.learnedOf('posts'), null);
    finish(mirror.store, begin(mirror.store, 'posts', 1), 1, { learned: 'one' });
    apply(mirror.store, begin(mirror.store, 'posts', 2), posts(1), 2, { state: 'page two' });
    mirror.reopen();
    finish(mirror.store, begin(mirror.store, 'posts', 3), 3);
    assert.equal(mirror.store.learnedOf('posts'), 'one');
    finish(mirror.store, begin(mirror.store, 'posts', 4), 4, { learned: 'two' });
    assert.deepEqual([mirror.store.learnedOf('posts'), mirror.store.learnedOf('comments')], ['two', null]);
  });
});
