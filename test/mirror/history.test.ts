import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { queryFile, story } from '../support/mirror.ts';
import { aComment, aPost, iso, minute } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

const status = (id: number) => ({ id, name: `Status ${id}`, color: '#000000' });
const board = (id: number) => ({ id, name: `Board ${id}`, url: `/b/board-${id}` });

/** What a post looked like at each minute; null: the upstream no longer had it. */
const POST_STORY: [number, Record<string, unknown> | null][] = [
  [1, { title: 'A', content: 'one', votes_count: 5, comments_count: 0, status: status(1), board: board(1) }],
  [2, { title: 'A', content: 'one', votes_count: 7, comments_count: 0, status: status(1), board: board(1) }],
  [3, { title: 'B', content: 'one', votes_count: 7, comments_count: 1, status: status(1), board: board(1) }],
  [5, { title: 'B', content: 'two', votes_count: 7, comments_count: 1, status: status(2), board: board(1) }],
  [8, { title: 'A', content: 'two', votes_count: 6, comments_count: 1, status: status(2), board: board(2) }],
  [9, null],
  [12, { title: 'A', content: 'six', votes_count: 6, comments_count: 1, status: status(1), board: board(2) }],
];

const POST_HISTORY = [
  ['title', 'content', 'votes_count', 'comments_count', 'status_id', 'board_id', 'deleted', 'observed_at'],
  ['A', 'one', 5, 0, 1, 1, 0, iso(1)],
  ['A', 'one', 7, 0, 1, 1, 0, iso(2)],
  ['B', 'one', 7, 1, 1, 1, 0, iso(3)],
  ['B', 'two', 7, 1, 2, 1, 0, iso(5)],
  ['A', 'two', 6, 1, 2, 2, 0, iso(8)],
  ['A', 'two', 6, 1, 2, 2, 1, iso(9)],
  ['A', 'six', 6, 1, 1, 2, 0, iso(12)],
] as const;

const COMMENT_STORY: [number, Record<string, unknown> | null][] = [
  [1, { content: 'x', likes_count: 0, highlighted: false, internal: false, status: null }],
  [2, { content: 'x', likes_count: 3, highlighted: false, internal: false, status: null }],
  [3, { content: 'y', likes_count: 3, highlighted: true, internal: false, status: null }],
  [4, { content: 'y', likes_count: 3, highlighted: true, internal: true, status: null }],
  [5, { content: 'y', likes_count: 3, highlighted: true, internal: true, status: 'done' }],
  [6, null],
  [7, { content: 'x', likes_count: 3, highlighted: true, internal: true, status: 'done' }],
];

const COMMENT_HISTORY = [
  ['content', 'likes_count', 'highlighted', 'internal', 'status', 'deleted', 'observed_at'],
  ['x', 0, 0, 0, null, 0, iso(1)],
  ['x', 3, 0, 0, null, 0, iso(2)],
  ['y', 3, 1, 0, null, 0, iso(3)],
  ['y', 3, 1, 1, null, 0, iso(4)],
  ['y', 3, 1, 1, '"done"', 0, iso(5)],
  ['y', 3, 1, 1, '"done"', 1, iso(6)],
  ['x', 3, 1, 1, '"done"', 0, iso(7)],
] as const;

describe('history', () => {
  story('every observed change of a post is kept with its moment', async ({ store, read }) => {
    for (const [at, look] of POST_STORY)
      await sweep(store, 'posts', [aPost(2), ...(look ? [aPost(1, look)] : [])], at);
    assert.deepEqual(inColumns(read.postHistory(1), POST_HISTORY[0]), POST_HISTORY.slice(1));
    assert.equal(read.postHistory(2).length, 1);
    assert.partialDeepStrictEqual(read.table('posts')[0], {
      first_seen_at: iso(1),
      changed_at: iso(12),
      deleted_at: null,
    });
  });

  for (const [what, created, creator, isAnother] of [
    ['another day before it was first seen', '2025-06-01T00:00:00Z', 7, false],
    ['another day after it was first seen', '2026-06-01T00:00:00Z', 7, true],
    ['another author', wire.post.created, 8, false],
    ['another author and another day', '2025-06-01T00:00:00Z', 8, true],
  ] as const)
    story(
      `a number that comes with ${what} is ${isAnother ? 'that of a new post' : 'still the same post'}`,
      async ({ store, read }) => {
        await sweep(store, 'posts', [aPost(1)], 1);
        await sweep(store, 'posts', [aPost(1, { created, creator: { ...wire.user, id: creator } })], 2);
        assert.equal(read.table('posts')[0]?.first_seen_at, iso(isAnother ? 2 : 1));
      },
    );

  for (const change of [{ url: '/moved' }, { mood: 'new' }])
    story(
      `a change of ${Object.keys(change)} alone is a change of the row, and no version`,
      async (mirror) => {
        const { store, read } = mirror;
        for (const [at, look] of [{}, change].entries()) {
          await sweep(store, 'posts', [aPost(1, look)], at);
          await sweep(store, 'comments', [aComment(1, 'mood' in look ? look : {})], at);
        }
        const moments = { first_seen_at: iso(0), changed_at: iso(1), version_at: iso(0) };
        assert.partialDeepStrictEqual(read.table('posts')[0], moments);
        assert.equal(read.table('comments')[0]?.version_at, iso(0));
        assert.deepEqual([read.postHistory(1).length, read.commentHistory(1).length], [1, 1]);
      },
    );

  story(
    'a post that gets another author is a new version, and the old one says whose it was',
    async (mirror) => {
      const { store, read } = mirror;
      for (const id of [7, 8]) await sweep(store, 'posts', [aPost(1, { creator: { ...wire.user, id } })], id);
      assert.equal(read.postHistory(1).length, 2);
      const versions = queryFile(mirror.path, 'SELECT creator_id, observed_at FROM post_versions');
      assert.deepEqual(versions, [{ creator_id: 7, observed_at: iso(7) }]);
    },
  );

  story('every observed change of a comment is kept with its moment', async ({ store, read }) => {
    for (const [at, look] of COMMENT_STORY)
      await sweep(store, 'comments', [aComment(2), ...(look ? [aComment(1, look)] : [])], at);
    assert.deepEqual(inColumns(read.commentHistory(1), COMMENT_HISTORY[0]), COMMENT_HISTORY.slice(1));
    assert.equal(read.commentHistory(2).length, 1);
  });

  story(
    'a comment that changes its kind, its post or its author is a new version',
    async ({ store, read }) => {
      const first = aComment(1);
      const looks = [
        first,
        { ...first, kind: 'note' },
        { ...first, kind: 'note', post: { ...first.post, id: 99 } },
        { ...first, kind: 'note', post: { ...first.post, id: 99 }, creator: { ...first.creator, id: 77 } },
      ];
      for (const [i, look] of looks.entries()) await sweep(store, 'comments', [look], i);
      assert.deepEqual(
        read
          .commentHistory(1)
          .map(({ kind, post_id, creator_id, observed_at }) => [kind, post_id, creator_id, observed_at]),
        looks.map(({ kind, post, creator }, i) => [kind, post.id, creator.id, iso(i)]),
      );
    },
  );

  story('history tells the votes at a date, the changes of status and the time in each', async (mirror) => {
    const { store, read } = mirror;
    for (const [at, look] of POST_STORY)
      await sweep(store, 'posts', [aPost(2), ...(look ? [aPost(1, look)] : [])], at);

    assert.equal(read.votesAt(1, iso(0)), null);
    assert.equal(read.votesAt(1, iso(1)), 5);
    assert.equal(read.votesAt(1, iso(2)), 7);
    assert.equal(read.votesAt(1, new Date(minute(8) - 1).toISOString()), 7);
    assert.equal(read.votesAt(1, iso(8)), 6);
    assert.equal(read.votesAt(1, iso(1000)), 6);

    assert.deepEqual(read.statusChanges(1), [
      { at: iso(1), status_id: 1 },
      { at: iso(5), status_id: 2 },
      { at: iso(12), status_id: 1 },
    ]);
    // In status 1 from minute 1 to 5 and from 12 on, in status 2 from 5 to 9; gone from 9 to 12.
    assert.deepEqual(read.timeInStatus(1, iso(20)), { 1: (4 + 8) * 60_000, 2: 4 * 60_000 });
    assert.deepEqual(read.timeInStatus(1, iso(6)), { 1: 4 * 60_000, 2: 1 * 60_000 });
  });

  story('a text that changes back and forth is told right at every moment', async ({ store, read }) => {
    const titles = ['A', 'B', 'B', 'A', 'C', 'C', 'C', 'B', 'A', 'A', 'D', 'A'];
    const contents = ['x', 'x', 'y', 'y', 'y', 'z', 'x', 'x', 'x', 'y', 'y', 'x'];
    for (const [i, title] of titles.entries())
      await sweep(store, 'posts', [aPost(1, { title, content: contents[i], votes_count: i })], i);
    assert.deepEqual(
      read.postHistory(1).map((row) => [row.title, row.content, row.votes_count]),
      titles.map((title, i) => [title, contents[i], i]),
    );
  });
});

describe('a change that is observed while the clock is behind', () => {
  story('comes after the version that it follows', async ({ store, read }) => {
    for (const [at, votes_count] of [
      [5, 1],
      [3, 2],
      [3, 3],
    ] as const)
      await sweep(store, 'posts', [aPost(1, { votes_count })], at);
    const times = read.postHistory(1).map(({ observed_at }) => Date.parse(String(observed_at)));
    assert.deepEqual(times, [minute(5), minute(5) + 1, minute(5) + 2]);
  });
});

function inColumns(rows: Record<string, unknown>[], columns: readonly unknown[]): unknown[][] {
  return rows.map((row) => columns.map((column) => row[String(column)]));
}
