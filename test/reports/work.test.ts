import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { aComment, aPost } from '../support/rows.ts';
import { begin, finish, sweep } from '../support/steps.ts';
import { ANN, pick, TESS, table, tell, write } from './story.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const DAY_MINUTES = 1440;

describe('reports about the work', () => {
  it('new-by-week counts posts and comments of each board, weeks without any too', async (t) => {
    const story = await tell(t);
    const { rows } = await story.ask('new-by-week');
    // Eight weeks of two boards, the first from Monday 8 December.
    assert.deepEqual(
      [rows.length, rows[0]],
      [16, { week: '2025-12-08', board: 'Bugs', posts: 0, comments: 0, partial: null }],
    );
    assert.deepEqual(
      rows.filter(({ posts, comments }) => posts !== 0 || comments !== 0).map((row) => Object.values(row)),
      [
        // 102 and, on Sunday, 104; the internal comment 203. 103 is deleted.
        ['2025-12-15', 'Features', 2, 1, null],
        ['2025-12-22', 'Bugs', 1, 0, null],
        ['2025-12-29', 'Features', 1, 2, null],
        ['2026-01-05', 'Features', 0, 1, null],
        ['2026-01-19', 'Features', 0, 1, null],
      ],
    );
  });

  it('funnel counts who is in a status and who ever was', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('funnel')), [
      // Now 102 and 106; once also 101 and 105.
      ['Open', 2, 12, 0.4, 4, 0.8],
      // Now 104 and 105; once also 101.
      ['Planned', 2, 7, 0.4, 3, 0.6],
      ['Done', 1, 20, 0.2, 1, 0.2],
    ]);
  });

  it('time-in-status measures the stays whose beginning was seen', async (t) => {
    const story = await tell(t);
    // The posts in each curve, those that left, and those in it now; of so few there is no median.
    assert.deepEqual(
      pick(await story.ask('time-in-status'), 'status', 'posts', 'median', 'ended', 'now_in_it'),
      [
        ['Open', 4, null, 2, 2],
        ['Planned', 3, null, 1, 2],
        ['Done', 1, null, 0, 1],
      ],
    );
  });

  it('delivered weighs delivered posts by their votes, and says which statuses it took', async (t) => {
    const story = await tell(t);
    const report = await story.ask('delivered');
    assert.deepEqual(table(report), [
      ['Features', 4, 1, 35, 20, 20 / 35],
      ['Bugs', 1, 0, 4, 0, 0],
      ['all boards', 5, 1, 39, 20, 20 / 39],
    ]);
    assert.match(report.notes.join(), /Delivered is: Done \(/);
    const asked = await story.ask('delivered', { delivered: ['done', ' PLANNED'], board: 'features' });
    assert.deepEqual(table(asked), [['Features', 4, 3, 35, 27, 27 / 35]]);
    await assert.rejects(story.ask('delivered', { delivered: ['Shipped'] }), {
      message: '--delivered: there is no status "Shipped"',
      hint: 'The statuses are Open, Planned, Done.',
    });
  });

  it('first-reply counts from the post to the first public reply of the team', async (t) => {
    const story = await tell(t);
    const { rows } = await story.ask('first-reply', { since: '2025-12-01' });
    assert.deepEqual(
      rows.filter(({ posts }) => (posts ?? 0) !== 0).map((row) => Object.values(row)),
      [
        ['2025-12-01', 1, 1, 1, null, null, null, null],
        // 102 has an internal comment only; 104 is the team's own.
        ['2025-12-15', 1, 0, 0, null, null, null, null],
        ['2025-12-22', 1, 0, 0, null, null, null, null],
        ['2025-12-29', 1, 1, 1, null, null, null, null],
      ],
    );
  });

  /** Posts of one moment, answered after so many hours; null for those that still wait when the mirror last looks, ten days later. */
  const answered = async (t: TestContext, hours: readonly (number | null)[]) => {
    const made = Date.parse('2026-01-05T00:00:00Z');
    return await write(t, async (store) => {
      const posts = hours.map((_, i) =>
        aPost(i + 1, { creator: ANN, created: new Date(made).toISOString() }),
      );
      const replies = hours.flatMap((wait, i) => {
        const created = new Date(made + (wait ?? 0) * HOUR * 1000).toISOString();
        const post = { id: i + 1, title: '', url: '' };
        return wait === null ? [] : [aComment(i + 1, { creator: TESS, created, internal: false, post })];
      });
      await sweep(store, 'posts', posts, 14 * DAY_MINUTES);
      await sweep(store, 'comments', replies, 14 * DAY_MINUTES);
    });
  };
  const week = { since: '2026-01-05', until: '2026-01-12' };

  it('first-reply counts posts that still wait as waiting at least so long', async (t) => {
    const some = await answered(t, [1, 2, 11, null, null]);
    assert.deepEqual(
      pick(await some.ask('first-reply', week), 'posts', 'answered', 'median', 'at_least', 'p90'),
      [[5, 3, 11 * HOUR, null, null]],
    );
    const few = await answered(t, [1, 2, null, null, null]);
    assert.deepEqual(pick(await few.ask('first-reply', week), 'median', 'at_least'), [[null, 10 * DAY]]);
    const four = await answered(t, [1, 2, 3, 4]);
    assert.deepEqual(pick(await four.ask('first-reply', week), 'posts', 'median', 'at_least'), [
      [4, null, null],
    ]);
  });

  it('first-reply has the boards in one table, and marks a week whose replies can still come', async (t) => {
    const story = await answered(t, [1, 2, 200, null, null]);
    const boards = await story.ask('first-reply', { ...week, by: 'board' });
    assert.deepEqual(table(boards), [['Ideas', 5, 3, 0.6, 200 * HOUR, null, null]]);
    const { rows, notes } = await story.ask('first-reply', week);
    assert.equal(rows[0]?.partial, 'not finished');
    assert.match(notes.join(), /A week is not finished while its posts are younger/);
    await assert.rejects(story.ask('first-reply', { ...week, by: 'weather' }), /knows no rows by "weather"/);
  });

  it('unanswered lists open posts of customers without a public reply', async (t) => {
    const story = await tell(t);
    const report = await story.ask('unanswered');
    assert.deepEqual(pick(report, 'post', 'votes', 'waiting'), [
      [102, 8, 47 * DAY],
      [106, 4, 40 * DAY],
    ]);
    assert.match(report.notes.join(), /Left out as finished: Done\./);
  });

  it('stale lists open posts without a comment or a change since a date', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('stale')), []);
    // 102 and 105 changed on the 11th and the 21st; 101 is done.
    assert.deepEqual(pick(await story.ask('stale', { since: '2026-01-10' }), 'post', 'last_activity'), [
      [106, '2025-12-22T00:00:00.000Z'],
      [104, '2025-12-21T00:00:00.000Z'],
    ]);
    // From the 21st on 102 rests too: its last comment came on the 20th.
    assert.deepEqual(pick(await story.ask('stale', { since: '2026-01-21' }), 'post', 'last_activity')[0], [
      102,
      '2026-01-20T00:00:00.000Z',
    ]);
  });

  it('boards puts the boards side by side', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('boards')), [
      // Customers asked 101 102 105 here, and 101 and 105 were answered; twelve weeks from 10 November.
      ['Features', 4, 35, 8.75, 35 / 39, 6, 2 / 3, 0.25, [0, 0, 0, 1, 0, 2, 0, 1, 0, 0, 0, 0]],
      ['Bugs', 1, 4, 4, 4 / 39, 0, 0, 0, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]],
    ]);
  });

  it('sync-health counts passes that failed and those that were interrupted as cut short', async (t) => {
    const story = await write(t, async (store) => {
      for (const outcome of ['failed', 'interrupted'] as const)
        finish(store, begin(store, 'posts', 28 * 1440, { resume: false }), 28 * 1440, { outcome });
    });
    const names = ['list', 'passes', 'complete', 'cut_short', 'last_complete'];
    assert.deepEqual(pick(await story.ask('sync-health'), ...names), [['posts', 2, 0, 2, null]]);
  });

  it('delivered has no share where nobody voted', async (t) => {
    const story = await write(t, async (store) => void sweep(store, 'posts', [aPost(1, { votes_count: 0 })]));
    assert.deepEqual(pick(await story.ask('delivered'), 'posts', 'votes', 'share'), [[1, 0, null]]);
  });

  it('sync-health sums up the passes of each list', async (t) => {
    const story = await tell(t);
    const names = ['list', 'passes', 'complete', 'cut_short', 'last_complete', 'added', 'changed', 'deleted'];
    assert.deepEqual(pick(await story.ask('sync-health', { since: '60d' }), ...names), [
      // Added 101 to 104, 106, 105; changed 101 on day 3, 101 102 105 on day 10, 101 105 on day 20.
      // Two sweeps more than days of the story: a post of a short new list must be missing from three.
      ['posts', 7, 7, 0, 2 * DAY, 6, 6, 1],
      ['comments', 1, 1, 0, 2 * DAY, 6, 0, 0],
    ]);
    assert.deepEqual(pick(await story.ask('sync-health'), 'list', 'passes'), [
      ['posts', 1],
      ['comments', 1],
    ]);
  });
});
