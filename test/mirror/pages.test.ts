import assert from 'node:assert/strict';
import { describe } from 'node:test';
import Database from 'better-sqlite3';
import { story } from '../support/mirror.ts';
import { aComment, aPost, iso, posts } from '../support/rows.ts';
import { apply, begin, finish, sweep } from '../support/steps.ts';

/** A time the contract would not let through: no store can keep a row without a moment of creation. */
const UNSTORABLE = { created: 'no time at all' };

describe('pages', () => {
  story('a row is kept with every field it came with', async ({ store, read }) => {
    await sweep(store, 'posts', [aPost(42, { mood: 'grim', flags: [1, { b: 2, a: 1 }] })], 1);
    const [row] = read.table('posts');
    assert.partialDeepStrictEqual(row, {
      id: 42,
      title: 'Dark mode',
      content: 'My eyes hurt at night.',
      url: '/b/ideas/dark-mode',
      creator_id: 7,
      board_id: 1,
      status_id: 3,
      votes_count: 12,
      comments_count: 2,
      created: '2024-05-06T07:08:09.000Z',
      extra: '{"flags":[1,{"a":1,"b":2}],"mood":"grim"}',
      first_seen_at: iso(1),
      changed_at: iso(1),
      deleted_at: null,
    });
  });

  story('a comment is kept with every field it came with', async ({ store, read }) => {
    await sweep(store, 'comments', [aComment(99, { status: { name: 'Done' }, pinned: true })], 1);
    assert.partialDeepStrictEqual(read.table('comments')[0], {
      id: 99,
      post_id: 42,
      creator_id: 7,
      kind: 'reply',
      status: '{"name":"Done"}',
      likes_count: 1,
      highlighted: 0,
      internal: 1,
      content: 'Mine too.',
      created: '2024-05-07T08:09:10.123Z',
      extra: '{"pinned":true}',
      first_seen_at: iso(1),
      deleted_at: null,
    });
  });

  story('the live views join the names of board, status and creator', async ({ store, read }) => {
    await sweep(store, 'posts', posts(42), 1);
    await sweep(store, 'comments', [aComment(99)], 1);
    const names = { board: 'Ideas', status: 'Planned', creator: 'Ada Lovelace', board_slug: 'ideas' };
    assert.partialDeepStrictEqual(read.table('live_posts'), [{ id: 42, ...names }]);
    assert.partialDeepStrictEqual(read.table('live_comments'), [
      { id: 99, post_title: 'Dark mode', board: 'Ideas', creator: 'Ada Lovelace' },
    ]);
  });

  story('rows come with their authors, boards, statuses and posts', async ({ store, path }) => {
    sweep(store, 'comments', [aComment(2), aComment(1)], 1);
    sweep(store, 'posts', [aPost(2), aPost(1)], 1);
    const db = new Database(path, { readonly: true });
    assert.deepEqual(db.pragma('foreign_key_check'), []);
    db.close();
  });

  story('a page that cannot be written whole is not written at all', async ({ store, read }) => {
    const pass = await begin(store, 'posts', 0);
    await apply(store, pass, posts(1), 1, { state: 'after the first page' });
    const reject = { id: 9, reason: 'broken', body: '{}' };
    const page = [aPost(1, { title: 'Changed' }), aPost(2, { board: { id: 5, name: 'New', url: '/b/new' } })];
    const bad = { ...aPost(3), ...UNSTORABLE };
    assert.throws(() =>
      apply(store, pass, [...page, bad], 2, { rejects: [reject], state: 'after the second' }),
    );

    assert.partialDeepStrictEqual(read.table('posts'), [{ id: 1, title: 'Dark mode' }]);
    assert.equal(read.table('posts').length, 1);
    assert.equal(read.table('boards').length, 1);
    assert.deepEqual(read.table('quarantine'), []);
    assert.equal(read.postHistory(1).length, 1);
    assert.deepEqual(pass.counts, {
      pages: 1,
      rows: 1,
      inserted: 1,
      updated: 0,
      unchanged: 0,
      quarantined: 0,
    });
    assert.equal((await begin(store, 'posts', 3)).state, 'after the first page');
  });

  story('a page that failed can be written again', async ({ store, read }) => {
    const pass = await begin(store, 'comments', 0);
    assert.throws(() => apply(store, pass, [aComment(1), { ...aComment(2), ...UNSTORABLE }], 1));
    await apply(store, pass, [aComment(1), aComment(2)], 2);
    assert.equal(pass.counts.inserted, 2);
    assert.equal(read.table('comments').length, 2);
  });

  story('rows are counted as inserted, updated and unchanged', async ({ store }) => {
    await sweep(store, 'posts', posts(1, 2, 3), 1);
    const pass = await begin(store, 'posts', 2);
    const changed = await apply(store, pass, [aPost(4), aPost(3, { votes_count: 13 }), aPost(2)], 2);
    assert.equal(changed.unchanged, false);
    const same = await apply(store, pass, posts(1), 2);
    assert.equal(same.unchanged, true);
    const reject = { id: null, reason: 'broken', body: '[]' };
    assert.equal((await apply(store, pass, posts(1), 2, { rejects: [reject] })).unchanged, false);
    const summary = await finish(store, pass, 3);
    const { pages: count, rows, inserted, updated, unchanged, quarantined } = summary;
    assert.deepEqual(
      { count, rows, inserted, updated, unchanged, quarantined },
      {
        count: 3,
        rows: 6,
        inserted: 1,
        updated: 1,
        unchanged: 3,
        quarantined: 1,
      },
    );
  });

  story('a page of known rows changes nothing', async ({ store, read }) => {
    const tables = ['users', 'boards', 'statuses', 'posts', 'comments', 'commented_posts'] as const;
    const look = () => [...tables.map(read.table), read.postHistory(1), read.commentHistory(1)];
    await sweep(store, 'posts', [aPost(1, { mood: 'grim' })], 1);
    await sweep(store, 'comments', [aComment(1)], 1);
    const before = look();
    await sweep(store, 'posts', [aPost(1, { mood: 'grim' })], 9);
    await sweep(store, 'comments', [aComment(1)], 9);
    assert.deepEqual(look(), before);
  });

  story(
    'a change of what history does not tell is written, and makes no version',
    async ({ store, read }) => {
      await sweep(store, 'posts', [aPost(1)], 1);
      await sweep(store, 'posts', [aPost(1, { url: '/b/ideas/renamed', mood: 'grim' })], 2);
      assert.partialDeepStrictEqual(read.table('posts')[0], {
        url: '/b/ideas/renamed',
        extra: '{"mood":"grim"}',
        first_seen_at: iso(1),
        changed_at: iso(2),
      });
      await sweep(store, 'posts', [aPost(1, { url: '/b/ideas/renamed' })], 3);
      assert.equal(read.table('posts')[0]?.extra, null);
      assert.equal(read.postHistory(1).length, 1);

      await sweep(store, 'comments', [aComment(1)], 1);
      await sweep(store, 'comments', [aComment(1, { pinned: true })], 2);
      assert.equal(read.table('comments')[0]?.extra, '{"pinned":true}');
      assert.equal(read.commentHistory(1).length, 1);
      await sweep(store, 'comments', [aComment(1, { pinned: true, kind: 'note' })], 3);
      assert.deepEqual(
        read.commentHistory(1).map(({ kind }) => kind),
        ['reply', 'note'],
      );
    },
  );

  story('a page that shows a row twice counts the first one, and changes nothing again', async (mirror) => {
    const { store, read } = mirror;
    const page = [aPost(2), aPost(1, { title: 'First' }), aPost(1, { title: 'Second' })];
    await sweep(store, 'posts', page, 1);
    const before = [read.table('posts'), read.postHistory(1)];
    assert.equal(read.table('posts')[0]?.title, 'First');
    await sweep(store, 'posts', page, 2);
    assert.deepEqual([read.table('posts'), read.postHistory(1)], before);
  });

  story(
    'a row that an earlier page has shown is not written again, unless it is new or was deleted',
    async (mirror) => {
      const { store, read } = mirror;
      const sweepTwice = (at: number) => {
        const pass = begin(store, 'posts', at);
        apply(store, pass, [aPost(1, { title: 'Pinned' })], at);
        const repeated = new Set([1, 2]);
        const result = apply(store, pass, [aPost(2), aPost(1, { title: 'In its place' })], at, { repeated });
        finish(store, pass, at);
        return result;
      };
      sweepTwice(1);
      const before = [read.table('posts'), read.postHistory(1)];
      assert.deepEqual(
        read.table('posts').map(({ title }) => title),
        ['Pinned', 'Dark mode'],
      );
      assert.equal(sweepTwice(2).unchanged, true);
      assert.deepEqual([read.table('posts'), read.postHistory(1)], before);
    },
  );

  story('ids up to 2^53 - 1 and texts of any kind come back as they were', async ({ store, read }) => {
    const odd = {
      title: '\u0000 zero, \ud83e\udd80 crab',
      content: '',
      created: '0001-01-01T00:00:00+00:00',
    };
    await sweep(store, 'posts', [aPost(Number.MAX_SAFE_INTEGER, odd), aPost(0, odd)], 1);
    const [zero, highest] = read.table('posts');
    assert.partialDeepStrictEqual(zero, { id: 0, title: odd.title, content: '' });
    assert.partialDeepStrictEqual(highest, { id: Number.MAX_SAFE_INTEGER, created_raw: odd.created });
    const { unchanged } = await sweep(
      store,
      'posts',
      [aPost(Number.MAX_SAFE_INTEGER, odd), aPost(0, odd)],
      2,
    );
    assert.equal(unchanged, 2);
  });
});
