import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Fastify from 'fastify';
import { SILENT } from '../../src/base/log.ts';
import { addOutbox, type OutboxDetail, type OutboxPage } from '../../src/http/dashboard/outbox.ts';
import { addPosts, type LinksAnswer, type PostsAnswer } from '../../src/http/dashboard/posts.ts';
import { addReplies } from '../../src/http/server/replies.ts';
import { MOST_FOUND } from '../../src/search/search.ts';
import { fakeClock } from '../support/clock.ts';

type Request = Record<string, unknown> & { filter: Record<string, unknown> };

const PAGE = { rows: [], next: null, previous: null, total: { posts: 0, isMore: false } };
const aPost = (id: number, more: object = {}) => ({
  ...{ id, title: `=Post ${id}`, url: `/p/${id}`, votes: id, board: 'Ideas', status: 'Open', comments: 0 },
  ...{ creator: null, created: 'then', changed: 'now', deleted: null, ...more },
});

function postsSite(t: TestContext, answer: (name: string, request: Request) => unknown = () => PAGE) {
  const asked: [name: string, request: Request][] = [];
  const ask = async (name: string, request: Request): Promise<unknown> => {
    asked.push([name, request]);
    return answer(name, request);
  };
  const app = Fastify();
  t.after(() => app.close());
  addReplies(app, SILENT);
  const deps = {
    reads: { ask },
    same: {},
    clock: fakeClock(),
    timeZone: 'UTC',
    upstream: 'https://upstream.test',
  };
  addPosts(app, deps as never);
  const get = async <T>(url: string): Promise<T & { status: number }> => {
    const { statusCode, body } = await app.inject(url);
    return { status: statusCode, ...(body.startsWith('{') ? JSON.parse(body) : { body }) };
  };
  return { asked, get };
}

describe('a list of posts in the dashboard', () => {
  it('is filtered by the query, and leaves out deleted posts by default', async (t) => {
    const { asked, get } = postsSite(t);
    await get('/data/posts');
    await get(
      '/data/posts?board=a,b&status=Open&creator=kim&votes=3&deleted=too&since=2026-01-01&until=1d&tz=Europe/Berlin&sort=votes&limit=7',
    );
    const none = {
      board: [],
      status: [],
      creator: null,
      segment: null,
      votes: null,
      deleted: 'no',
      since: null,
      until: null,
    };
    assert.deepEqual(asked[0], [
      'posts',
      { filter: none, sort: 'newest', after: null, isBackward: false, limit: 50 },
    ]);
    const some = {
      board: ['a', 'b'],
      status: ['Open'],
      creator: 'kim',
      segment: null,
      votes: 3,
      deleted: 'too',
    };
    const times = { since: '2025-12-31T23:00:00.000Z', until: '2025-12-31T00:00:00.000Z' };
    const narrow = { filter: { ...some, ...times }, sort: 'votes', after: null, isBackward: false, limit: 7 };
    assert.deepEqual(asked[1], ['posts', narrow]);
    await get('/data/posts?votes=0&limit=500');
    assert.deepEqual([asked[2]?.[1].filter.votes, asked[2]?.[1].limit], [null, 200]);
  });

  it('leads to the pages beside it, each way, and from no place of another order', async (t) => {
    const beside = {
      ...PAGE,
      rows: [aPost(1)],
      next: { key: '2026', id: 5 },
      previous: { key: '2025', id: 4 },
    };
    const { asked, get } = postsSite(t, () => beside);
    const { next, previous, rows } = await get<PostsAnswer>('/data/posts');
    assert.equal(rows[0]?.original, 'https://upstream.test/p/1');
    await get(`/data/posts?cursor=${next}`);
    await get(`/data/posts?cursor=${previous}`);
    assert.deepEqual(
      asked.slice(1).map(([, { after, isBackward }]) => [(after as { id: number }).id, isBackward]),
      [
        [5, false],
        [4, true],
      ],
    );
    const place = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const query of [
      `sort=votes&cursor=${next}`,
      `cursor=${place(5, 1)}`,
      `cursor=${place('2026', 'x')}`,
      `cursor=${place(null, 1)}`,
      'cursor=zebra',
    ])
      assert.equal((await get(`/data/posts?${query}`)).status, 400, query);
    assert.equal((await get(`/data/posts?sort=votes&cursor=${place(5, 1)}`)).status, 200);
  });

  it('refuses a search cursor that is not a position of a search', async (t) => {
    const { asked, get } = postsSite(t);
    const place = (key: unknown) => Buffer.from(JSON.stringify([key, 0])).toString('base64url');
    await get(`/data/posts?search=${'x'.repeat(1001)}`);
    assert.equal(String(asked[0]?.[1].text).length, 1000);
    await get(`/data/posts?search=%20dark%20&cursor=${place(MOST_FOUND - 1)}`);
    assert.deepEqual(
      [asked[1]?.[0], asked[1]?.[1].text, asked[1]?.[1].offset],
      ['search', 'dark', MOST_FOUND - 1],
    );
    for (const key of [-1, MOST_FOUND, '2026'])
      assert.equal((await get(`/data/posts?search=dark&cursor=${place(key)}`)).status, 400, String(key));
    assert.equal((await get('/data/posts?search=%20')).status, 200);
    assert.equal(asked.at(-1)?.[0], 'posts');
  });

  it('has every post in a file, step by step, safe for spreadsheets', async (t) => {
    const steps = (_name: string, { after }: Request) =>
      after === null
        ? { ...PAGE, rows: [aPost(1)], next: { key: 1, id: 1 } }
        : { ...PAGE, rows: [aPost(2, { url: 'data:x' })] };
    const { asked, get } = postsSite(t, steps);
    const { body } = await get<{ body: string }>('/data/posts.csv?sort=votes&cursor=&limit=3');
    const lines = body.split('\r\n');
    assert.equal(lines[0], 'id,title,board,status,votes,comments,creator,created,changed,deleted,url');
    assert.match(lines[1] ?? '', /^1,'=Post 1,.*,https:\/\/upstream\.test\/p\/1$/);
    assert.match(lines[2] ?? '', /^2,'=Post 2,.*,$/);
    assert.deepEqual(
      asked.map(([, { after, limit, sort, isBackward }]) => [after, limit, sort, isBackward]),
      [
        [null, 1000, 'votes', false],
        [{ key: 1, id: 1 }, 1000, 'votes', false],
      ],
    );
    assert.equal((await get('/data/posts.csv?sort=zebra')).status, 400);
  });

  it('has ten thousand links at most, and says whether there are more', async (t) => {
    const rows = Array.from({ length: 6000 }, (_, n) => aPost(n));
    const page = { ...PAGE, rows, next: { key: '1', id: 1 }, total: { posts: 10_000, isMore: true } };
    const { asked, get } = postsSite(t, () => page);
    const { links, isMore } = await get<LinksAnswer>('/data/posts/links');
    assert.deepEqual([links.length, isMore, asked.length], [10_000, true, 2]);
    const few = await postsSite(t, () => ({ ...page, rows: [aPost(1)], next: null })).get<LinksAnswer>(
      '/data/posts/links',
    );
    assert.deepEqual([few.links, few.isMore], [[{ id: 1, original: 'https://upstream.test/p/1' }], false]);
  });
});

describe('a list of the outbox in the dashboard', () => {
  const aRow = (id: number, more: object = {}) => ({
    ...{ id, state: 'ready', url: null, last_error: null, erased_at: null },
    ...{ post_id: null, duplicate_of: null, candidates: [], ...more },
  });

  function outboxSite(t: TestContext, rows: number, row: object = aRow(5)) {
    const asked: Record<string, unknown>[] = [];
    const newest = (filter: Record<string, unknown>) => {
      asked.push(filter);
      return Array.from({ length: rows }, (_, n) => aRow(100 - n));
    };
    const view = { newest, counts: () => ({}), paused: () => null, refusedBoards: () => [] };
    const one = { find: () => row, attempts: () => [], edits: () => [], posts: (ids: number[]) => ids };
    const app = Fastify();
    t.after(() => app.close());
    addReplies(app, SILENT);
    addOutbox(app, {
      view: { ...view, ...one },
      upstream: null,
      outbox: {},
      reads: {},
      clock: fakeClock(),
    } as never);
    return { asked, get: async <T>(url: string) => (await app.inject(url)).json<T>() };
  }

  it('has fifty rows a page, with cursors to older and newer rows where they exist', async (t) => {
    const page = async (query: string, rows: number) => {
      const { asked, get } = outboxSite(t, rows);
      const { rows: shown, before, after } = await get<OutboxPage>(`/data/outbox${query}`);
      assert.equal(asked[0]?.limit, 51);
      return [shown.length, shown[0]?.id, before, after];
    };
    assert.deepEqual(await page('', 50), [50, 100, null, null]);
    assert.deepEqual(await page('', 51), [50, 100, 51, null]);
    assert.deepEqual(await page('?before=101', 50), [50, 100, null, 100]);
    assert.deepEqual(await page('?before=101', 51), [50, 100, 51, 100]);
    // Backwards the row too many stands before the others.
    assert.deepEqual(await page('?after=40', 51), [50, 99, 50, 99]);
    assert.deepEqual(await page('?after=40', 50), [50, 100, 51, null]);
  });

  it('asks for a state and a batch', async (t) => {
    const { asked, get } = outboxSite(t, 0);
    await get('/data/outbox?state=rejected&batch=b1&before=9');
    assert.deepEqual(asked, [{ state: 'rejected', batch: 'b1', before: 9, after: null, limit: 51 }]);
  });

  it('shows the decisions that are possible for a row, and its related posts', async (t) => {
    const can = async (row: object) => {
      const { can: may, posts } = await outboxSite(t, 0, aRow(5, row)).get<OutboxDetail>('/data/outbox/5');
      return [Object.entries(may).flatMap(([name, is]) => (is ? [name] : [])), posts];
    };
    assert.deepEqual(await can({ state: 'proposed' }), [['approve', 'cancel', 'edit'], []]);
    assert.deepEqual(await can({ state: 'uncertain', candidates: [7, 8] }), [
      ['retry', 'cancel', 'resolve', 'edit'],
      [7, 8],
    ]);
    assert.deepEqual(await can({ state: 'uncertain', erased_at: 'now' }), [['cancel', 'resolve'], []]);
    assert.deepEqual(await can({ state: 'confirmed', post_id: 3, duplicate_of: 4 }), [[], [3, 4]]);
    assert.deepEqual(await can({ state: 'cancelled' }), [['retry'], []]);
  });
});
