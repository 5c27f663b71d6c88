import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LinksAnswer, PostsAnswer } from '../../src/http/dashboard/posts.ts';
import { openReads } from '../../src/http/dashboard/reading-pool.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { openBrowseReads, type Place, type PostPage, SORTS } from '../../src/search/browse/browse.ts';
import { EVERY_LIVE_POST, type PostFilter } from '../../src/search/browse/filter.ts';
import { ANN, BOB, NOW, tell, UPSTREAM, write } from '../reports/story.ts';
import { queryFile } from '../support/mirror.ts';
import { aPost, range } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';
import { type MirrorSite, openOnMirror } from './site.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const BOARDS = [
  { id: 1, name: 'Features', url: '/b/features/' },
  { id: 2, name: 'Bugs', url: '/b/bugs/' },
] as const;
const DONE = { id: 9, name: 'Done', color: '#00ff00' };

/** A post whose facts follow from its id: votes in sevens, comments in threes, every second one a bug, every fifth done. */
const numbered = (id: number, changes: Record<string, unknown> = {}) =>
  aPost(id, {
    title: `Wish ${id}`,
    content: id % 4 === 0 ? 'about the export of tables' : 'about something else',
    votes_count: id % 7,
    comments_count: id % 3,
    board: BOARDS[id % 2],
    status: id % 5 === 0 ? DONE : wire.post.status,
    creator: id % 10 === 0 ? BOB : ANN,
    created: new Date(Date.UTC(2026, 0, 1) + Math.floor(id / 2) * 3_600_000).toISOString(),
    ...changes,
  });

const fill =
  (count: number) =>
  async (store: MirrorStore): Promise<void> => {
    await sweep(
      store,
      'posts',
      range(1, count).map((id) => numbered(id)),
    );
  };

/** The ids of a list, walked to its end. */
async function walk(site: MirrorSite, query: string, between?: () => Promise<void>): Promise<number[]> {
  const ids: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: PostsAnswer = await site.get(`/data/posts?${query}${cursor && `&cursor=${cursor}`}`);
    ids.push(...page.rows.map(({ id }) => id));
    cursor = page.next;
    if (cursor) await between?.();
  }
  return ids;
}

describe('the list of posts', () => {
  it('is walked whole in every order, each post once', async (t) => {
    const site = await openOnMirror(t, fill(120));
    const key: Record<string, (id: number) => [number, number]> = {
      newest: (id) => [-Math.floor(id / 2), -id],
      oldest: (id) => [Math.floor(id / 2), id],
      votes: (id) => [-(id % 7), -id],
      comments: (id) => [-(id % 3), -id],
      changed: (id) => [0, -id],
    };
    for (const sort of SORTS) {
      const of = key[sort] ?? assert.fail();
      const expected = range(1, 120).sort((a, b) => of(a)[0] - of(b)[0] || of(a)[1] - of(b)[1]);
      assert.deepEqual(await walk(site, `sort=${sort}&limit=50`), expected, sort);
    }
  });

  it('is walked back the way it was walked, in every order', async (t) => {
    const site = await openOnMirror(t, fill(40));
    for (const sort of SORTS) {
      const page = (cursor: string | null): Promise<PostsAnswer> =>
        site.get(`/data/posts?sort=${sort}&limit=15${cursor ? `&cursor=${cursor}` : ''}`);
      const first = await page(null);
      const second = await page(first.next);
      const third = await page(second.next);
      assert.deepEqual([first.previous, third.next, third.total.posts], [null, null, 40], sort);
      const back = await page(third.previous);
      assert.deepEqual(back.rows, second.rows, sort);
      assert.deepEqual((await page(back.next)).rows, third.rows, sort);
      const start = await page(back.previous);
      assert.deepEqual([start.rows, start.previous], [first.rows, null], sort);
    }
  });

  it('skips no post that stays, and shows none twice, while others come and go', async (t) => {
    const site = await openOnMirror(t, fill(60));
    let [next, gone] = [100, 60];
    const between = async (): Promise<void> => {
      // A new one at the top, and one that was already shown goes.
      const rows = [...range(1, --gone), ...range(101, ++next)].map((id) => numbered(id));
      await sweep(site.store, 'posts', rows, next, { acceptDeletes: true });
    };
    const seen = await walk(site, 'limit=7', between);
    assert.equal(new Set(seen).size, seen.length);
    assert.deepEqual(
      range(1, gone).filter((id) => !seen.includes(id)),
      [],
    );
  });

  it('filters by board, status, person, time and deletion, alone and together', async (t) => {
    const site = await openOnMirror(t, async (store) => {
      await sweep(
        store,
        'posts',
        range(1, 40).map((id) => numbered(id)),
        0,
      );
      await sweep(
        store,
        'posts',
        range(1, 36).map((id) => numbered(id)),
        1,
        { acceptDeletes: true },
      );
    });
    const all = range(1, 40).reverse();
    const live = all.filter((id) => id <= 36);
    const cases: [string, number[]][] = [
      ['board=bugs', live.filter((id) => id % 2 === 1)],
      ['board=Features', live.filter((id) => id % 2 === 0)],
      ['status=9', live.filter((id) => id % 5 === 0)],
      ['board=bugs&status=9', live.filter((id) => id % 10 === 5)],
      [`creator=${BOB.id}`, [30, 20, 10]],
      [`creator=${BOB.id}&board=bugs`, []],
      ['creator=OB', [30, 20, 10]],
      ['creator=+bo+', [30, 20, 10]],
      [`creator=${encodeURIComponent(BOB.email?.slice(1, 5) ?? '')}`, [30, 20, 10]],
      ['creator=%25', []],
      ['deleted=only', [40, 39, 38, 37]],
      ['deleted=too', all],
      [`deleted=only&creator=${BOB.id}`, [40]],
      ['since=2026-01-01T10:00Z', live.filter((id) => id >= 20)],
      ['since=2026-01-01T10:00Z&until=2026-01-01T11:00Z', [21, 20]],
      ['until=2026-01-02&tz=Asia/Tokyo', live.filter((id) => id < 30)],
      ['since=2026-01-01&tz=America/Lima', live.filter((id) => id >= 10)],
    ];
    for (const [query, expected] of cases) {
      const { rows, total } = await site.get<PostsAnswer>(`/data/posts?${query}`);
      assert.deepEqual(
        rows.map(({ id }) => id),
        expected,
        query,
      );
      assert.deepEqual(total, { posts: expected.length, isMore: false }, query);
    }
    const { creator, rows } = await site.get<PostsAnswer>(`/data/posts?deleted=only&creator=${BOB.id}`);
    assert.equal(creator?.name, 'Bob');
    assert.equal(typeof rows[0]?.deleted, 'string');
  });

  it('searches as one types, within the filters, with what was found marked as data', async (t) => {
    const site = await openOnMirror(t, async (store) => {
      const odd = { title: HOSTILE, content: 'exporting <b>tables</b>', board: BOARDS[1] };
      await sweep(store, 'posts', [...range(1, 30).map((id) => numbered(id)), numbered(99, odd)]);
    });
    const search = (query: string): Promise<PostsAnswer> => site.get(`/data/posts?search=${query}`);
    const { rows, total } = await search('expo');
    assert.equal(rows.length, 8, 'seven of thirty, and the hostile one');
    assert.deepEqual(total, { posts: 8, isMore: false });
    assert.equal((await search('expo%20')).rows.length, 0, 'the word is typed to its end');
    assert.deepEqual(
      (await search('exp&board=bugs')).rows.map(({ id }) => id),
      [99],
    );
    assert.deepEqual(
      (await search('expo&status=9')).rows.map(({ id }) => id),
      [20],
    );
    const [hit] = (await search('onerror')).rows;
    assert.equal(hit?.title, HOSTILE);
    assert.equal(hit?.marked?.title.map(({ text }) => text).join(''), HOSTILE);
    assert.deepEqual(
      hit?.marked?.title.filter(({ isMatch }) => isMatch),
      [{ text: 'onerror', isMatch: true }],
    );
    assert.deepEqual((await search('nothing-like-it')).rows, []);
    assert.equal((await search('tabels')).suggestion, 'tables');
    assert.deepEqual(
      (await search('%2399&board=features')).rows.map(({ id, marked }) => [id, marked]),
      [[99, null]],
      '#99 is a post, whatever the filters say',
    );
    assert.deepEqual((await search('%23998')).rows, []);
    assert.equal((await search('%20')).rows.length, 31, 'a blank search is none');
  });

  it('goes through all that a search finds, and has every match and every link of a list as a file', async (t) => {
    const site = await openOnMirror(t, fill(260));
    for (const query of ['search=export', 'search=export&board=features', 'board=bugs', 'search=%234']) {
      const ids = await walk(site, query);
      assert.equal(new Set(ids).size, query === 'search=%234' ? 1 : query === 'board=bugs' ? 130 : 65, query);
      const { body } = await site.ask(`/data/posts.csv?${query}`);
      const lines = body.trimEnd().split('\r\n').slice(1);
      assert.deepEqual(
        lines.map((line) => Number(line.split(',')[0])),
        ids,
        query,
      );
      const { links, isMore } = await site.get<LinksAnswer>(`/data/posts/links?${query}`);
      assert.deepEqual([links.map(({ id }) => id), isMore], [ids, false], query);
    }
    const { next, total } = await site.get<PostsAnswer>('/data/posts?search=export');
    assert.deepEqual(total, { posts: 65, isMore: false });
    const begun = await site.get<PostsAnswer>('/data/posts?search=exp');
    assert.deepEqual(begun.total, total, 'a short word that may go on is counted too');
    const second = await site.get<PostsAnswer>(`/data/posts?search=export&cursor=${next}`);
    assert.deepEqual([second.total, second.next], [{ posts: 65, isMore: false }, null]);
    const back = await site.get<PostsAnswer>(`/data/posts?search=export&cursor=${second.previous}`);
    assert.deepEqual([back.rows.length, back.previous], [50, null]);
    assert.equal((await site.ask('/data/posts?search=export&cursor=x')).status, 400);
    assert.equal((await site.ask('/data/posts.csv?since=soon')).status, 400);
  });

  it('refuses filters and places that mean nothing', async (t) => {
    const site = await openOnMirror(t, fill(3));
    const numbers = Buffer.from('[5,1]').toString('base64url');
    for (const query of [
      'sort=best',
      'board=nowhere',
      'status=x',
      'votes=-3',
      'deleted=yes',
      'since=soon',
      'tz=Mars/Base',
      'limit=-1',
      'cursor=x',
      `cursor=${numbers}`,
    ])
      assert.equal((await site.ask(`/data/posts?${query}`)).status, 400, query);
    assert.equal((await site.ask(`/data/posts?sort=votes&cursor=${numbers}`)).status, 200);
  });

  it('has the same pages by any filter in every order as a walk over the table', async (t) => {
    const { path } = await write(t, fill(500));
    const browse = openBrowseReads({ path, upstream: UPSTREAM });
    t.after(() => browse.close());
    const filters: [Partial<PostFilter>, string][] = [
      [{}, 'true'],
      [{ board: [1] }, 'board_id = 1'],
      [{ board: [1, 2], status: [8, 9] }, 'board_id IN (1, 2) AND status_id IN (8, 9)'],
      [{ creator: [2] }, 'creator_id = 2'],
      [{ votes: 5 }, 'votes_count >= 5'],
      [{ deleted: 'only' }, 'deleted_at IS NOT NULL'],
      [
        { since: '2026-01-02T00:00:00.000Z', until: '2026-01-09T00:00:00.000Z' },
        "created >= '2026-01-02' AND created < '2026-01-09'",
      ],
    ];
    const orders = {
      ...{ newest: 'created DESC, id DESC', oldest: 'created, id', votes: 'votes_count DESC, id DESC' },
      ...{ comments: 'comments_count DESC, id DESC', changed: 'version_at DESC, id DESC' },
    };
    for (const sort of SORTS)
      for (const [chosen, where] of filters) {
        const filter = { ...EVERY_LIVE_POST, ...chosen };
        const live = chosen.deleted ? 'true' : 'deleted_at IS NULL';
        const meant = queryFile<{ id: number }>(
          path,
          `SELECT id FROM posts WHERE ${live} AND ${where} ORDER BY ${orders[sort]}`,
        );
        const pages: number[][] = [];
        let after: Place | null = null;
        do {
          const page: PostPage = browse.page({ filter, sort, after, limit: 120 });
          assert.equal(page.total.posts, meant.length);
          pages.push(page.rows.map(({ id }) => id));
          if (page.previous) {
            const before = browse.page({ filter, sort, after: page.previous, isBackward: true, limit: 120 });
            assert.deepEqual(
              before.rows.map(({ id }) => id),
              pages.at(-2),
            );
          }
          after = page.next;
        } while (after !== null);
        assert.deepEqual(
          pages.flat(),
          meant.map(({ id }) => id),
          `${sort} ${JSON.stringify(chosen)}`,
        );
      }
  });

  it('counts every post, and all of one person', async (t) => {
    const { path } = await write(t, fill(10_010));
    const browse = openBrowseReads({ path, upstream: UPSTREAM });
    t.after(() => browse.close());
    const first = { sort: 'newest', after: null, limit: 2 } as const;
    const page = browse.page({ ...first, filter: EVERY_LIVE_POST });
    assert.deepEqual(page.total, { posts: 10_010, isMore: false });
    const second = browse.page({ ...first, filter: EVERY_LIVE_POST, after: page.next });
    assert.deepEqual(second.total, page.total);
    const few = browse.page({ ...first, filter: { ...EVERY_LIVE_POST, creator: [BOB.id] } });
    assert.deepEqual(few.total, { posts: 1001, isMore: false });
    assert.equal(few.rows.length, 2);
  });
});

describe('the threads that read', () => {
  it('leave out what nobody waits for any more, and say what cannot be read', async (t) => {
    const { path } = await tell(t);
    const reads = openReads({ path, upstream: UPSTREAM });
    t.after(() => reads.close());
    const first = reads.ask('post', 101);
    const gone = new AbortController();
    const dropped = reads.ask('post', 102, gone.signal);
    gone.abort(new Error('went elsewhere'));
    const last = reads.ask('post', 104);
    await assert.rejects(dropped, /went elsewhere/);
    assert.equal((await first)?.post.id, 101);
    assert.equal((await last)?.post.id, 104, 'the answers are still those of their questions');
    await assert.rejects(reads.ask('overview', { now: NOW, timeZone: 'UTC', board: 'nowhere' }), {
      code: 'usage',
    });
  });

  it('answer nothing more once they are closed, and nobody waits in vain', async (t) => {
    const { path } = await tell(t);
    const reads = openReads({ path, upstream: UPSTREAM });
    const asked = Promise.allSettled([reads.ask('post', 101), reads.ask('post', 102)]);
    await reads.close();
    for (const { status } of await asked) assert.equal(status, 'rejected');
    await assert.rejects(reads.ask('post', 104), { code: 'interrupted' });
  });

  it('leave the report that takes long to a process, which says how far it is', async (t) => {
    const { path } = await tell(t);
    const reads = openReads({ path, upstream: UPSTREAM });
    t.after(() => reads.close());
    const request = { now: NOW, timeZone: 'UTC' };
    for (const _ of [1, 2]) {
      const asked = reads.ask('report', { name: 'duplicates', request });
      assert.equal(typeof reads.progress(), 'number');
      assert.deepEqual(
        (await asked).rows.map(({ post, other }) => [post, other]),
        [[105, 101]],
      );
      assert.equal(reads.progress(), null);
    }
    const wrong = reads.ask('report', { name: 'duplicates', request: { ...request, board: 'nowhere' } });
    await assert.rejects(wrong, { code: 'usage' });
    const asked = reads.ask('report', { name: 'duplicates', request });
    await Promise.all([reads.close(), assert.rejects(asked, { code: 'interrupted' })]);
  });

  it('end the process of the long report when somebody cancels it, and begin anew with the next question', async (t) => {
    const { path } = await tell(t);
    const reads = openReads({ path, upstream: UPSTREAM });
    t.after(() => reads.close());
    reads.cancelSlow();
    const request = { name: 'duplicates', request: { now: NOW, timeZone: 'UTC' } };
    const both = Promise.allSettled([reads.ask('report', request), reads.ask('report', request)]);
    reads.cancelSlow();
    assert.equal(reads.progress(), null);
    for (const asked of await both)
      assert.match(String(asked.status === 'rejected' && asked.reason), /somebody cancelled this report/);
    assert.equal((await reads.ask('report', request)).rows.length, 1);
  });

  it('say so where there is no mirror', async (t) => {
    const reads = openReads({ path: '/nowhere/mirror.db', upstream: UPSTREAM });
    t.after(() => reads.close());
    await assert.rejects(reads.ask('post', 1), { code: 'usage', message: /no mirror/ });
  });
});
