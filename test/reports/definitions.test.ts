import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Comment } from '../../src/contract/decode.ts';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { ANN, BOB, NOW, pick, TESS, table, tell, write } from './story.ts';

const DAY_MINUTES = 1440;
const BUGS = { id: 2, name: 'Bugs', url: '/b/bugs/' };
const created = '2025-12-20T00:00:00Z';

function comment(id: number, post: number, changes: Record<string, unknown>): Comment {
  const on = { id: post, title: `Post ${post}`, url: `/p/${post}/` };
  return aComment(id, {
    post: on,
    creator: TESS,
    internal: false,
    created: '2025-12-21T00:00:00Z',
    ...changes,
  });
}

describe('a reply', () => {
  it('is a public comment of kind "reply" by the team, alike in every report, and each says so', async (t) => {
    const story = await write(t, async (store) => {
      const ids = [1, 2, 3, 4, 5, 6];
      await sweep(
        store,
        'posts',
        ids.map((id) => aPost(id, { creator: ANN, created })),
      );
      await sweep(store, 'comments', [
        comment(11, 1, {}),
        comment(12, 2, { kind: 'status' }),
        comment(13, 3, { internal: true }),
        comment(14, 4, { creator: BOB }),
        comment(15, 5, { creator: { ...BOB, id: 9, is_admin: true } }),
        // Older than its post: it was written below another one that has become part of it.
        comment(16, 6, { created: '2025-12-19T00:00:00Z' }),
      ]);
    });
    const unanswered = await story.ask('unanswered');
    assert.deepEqual(pick(unanswered, 'post'), [[2], [3], [4]]);
    const first = await story.ask('first-reply', { since: '2025-12-15', until: '2025-12-22' });
    // Half of six have a reply within a day: one of them at once.
    assert.deepEqual(pick(first, 'posts', 'answered', 'median'), [[6, 3, 86_400]]);
    const boards = await story.ask('boards');
    assert.deepEqual(pick(boards, 'answered'), [[0.5]]);
    for (const { notes } of [unanswered, first, boards])
      assert.match(
        notes.join('\n'),
        /A reply is a comment of kind "reply" by the team or an admin that is not internal\./,
      );
  });

  it('that was deleted is none', async (t) => {
    const story = await write(t, async (store) => {
      await sweep(store, 'posts', [aPost(1, { creator: ANN, created })]);
      const other = comment(12, 2, { creator: BOB });
      await sweep(store, 'comments', [comment(11, 1, {}), other]);
      for (const at of [1, 2, 3]) await sweep(store, 'comments', [other], at);
    });
    assert.deepEqual(pick(await story.ask('unanswered'), 'post'), [[1]]);
  });
});

describe('a post that is dated now or later', () => {
  it('is counted nowhere, and each report says that there are such', async (t) => {
    const story = await write(t, async (store) => {
      const rows = [
        aPost(1, { creator: ANN, created }),
        aPost(2, { creator: ANN, created: '2026-02-01T00:00:00Z' }),
        // This very moment: it is not over yet.
        aPost(3, { creator: ANN, created: new Date(NOW).toISOString() }),
      ];
      await sweep(store, 'comments', [comment(11, 1, { created: new Date(NOW).toISOString() })]);
      const gone = aPost(4, { creator: ANN, created: '2026-02-01T00:00:00Z' });
      await sweep(
        store,
        'posts',
        [...rows, gone].map((row) => ({ ...row, votes_count: 1 })),
      );
      for (const day of [0, 28])
        await sweep(
          store,
          'posts',
          rows.map((row) => ({ ...row, votes_count: day === 0 ? 1 : 11 })),
          day * DAY_MINUTES,
        );
    });
    const overview = await story.ask('overview', { since: '29d' });
    assert.deepEqual(table(overview)[0], ['posts', 1, 0, 1, -1]);
    assert.deepEqual(table(overview)[1]?.slice(0, 3), ['votes', 11, 10]);
    assert.deepEqual(pick(overview, 'what', 'recent')[2], ['comments', 0]);
    assert.deepEqual(pick(await story.ask('funnel'), 'posts'), [[1]]);
    assert.deepEqual(pick(await story.ask('boards'), 'posts', 'votes'), [[1, 11]]);
    assert.deepEqual(pick(await story.ask('votes', { since: '2026-01-26' }), 'votes'), [[11]]);
    assert.deepEqual(pick(await story.ask('gaining-posts'), 'post'), [[1]]);
    assert.deepEqual(pick(await story.ask('time-in-status'), 'now_in_it'), [[1]]);
    for (const name of ['overview', 'funnel', 'boards', 'top-posts'])
      assert.match((await story.ask(name)).notes.join('\n'), /2 posts are dated after this moment/, name);
  });
});

describe('a period', () => {
  it('begins with its first moment and ends before its last', async (t) => {
    const moments = [
      '2026-01-04T23:59:59.999Z',
      '2026-01-05T00:00:00Z',
      '2026-01-11T23:59:59.999Z',
      '2026-01-12T00:00:00Z',
    ];
    const story = await write(t, async (store) => {
      // Votes are seen before the period, within it, and at its very end, which is no part of it.
      for (const [votes_count, day] of [
        [1, 0],
        [3, 7],
        [6, 11],
      ] as const)
        await sweep(
          store,
          'posts',
          moments.map((at, i) => aPost(i + 1, { creator: ANN, created: at, votes_count })),
          day * DAY_MINUTES,
        );
      const said = moments.map((at, i) => comment(i + 1, i + 1, { creator: BOB, created: at }));
      await sweep(store, 'comments', said, 11 * DAY_MINUTES);
    });
    const period = { since: '2026-01-05', until: '2026-01-12' };
    assert.deepEqual(
      pick(await story.ask('top-posts', period), 'post')
        .flat()
        .sort(),
      [2, 3],
    );
    assert.deepEqual(pick(await story.ask('new-by-week', period), 'posts', 'comments'), [[2, 2]]);
    assert.deepEqual(pick(await story.ask('gaining-posts', period), 'post', 'gained'), [
      [1, 2],
      [2, 2],
      [3, 2],
    ]);
    assert.deepEqual(pick(await story.ask('first-reply', period), 'posts'), [[2]]);
    assert.deepEqual(pick(await story.ask('delivered', period), 'posts'), [[2]]);
    assert.deepEqual(pick(await story.ask('requests', period), 'posts'), [[2]]);
    assert.deepEqual(pick(await story.ask('customers', period), 'customer', 'posts', 'comments'), [
      ['Ann', 2, 0],
      ['Bob', 0, 2],
    ]);
    assert.deepEqual(
      pick(await story.ask('unanswered', period), 'post')
        .flat()
        .sort(),
      [2, 3],
    );
  });
});

describe('a post that was deleted', () => {
  it('is in no ranking and no total, also where it had gained votes or rested', async (t) => {
    const story = await write(t, async (store) => {
      const at = (votes: number) =>
        [1, 2].map((id) => aPost(id, { creator: ANN, created, votes_count: votes }));
      await sweep(store, 'posts', at(1), 0);
      await sweep(store, 'posts', at(5), DAY_MINUTES);
      await sweep(store, 'posts', at(5).slice(0, 1), 2 * DAY_MINUTES, { acceptDeletes: true });
    });
    assert.deepEqual(pick(await story.ask('gaining-posts'), 'post', 'gained'), [[1, 4]]);
    assert.deepEqual(
      pick(await story.ask('overview', { since: '30d' }), 'what', 'total', 'recent').slice(0, 2),
      [
        ['posts', 1, 0],
        // Four on the one that lives, and four on the one that lived.
        ['votes', 5, 8],
      ],
    );
    assert.deepEqual(pick(await story.ask('stale', { since: '2026-01-20' }), 'post'), [[1]]);
    assert.deepEqual(pick(await story.ask('unanswered'), 'post'), [[1]]);
  });
});

describe('a comment that was deleted', () => {
  it('is no activity', async (t) => {
    const story = await write(t, async (store) => {
      await sweep(store, 'posts', [aPost(1, { creator: ANN, created })]);
      const other = comment(12, 2, { created: '2025-12-01T00:00:00Z' });
      await sweep(store, 'comments', [comment(11, 1, { created: '2026-01-28T00:00:00Z' }), other]);
      for (const at of [1, 2, 3]) await sweep(store, 'comments', [other], at);
    });
    const stale = await story.ask('stale', { since: '2026-01-20' });
    assert.deepEqual(pick(stale, 'post', 'last_activity'), [[1, new Date(created).toISOString()]]);
    assert.deepEqual(pick(await story.ask('overview'), 'what', 'recent')[2], ['comments', 0]);
  });
});

describe('a post that moved to another board', () => {
  it('leaves its votes in the past of the board where it got them', async (t) => {
    const one = (votes_count: number, board?: object) =>
      aPost(1, { creator: ANN, created, votes_count, ...(board ? { board } : {}) });
    const other = aPost(2, { creator: ANN, created, votes_count: 1, board: BUGS });
    const story = await write(t, async (store) => {
      await sweep(store, 'posts', [one(10), other], 0);
      // Thursday the 8th: three more votes on the first board; the 15th: moved with one more; the 22nd: two more.
      await sweep(store, 'posts', [one(13), other], 7 * DAY_MINUTES);
      await sweep(store, 'posts', [one(14, BUGS), other], 14 * DAY_MINUTES);
      await sweep(store, 'posts', [one(16, BUGS), other], 21 * DAY_MINUTES);
    });
    const votes = async (board: string) =>
      pick(await story.ask('votes', { board, since: '2025-12-29', until: '2026-01-26' }), 'votes', 'gained');
    assert.deepEqual(await votes('bugs'), [
      [1, 0],
      [1, 0],
      [15, 1],
      [17, 2],
    ]);
    assert.deepEqual(await votes('ideas'), [
      [10, 0],
      [13, 3],
      [0, 0],
      [0, 0],
    ]);
    const gained = async (board: string) => (await story.ask('overview', { board, since: '29d' })).rows[1];
    assert.deepEqual([(await gained('bugs'))?.recent, (await gained('ideas'))?.recent], [3, 3]);
    const whole = await story.ask('gaining-posts', { board: 'bugs', since: '29d' });
    assert.deepEqual(pick(whole, 'post', 'gained'), [[1, 6]]);
    assert.match(whole.notes.join('\n'), /A post that moved to another board counts, with its whole past/);
  });
});

describe('comments', () => {
  it('are counted alike: totals as the upstream has them, new ones as the mirror has them', async (t) => {
    const story = await write(t, async (store) => {
      await sweep(store, 'posts', [aPost(1, { creator: ANN, created, comments_count: 5 })]);
      const at = '2026-01-28T00:00:00Z';
      await sweep(store, 'comments', [comment(11, 1, { created: at }), comment(12, 999, { created: at })]);
    });
    const overview = await story.ask('overview');
    assert.deepEqual(pick(overview, 'what', 'total', 'recent')[2], ['comments', 5, 2]);
    assert.match(overview.notes.join('\n'), /The total of comments is what the upstream counts/);
    const boards = await story.ask('boards');
    assert.deepEqual(pick(boards, 'comments'), [[5]]);
    assert.match(boards.notes.join('\n'), /comments is what the upstream counts/);
    const weeks = await story.ask('new-by-week', { since: '2026-01-26' });
    assert.deepEqual(pick(weeks, 'board', 'comments'), [
      ['Ideas', 1],
      [null, 1],
    ]);
    assert.match(weeks.notes.join('\n'), /without a board, they are on posts that it does not have/);
  });
});

describe('statuses and boards of the same name', () => {
  it('are told apart', async (t) => {
    const status = (id: number, name: string) => ({ id, name, color: '#111111' });
    const story = await write(t, async (store) => {
      await sweep(store, 'posts', [
        aPost(1, { creator: ANN, created, status: status(1, 'Open') }),
        aPost(2, { creator: ANN, created, status: status(2, 'Open') }),
        aPost(3, {
          creator: ANN,
          created,
          status: status(3, 'Done'),
          board: { id: 2, name: 'Ideas', url: '/b/more/' },
        }),
      ]);
    });
    for (const name of ['funnel', 'time-in-status'])
      assert.deepEqual(
        pick(await story.ask(name), 'status')
          .flat()
          .sort(),
        ['Done', 'Open (#1)', 'Open (#2)'],
        name,
      );
    for (const name of ['boards', 'delivered', 'new-by-week']) {
      const names = new Set(pick(await story.ask(name), 'board').flat());
      assert.ok(names.has('Ideas (ideas)') && names.has('Ideas (more)'), `${name}: ${[...names]}`);
    }
  });
});

describe('the statuses that count as delivered', () => {
  it('are those of the setting unless the person says otherwise', async (t) => {
    const story = await tell(t);
    const usualDelivered = [' planned', 'Gone'];
    const usual = await story.ask('delivered', { usualDelivered, board: 'features' });
    assert.deepEqual(pick(usual, 'delivered_votes'), [[7]]);
    assert.match(
      usual.notes.join('\n'),
      /Delivered is: Planned .*\nDELIVERED_STATUSES names "Gone": there is no such status\./,
    );
    const asked = await story.ask('delivered', { usualDelivered, delivered: ['Done'], board: 'features' });
    assert.deepEqual(pick(asked, 'delivered_votes'), [[20]]);
    assert.deepEqual(pick(await story.ask('unanswered', { usualDelivered: ['Open'] }), 'post'), []);
    assert.doesNotMatch((await story.ask('customers', { usualDelivered })).notes.join(), /Gone/);
  });
});
