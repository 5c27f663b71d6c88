import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Post } from '../../src/contract/decode.ts';
import { story } from '../support/mirror.ts';
import { aComment, aPost, iso, minute } from '../support/rows.ts';
import { apply, begin, conclude, finish, oneSweep, show, sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

const named = (name: string) => ({ creator: { ...wire.user, name } });

/** Users, boards, statuses and short forms of posts, which come only inside other rows. */
describe('what rows carry', () => {
  story('what rows carry is kept once, with what was not documented', async ({ store, read }) => {
    const board = { id: 1, name: 'Ideas', url: 'https://x.test/b/ideas/?tab=new', icon: 'bulb' };
    await sweep(store, 'posts', [aPost(1, { board }), aPost(2, { board, ...named('Ada King') })], 1);
    assert.partialDeepStrictEqual(read.table('boards'), [
      {
        id: 1,
        name: 'Ideas',
        url: board.url,
        slug: 'ideas',
        extra: '{"icon":"bulb"}',
        first_seen_at: iso(1),
      },
    ]);
    assert.partialDeepStrictEqual(read.table('statuses'), [{ id: 3, name: 'Planned', color: '#00ff00' }]);
    assert.partialDeepStrictEqual(read.table('users'), [
      { id: 7, name: 'Ada King', is_admin: 1, is_team: 0, registered: '2023-01-02T03:04:05.678Z' },
    ]);
  });

  story(
    'of copies that differ, that of the newest row counts, and of a post before a comment',
    async (mirror) => {
      const { store, read } = mirror;
      const name = () => read.table('users')[0]?.name;
      await sweep(store, 'comments', [aComment(1, named('in a comment'))], 1);
      assert.equal(name(), 'in a comment');
      const lists = () => {
        sweep(store, 'posts', [aPost(2, named('newest')), aPost(1, named('older'))], 2);
        sweep(store, 'comments', [aComment(1, named('in a comment')), aComment(2, named('in another'))], 3);
      };
      lists();
      const before = read.table('users');
      assert.partialDeepStrictEqual(before, [{ name: 'newest', changed_at: iso(2) }]);
      lists();
      assert.deepEqual(read.table('users'), before);
      await sweep(store, 'posts', [aPost(1, named('older'))], 4);
      await sweep(store, 'posts', [aPost(1, named('older'))], 5);
      await sweep(store, 'posts', [aPost(1, named('older'))], 6);
      assert.equal(name(), 'older', 'the newest is deleted');
    },
  );

  story('a newest row that an earlier sweep missed does not keep an old copy', async ({ store, read }) => {
    const posts = (name: string, ids: number[]) => ids.map((id) => aPost(id, named(name)));
    const all = Array.from({ length: 60 }, (_, i) => i + 1);
    sweep(store, 'posts', posts('before', all), 1);
    const left = all.slice(0, 30);
    sweep(store, 'posts', posts('after', left), 2);
    sweep(store, 'posts', posts('after', left), 3);
    assert.equal(
      read.table('posts').filter(({ deleted_at }) => deleted_at === null).length,
      60,
      'all are held',
    );
    assert.equal(read.table('users')[0]?.name, 'after');
  });

  for (const [how, without] of [
    ['has left it', (id: number) => [aPost(id, { status: { id: 9, name: 'Done', color: '' } })]],
    ['was deleted', () => []],
  ] as const)
    for (const [order, sorted] of [
      ['newest', (ids: number[]) => ids.toReversed()],
      ['oldest', (ids: number[]) => ids],
    ] as const)
      story(
        `a status is renamed by the second sweep at the latest although its newest row ${how} (${order} first)`,
        async ({ store, read }) => {
          const showing = (name: string) => (id: number) => aPost(id, { status: { id: 8, name, color: '' } });
          const ids = [1, 2, 3, 4, 5, 6];
          const name = () => read.table('statuses').find(({ id }) => id === 8)?.name;
          const readOnce = (posts: Post[], at: number) => {
            oneSweep(store, 'posts', posts, at);
          };
          readOnce(sorted(ids).map(showing('In progress')), 1);
          const row = (id: number) => (id === 6 ? without(id) : [showing('Doing')(id)]);
          for (const at of [2, 3]) readOnce(sorted(ids).flatMap(row), at);
          assert.equal(name(), 'Doing');
        },
      );

  story(
    'a newest row that comes later in the same sweep keeps its copy until then',
    async ({ store, read }) => {
      sweep(store, 'posts', [aPost(1, named('older')), aPost(3, named('newest'))], 1);
      const pass = begin(store, 'posts', 2, { resume: false });
      // A page left it out: a later one may show it.
      show(store, pass, [aPost(1, named('other'))], 2);
      assert.equal(read.table('users')[0]?.name, 'newest');
      conclude(store, pass, 2);
      const next = begin(store, 'posts', 3, { resume: false });
      apply(store, next, [aPost(1, named('other'))], 3);
      assert.equal(read.table('users')[0]?.name, 'other', 'a sweep was completed without it');
    },
  );

  story('a newest row that cannot be read does not keep an old copy', async ({ store, read }) => {
    sweep(store, 'posts', [aPost(1, named('before')), aPost(2, named('before'))], 1);
    const rejects = [{ index: 1, id: 2, reason: 'votes_count is missing', body: '{"id":2}' }];
    for (const at of [2, 3]) {
      const pass = begin(store, 'posts', at);
      apply(store, pass, [aPost(1, named('after'))], at, { rejects });
      finish(store, pass, at);
    }
    assert.equal(read.table('users')[0]?.name, 'after');
  });

  for (const [how, body] of [
    ['without a field', '{"id":3}'],
    ['with its id in quotes', '{"id":"3"}'],
  ] as const)
    story(`a newest row that came ${how} counts as soon as it is read again`, async ({ store, read }) => {
      const post = (id: number, name: string) =>
        aPost(id, {
          ...named(name),
          board: { id: 1, name, url: '/b/1' },
          status: { id: 3, name, color: '' },
        });
      const comment = (id: number, title: string) =>
        aComment(id, {
          creator: { ...wire.user, id: 8, name: title },
          post: { id: 42, title, url: '/p/42' },
        });
      const lists = (at: number, newest: string | null) => {
        for (const [resource, row] of [['posts', post] as const, ['comments', comment] as const]) {
          const rejects = newest === null ? [{ id: null, reason: 'it is not whole', body }] : [];
          const pass = begin(store, resource, at);
          apply(store, pass, newest === null ? [] : [row(3, newest)], at, { rejects });
          apply(store, pass, [row(1, 'old')], at);
          finish(store, pass, at);
        }
      };
      const shown = () =>
        (['users', 'boards', 'statuses', 'commented_posts'] as const).flatMap((table) =>
          read.table(table).map(({ name, title, changed_at }) => [name ?? title, changed_at]),
        );
      lists(1, 'before');
      lists(2, null);
      assert.deepEqual(shown(), Array(5).fill(['old', iso(2)]));
      for (const at of [3, 4]) {
        lists(at, 'new');
        assert.deepEqual(shown(), Array(5).fill(['new', iso(3)]));
      }
    });

  story('copies of boards, statuses and titles that differ are no change either', async ({ store, read }) => {
    const board = (title: string) => ({ board: { id: 1, name: title, url: `/b/${title}` } });
    const status = (title: string) => ({ status: { id: 3, name: title, color: '#000' } });
    const reference = (title: string) => ({ post: { id: 42, title, url: '/p/42' } });
    const lists = (at: number) => {
      const posts = ['old', 'older', 'new'].map((age, i) => aPost(i + 1, { ...board(age), ...status(age) }));
      sweep(store, 'posts', posts, at);
      sweep(store, 'comments', [aComment(2, reference('new')), aComment(1, reference('old'))], at);
    };
    lists(1);
    const tables = () => (['boards', 'statuses', 'commented_posts'] as const).map((name) => read.table(name));
    const before = tables();
    assert.partialDeepStrictEqual(before, [[{ name: 'new' }], [{ name: 'new' }], [{ title: 'new' }]]);
    lists(2);
    assert.deepEqual(tables(), before);
  });

  story(
    'a page received earlier never overwrites a newer one, even if it is written later',
    async (mirror) => {
      const { store, read } = mirror;
      const old = { creator: { ...wire.user, name: 'old' }, board: { id: 1, name: 'old', url: '/b/old' } };
      const status = { id: 3, name: 'old', color: 'old' };
      const reference = { id: 42, title: 'old', url: '/old' };
      const [onPosts, onComments] = [await begin(store, 'posts', 0), await begin(store, 'comments', 0)];
      await apply(store, onPosts, [aPost(1, { ...old, status })], 1);
      await apply(store, onComments, [aComment(1, { post: reference })], 1);
      await apply(store, onPosts, [aPost(1)], 5);
      await apply(store, onComments, [aComment(1)], 5);

      const written = { now: minute(5) };
      await apply(store, onPosts, [aPost(2, { ...old, status })], 4, written);
      await apply(store, onComments, [aComment(2, { creator: old.creator, post: reference })], 4, written);
      assert.equal(read.table('users')[0]?.name, 'Ada Lovelace');
      assert.equal(read.table('boards')[0]?.name, 'Ideas');
      assert.equal(read.table('statuses')[0]?.name, 'Planned');
      assert.equal(read.table('commented_posts')[0]?.title, 'Dark mode');
      assert.equal(read.table('posts').length, 2);
      assert.equal(read.table('comments').length, 2);
    },
  );

  for (const [where, isOther] of [
    ['in the same process', false],
    ['in another process', true],
  ] as const)
    story(
      `what a later pass shows counts where the clock was set back by minutes, ${where}`,
      async (mirror) => {
        const { store, read, another } = mirror;
        const copies = (name: string) => ({
          post: { ...named(name), board: { id: 1, name, url: '/b/1' }, status: { id: 3, name, color: '' } },
          comment: { creator: { ...wire.user, id: 8, name }, post: { id: 42, title: name, url: '/p/42' } },
        });
        const lists = (to: typeof store, name: string, at: number) => {
          const { post, comment } = copies(name);
          oneSweep(to, 'posts', [aPost(1, post)], at);
          oneSweep(to, 'comments', [aComment(1, comment)], at);
        };
        lists(store, 'before', 9);
        const later = isOther ? another() : store;
        lists(later, 'after', 2);
        if (isOther) later.close();
        const shown = (['users', 'boards', 'statuses', 'commented_posts'] as const).flatMap((table) =>
          read.table(table).map(({ name, title }) => name ?? title),
        );
        assert.deepEqual(shown, ['after', 'after', 'after', 'after', 'after']);
      },
    );

  story('someone first seen on a page received earlier is kept all the same', async ({ store, read }) => {
    const pass = await begin(store, 'posts', 0);
    await apply(store, pass, [aPost(1)], 5);
    await apply(store, pass, [aPost(2, { creator: { ...wire.user, id: 8, name: 'late' } })], 4);
    assert.partialDeepStrictEqual(read.table('users')[1], { id: 8, name: 'late' });
  });

  for (const [field, onPosts, onComments] of [
    ['email', 'ada@x.test', 'ada@y.test'],
    ['name', 'Ada', null],
    ['alias', 'ada', 'ada l.'],
    ['registered', '2023-01-02T03:04:05Z', '2023-01-02T03:04:05.678901Z'],
    ['is_admin', true, false],
    ['is_team', true, false],
    ['badge', 'gold', undefined],
  ] as const)
    story(
      `two lists that show the ${field} of a user differently for good change nothing`,
      async (mirror) => {
        const { store, read } = mirror;
        const both = async (at: number): Promise<void> => {
          await sweep(store, 'posts', [aPost(1, { creator: { ...wire.user, [field]: onPosts } })], at);
          await sweep(
            store,
            'comments',
            [aComment(1, { creator: { ...wire.user, [field]: onComments } })],
            at,
          );
        };
        await both(1);
        const before = read.table('users');
        for (const at of [20, 40]) await both(at);
        assert.deepEqual(read.table('users'), before);
      },
    );

  story(
    'a user whom two lists show differently changes when the posts do, also back to what it was',
    async (mirror) => {
      const { store, read } = mirror;
      const show = async (at: number, list: 'posts' | 'comments', name: string): Promise<unknown> => {
        const row = list === 'posts' ? aPost(1, named(name)) : aComment(1, named(name));
        await sweep(store, list, [row], at);
        return read.table('users')[0]?.name;
      };
      assert.equal(await show(1, 'posts', 'Ada L.'), 'Ada L.');
      assert.equal(await show(2, 'comments', 'Ada Lovelace'), 'Ada L.');
      assert.equal(await show(3, 'posts', 'Ada K.'), 'Ada K.');
      assert.equal(await show(4, 'comments', 'Ada King'), 'Ada K.');
      assert.equal(await show(5, 'posts', 'Ada L.'), 'Ada L.');
    },
  );

  story('a moment that is spelt in another way is no change', async ({ store, read }) => {
    const shown = async (at: number, created: string, registered: string): Promise<void> => {
      const creator = { ...wire.user, registered };
      await sweep(store, 'posts', [aPost(1, { created, creator })], at);
      await sweep(store, 'comments', [aComment(1, { created, creator })], at);
    };
    await shown(1, '2024-05-06T07:08:09Z', '2024-05-06T07:08:09.120Z');
    const tables = () => (['users', 'posts', 'comments'] as const).map((table) => read.table(table));
    const before = tables();
    await shown(20, '2024-05-06T09:08:09.000000+02:00', '2024-05-06 07:08:09.12');
    assert.deepEqual(tables(), before);
  });

  story('what another process has written meanwhile is seen', async ({ store, read, another }) => {
    const pass = await begin(store, 'posts', 0);
    for (const at of [1, 2]) await apply(store, pass, [aPost(1, named('ours'))], at);
    const other = another();
    await apply(other, await begin(other, 'posts', 0, { mode: 'head' }), [aPost(1, named('theirs'))], 3);
    await other.close();
    await apply(store, pass, [aPost(1, named('ours'))], 4);
    assert.equal(read.table('users')[0]?.name, 'ours');
  });

  story('what a failed page carried is not taken for stored', async ({ store, read }) => {
    const pass = await begin(store, 'posts', 0);
    for (const at of [1, 2]) await apply(store, pass, [aPost(1, named('old'))], at);
    const page = [aPost(1, named('new')), { ...aPost(2, named('new')), created: 'no time at all' }];
    for (const at of [3, 4]) assert.throws(() => apply(store, pass, page, at));
    assert.equal(read.table('users')[0]?.name, 'old');
    await apply(store, pass, [aPost(1, named('new'))], 5);
    assert.equal(read.table('users')[0]?.name, 'new');
  });

  story('a clock that is set back by an hour freezes nothing', async ({ store, read }) => {
    await sweep(store, 'posts', [aPost(1, named('before'))], 90);
    await sweep(store, 'posts', [aPost(1, named('after'))], 30);
    assert.equal(read.table('users')[0]?.name, 'after');
    await sweep(store, 'posts', [aPost(1, named('later'))], 31);
    assert.equal(read.table('users')[0]?.name, 'later');
  });

  story('a comment may come before its post, or without it ever being listed', async ({ store, read }) => {
    const unlisted = { id: 1000, title: 'Not ours to list', url: '/b/secret/x' };
    await sweep(store, 'comments', [aComment(1), aComment(2, { post: unlisted })], 1);
    assert.deepEqual(
      read.table('live_comments').map((row) => [row.id, row.post_title, row.board]),
      [
        [1, 'Dark mode', null],
        [2, 'Not ours to list', null],
      ],
    );
    await sweep(store, 'posts', [aPost(42, { title: 'Dark mode, please' })], 2);
    assert.deepEqual(
      read.table('live_comments').map((row) => [row.id, row.post_title, row.board]),
      [
        [1, 'Dark mode, please', 'Ideas'],
        [2, 'Not ours to list', null],
      ],
    );
    assert.equal(read.table('posts').length, 1);
  });
});
