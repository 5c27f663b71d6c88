import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSamePosts } from '../../src/search/same-posts.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { NOW, pick, table, tell, UPSTREAM, write } from './story.ts';

describe('reports about votes', () => {
  it('overview counts what there is, what is new, and what the time before brought', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('overview', { since: '30d' })), [
      // Live: 101 102 104 105 106. New since 1 January: 105; in the 30 days before: 102 104 106 (103 is deleted).
      ['posts', 5, 1, 3, -2 / 3],
      // 20 + 8 + 1 + 6 + 4. Gained: 101 from 10 to 20, 102 from 5 to 8, 105 from nothing to 6. Before that nobody watched.
      ['votes', 39, 19, null, null],
      // Since 1 January 202 204 205 206; before 201 203.
      ['comments', 6, 4, 2, 1],
      // Bob and Cleo; before that Bob (102) and Ann (106): 101 is one day too old.
      ['customers who wrote', null, 2, 2, 0],
    ]);
  });

  it('overview compares with the time before where that was watched', async (t) => {
    const story = await tell(t);
    const { rows } = await story.ask('overview', { since: '15d' });
    // Since the 16th only 101, from 12 to 20. From the 1st to the 16th: 101 +2, 102 +3, 105 +6.
    assert.deepEqual(rows[1], { what: 'votes', total: 39, recent: 8, prior: 11, change: -3 / 11 });
  });

  it('top-posts ranks by votes, and by board', async (t) => {
    const story = await tell(t);
    assert.deepEqual(pick(await story.ask('top-posts'), 'post').flat(), [102, 105, 106, 104], '101 is done');
    assert.deepEqual(pick(await story.ask('top-posts', { status: ['Done'] }), 'post'), [[101]]);
    const includeClosed = true;
    const all = await story.ask('top-posts', { includeClosed });
    assert.deepEqual(pick(all, 'post', 'votes', 'status'), [
      [101, 20, 'Done'],
      [102, 8, 'Open'],
      [105, 6, 'Planned'],
      [106, 4, 'Open'],
      [104, 1, 'Planned'],
    ]);
    assert.deepEqual(pick(await story.ask('top-posts', { limit: 1, includeClosed }), 'post'), [[101]]);
    for (const board of ['bugs', 'Bugs', '2'])
      assert.deepEqual(pick(await story.ask('top-posts', { board }), 'post', 'board'), [[106, 'Bugs']]);
  });

  it('gaining-posts ranks by what came in the period', async (t) => {
    const story = await tell(t);
    assert.deepEqual(
      pick(
        await story.ask('gaining-posts', { includeClosed: true }),
        ...['post', 'gained', 'votes', 'a_day', 'a_day_before'],
      ),
      [
        // 10 in 30 days; 10 in the 31 days from 1 December to 1 January.
        [101, 10, 20, 0.33, 0.32],
        // 6 in the 28 days of its life.
        [105, 6, 6, 0.21, 0],
        // 3 in 30 days; 5 in 17 days before.
        [102, 3, 8, 0.1, 0.29],
      ],
    );
  });

  it('gaining-posts knows the votes at the end of a period that is over', async (t) => {
    const story = await tell(t);
    const early = await story.ask('gaining-posts', {
      ...{ since: '2026-01-02', until: '2026-01-12', includeClosed: true },
    });
    assert.deepEqual(pick(early, 'post', 'gained', 'votes'), [
      [105, 6, 6],
      [102, 3, 8],
      [101, 2, 12],
    ]);
  });

  it('climbers lists posts that gained more than others of their board and age', async (t) => {
    const story = await tell(t);
    const report = await story.ask('climbers', { since: '30d', includeClosed: true });
    assert.deepEqual(pick(report, 'post', 'gained').flat(), [101, 10, 105, 6, 102, 3]);
    assert.deepEqual(
      pick(await story.ask('climbers', { since: '30d' }), 'post').flat(),
      [105, 102],
      '101 is done',
    );
  });

  it('climbers puts three votes of the first hour behind a gain that is unusual for days', async (t) => {
    const day = 24 * 60;
    const young = (votes: number) =>
      Array.from({ length: 40 }, (_, i) =>
        aPost(100 + i, { created: '2026-01-18T00:00:00Z', votes_count: votes }),
      );
    const old = (votes: number) => aPost(1, { created: '2025-12-01T00:00:00Z', votes_count: votes });
    const hourOld = aPost(200, { created: '2026-01-29T23:00:00Z', votes_count: 3 });
    const story = await write(t, async (store) => {
      await sweep(store, 'posts', [old(1), ...young(0)], 18 * day);
      await sweep(store, 'posts', [old(5), ...young(2)], 23 * day);
      await sweep(store, 'posts', [old(5), ...young(2), hourOld], 29 * day);
    });
    const report = await story.ask('climbers', { since: '14d' });
    assert.deepEqual(pick(report, 'post', 'gained'), [
      [1, 4],
      [200, 3],
    ]);
  });

  it('votes has a row a week, and no row for weeks without observations', async (t) => {
    const story = await tell(t);
    const report = await story.ask('votes', { since: '2025-12-22' });
    assert.deepEqual(table(report), [
      ['2025-12-22', null, null, null, 'before the mirror watched'],
      // 22 at first; on Sunday the 4th 101 has 2 more and 105 comes with 3.
      ['2025-12-29', 27, 5, 0, 'from 2026-01-01 00:00'],
      // On Sunday the 11th 102 has 3 more and 105 too.
      ['2026-01-05', 33, 6, 0, null],
      // Nobody looked.
      ['2026-01-12', null, null, null, 'no sweep ended in it'],
      // On the 21st 101 has 8 more, and 103 takes its 2 away without that being a loss.
      ['2026-01-19', 39, 8, 2, 'since the last look, 2026-01-11 00:00'],
      ['2026-01-26', 39, 0, 0, 'so far, until 2026-01-31 00:00'],
    ]);
    assert.match(
      report.notes.join(),
      /watching since 2026-01-01T00:00:00.000Z: changes before that are not in/,
    );
    const bugs = await story.ask('votes', { board: 'bugs', since: '2026-01-12' });
    assert.deepEqual(pick(bugs, 'week', 'votes', 'gained'), [
      ['2026-01-12', null, null],
      ['2026-01-19', 4, 0],
      ['2026-01-26', 4, 0],
    ]);
  });

  it('votes knows the total at the end of a period that is over, and no vote after it', async (t) => {
    const story = await tell(t);
    const until = async (text: string) =>
      table(await story.ask('votes', { since: '2026-01-05', until: text }));
    // Nobody looked from the 4th to the 11th.
    assert.deepEqual(await until('2026-01-10'), [
      ['2026-01-05', null, null, null, 'until 2026-01-10 00:00, no sweep ended in it'],
    ]);
    // The sweep of the 11th was at midnight.
    assert.deepEqual(await until('2026-01-11T00:01'), [['2026-01-05', 33, 6, 0, 'until 2026-01-11 00:01']]);
  });

  it('votes leaves the weeks empty in which the mirror did not look any more', async (t) => {
    const story = await tell(t, { sweeps: 3 });
    const report = await story.ask('votes', { since: '2026-01-05' });
    assert.deepEqual(pick(report, 'gained'), [[6], [null], [null], [null]]);
    assert.match(report.notes.join(), /last looked at the posts on 2026-01-11T00:00:00.000Z/);
  });

  it('overview has no votes gained in a period that began after the mirror last looked', async (t) => {
    const story = await tell(t, { sweeps: 3 });
    const { rows, notes } = await story.ask('overview', { since: '7d' });
    assert.partialDeepStrictEqual(rows[1], { what: 'votes', recent: null, prior: null, change: null });
    assert.match(notes.join(), /last looked at the posts on 2026-01-11T00:00:00.000Z/);
  });

  it('post-votes tells every change of one post that was seen', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('post-votes', { post: 101 })), [
      ['2026-01-01T00:00:00.000Z', 10, null, 'Open'],
      ['2026-01-04T00:00:00.000Z', 12, 2, 'Open'],
      ['2026-01-11T00:00:00.000Z', 12, 0, 'Planned'],
      ['2026-01-21T00:00:00.000Z', 20, 8, 'Done'],
    ]);
    assert.deepEqual(pick(await story.ask('post-votes', { post: 103 }), 'votes', 'status'), [
      [2, 'Open'],
      [2, 'deleted'],
    ]);
    await assert.rejects(story.ask('post-votes', { post: 999 }), /the mirror knows no post 999/);
  });
});

describe('posts that people marked as the same', () => {
  it('count as one where that is asked, with the votes of all that are there', async (t) => {
    const story = await tell(t);
    const marks = openSamePosts({ path: story.path, upstream: UPSTREAM });
    marks.mark(101, 105, NOW);
    marks.mark(105, 106, NOW);
    marks.mark(106, 103, NOW);
    marks.close();
    assert.deepEqual(pick(await story.ask('top-posts', { includeClosed: true }), 'post', 'votes'), [
      [101, 20],
      [102, 8],
      [105, 6],
      [106, 4],
      [104, 1],
    ]);
    const together = await story.ask('top-posts', { same: true, includeClosed: true });
    // 103 is deleted.
    assert.deepEqual(pick(together, 'post', 'votes', 'same'), [
      [101, 30, 3],
      [102, 8, 1],
      [104, 1, 1],
    ]);
    assert.match(together.notes.join(), /count as one, under the one with the most votes/);
    assert.deepEqual(
      pick(await story.ask('top-posts', { same: true, board: 'bugs' }), 'post', 'votes', 'same'),
      [[106, 30, 3]],
    );
  });
});
