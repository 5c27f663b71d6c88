import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDERS, type Order } from '../../src/sandbox/listing.ts';
import { PAGING_STYLES, type PagingStyle } from '../../src/sandbox/paging.ts';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { COMMENTS, call, follow, open, POSTS, posts, walk } from './client.ts';

type StandingOrder = Exclude<Order, 'random'>;
const STANDING = ORDERS.filter((order) => order !== 'random');

/** The ids as the order has them, worked out without any SQL. */
function expected(sandbox: Sandbox, path: string, order: StandingOrder): number[] {
  const rows =
    path === POSTS
      ? sandbox.world.posts().map((post) => ({ id: post.id, count: post.votes_count }))
      : sandbox.world.comments().map((comment) => ({ id: comment.id, count: comment.likes_count }));
  // Nothing has happened to these rows yet: by activity they come newest first.
  if (order === 'newest' || order === 'activity') rows.reverse();
  if (order === 'votes') rows.sort((a, b) => b.count - a.count || b.id - a.id);
  return rows.map((row) => row.id);
}

for (const paging of PAGING_STYLES) {
  for (const order of STANDING) {
    test(`a quiet list paged by ${paging} in order ${order} is walked once, forwards and back`, async (t) => {
      const sandbox = await open(t, { posts: 23, pageSize: 5, paging, order });
      for (const path of [POSTS, COMMENTS]) {
        const ids = expected(sandbox, path, order);
        const forwards = await walk(sandbox, path);
        assert.deepEqual(forwards.ids, ids);
        assert.equal(forwards.pages, Math.ceil(ids.length / 5));
        const back = await walk(sandbox, path, 'previous', forwards.last);
        assert.deepEqual(back.ids, ids);
      }
    });
  }
}

test('next has the form of its style', async (t) => {
  const forms: [PagingStyle, (url: string) => unknown][] = [
    ['url', (url) => `${url}${POSTS}?page=2`],
    ['path', () => `${POSTS}?page=2`],
    ['query', () => '?page=2'],
    ['number', () => 2],
    ['offset', (url) => `${url}${POSTS}?limit=5&offset=5`],
  ];
  for (const [paging, next] of forms) {
    const sandbox = await open(t, { posts: 12, pageSize: 5, paging });
    assert.deepEqual((await posts(sandbox)).next, next(sandbox.url), paging);
  }
  const bare = await posts(await open(t, { pageSize: 5, paging: 'cursor' }));
  assert.match(String(bare.next), /^[\w-]+$/);
  const sandbox = await open(t, { pageSize: 5, paging: 'cursor-url' });
  const { next } = await posts(sandbox);
  assert.match(String(next), /^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/posts\/\?cursor=[\w-]+$/);
});

test('links carry the host that the client wrote and the parameters it gave', async (t) => {
  const sandbox = await open(t, { pageSize: 5 });
  const { next } = await posts(sandbox, `${POSTS}?page=1&tag=a%20b`, { headers: { host: 'localhost:99' } });
  assert.equal(next, `http://localhost:99${POSTS}?tag=a+b&page=2`);
});

test('a list that fits on one page has neither next nor previous', async (t) => {
  for (const paging of PAGING_STYLES) {
    for (const count of [0, 5]) {
      const page = await posts(await open(t, { posts: count, pageSize: 5, paging }));
      assert.deepEqual([page.next, page.previous, page.results.length], [null, null, count], paging);
    }
  }
});

test('a page past the end is empty and has no next', async (t) => {
  const far: [PagingStyle, string][] = [
    ['url', 'page=99'],
    ['number', 'page=4'],
    ['offset', 'limit=5&offset=12'],
    ['cursor', `cursor=${Buffer.from('["f",[1],0]').toString('base64url')}`],
  ];
  for (const [paging, query] of far) {
    const page = await posts(await open(t, { posts: 12, pageSize: 5, paging }), `${POSTS}?${query}`);
    assert.deepEqual([page.next, page.results], [null, []], paging);
  }
});

test('pages by number drift: a new row shows one twice, a deleted row hides one', async (t) => {
  const sandbox = await open(t, { posts: 12, pageSize: 5, paging: 'number' });
  const first = await posts(sandbox);
  sandbox.world.addPost();
  const second = await posts(sandbox, follow(POSTS, first.next));
  assert.equal(second.results[0]?.id, first.results.at(-1)?.id);

  const other = await open(t, { posts: 12, pageSize: 5, paging: 'number' });
  await posts(other);
  other.world.deletePost(12);
  const later = await posts(other, follow(POSTS, 2));
  // The first page ended with 8; 7 has moved up to it and is never seen.
  assert.deepEqual(
    later.results.map((row) => row.id),
    [6, 5, 4, 3, 2],
  );
});

test('pages by cursor do not drift', async (t) => {
  const sandbox = await open(t, { posts: 12, pageSize: 5, paging: 'cursor' });
  const first = await posts(sandbox);
  sandbox.world.addPost();
  sandbox.world.deletePost(8);
  const second = await posts(sandbox, follow(POSTS, first.next));
  assert.deepEqual(
    second.results.map((row) => row.id),
    [7, 6, 5, 4, 3],
  );
});

test('links never repeat a token of the query', async (t) => {
  for (const paging of ['url', 'path', 'query', 'offset', 'cursor-url'] as const) {
    const sandbox = await open(t, { posts: 12, pageSize: 5, paging });
    const page = await posts(sandbox, `${POSTS}?token=sandbox`, { token: null });
    assert.ok(!String(page.next).includes('token='), paging);
  }
});

test('the offset style takes a limit from the client', async (t) => {
  const sandbox = await open(t, { posts: 12, pageSize: 5, paging: 'offset' });
  const page = await posts(sandbox, `${POSTS}?limit=3&offset=2`);
  assert.deepEqual(
    page.results.map((row) => row.id),
    [10, 9, 8],
  );
  assert.equal(page.next, `${sandbox.url}${POSTS}?limit=3&offset=5`);
  assert.equal(page.previous, `${sandbox.url}${POSTS}?limit=3&offset=0`);
  assert.equal((await call(sandbox, `${POSTS}?limit=100000`)).status, 200);
});
