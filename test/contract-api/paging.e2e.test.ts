import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMENTS, call, follow, json, POSTS, type Problem, posts, walk } from '../sandbox/client.ts';
import { type Api, SERVERS } from './servers.ts';

/** Newest first, worked out without any SQL. */
function expected(api: Api, path: string): number[] {
  const rows = path === POSTS ? api.world.posts() : api.world.comments();
  return rows.map((row) => row.id).reverse();
}

for (const server of SERVERS) {
  const paging = 'cursor-url';

  test(`${server.name}: a quiet list paged by cursor is walked once, forwards and back`, async (t) => {
    const api = await server.open(t, { posts: 23, pageSize: 5, paging });
    for (const path of [POSTS, COMMENTS]) {
      const ids = expected(api, path);
      const forwards = await walk(api, path);
      assert.deepEqual(forwards.ids, ids);
      assert.equal(forwards.pages, Math.ceil(ids.length / 5));
      const back = await walk(api, path, 'previous', forwards.last);
      assert.deepEqual(back.ids, ids);
    }
  });

  test(`${server.name}: next is an absolute URL of the address that the client called`, async (t) => {
    const api = await server.open(t, { pageSize: 5, paging });
    const { next } = await posts(api);
    assert.match(String(next), /^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/posts\/\?cursor=[\w-]+$/);
    assert.ok(String(next).startsWith(api.url));
    const host = `localhost:${new URL(api.url).port}`;
    const elsewhere = await posts(api, POSTS, { headers: { host } });
    assert.equal(elsewhere.next, String(next).replace(new URL(api.url).host, host));
  });

  test(`${server.name}: links repeat no token of the query`, async (t) => {
    const api = await server.open(t, { pageSize: 5, paging });
    const page = await posts(api, `${POSTS}?token=sandbox`, { token: null });
    assert.equal(page.results.length, 5);
    assert.doesNotMatch(String(page.next), /token|sandbox/);
  });

  test(`${server.name}: a list that fits on one page has neither next nor previous`, async (t) => {
    for (const count of [0, 5]) {
      const page = await posts(await server.open(t, { posts: count, pageSize: 5, paging }));
      assert.deepEqual([page.next, page.previous, page.results.length], [null, null, count]);
    }
  });

  test(`${server.name}: pages by cursor do not drift`, async (t) => {
    const api = await server.open(t, { posts: 12, pageSize: 5, paging });
    const first = await posts(api);
    api.world.addPost();
    api.world.deletePost(8);
    const second = await posts(api, follow(POSTS, first.next));
    assert.deepEqual(
      second.results.map((row) => row.id),
      [7, 6, 5, 4, 3],
    );
  });

  test(`${server.name}: a page that cannot be is 400 and names the parameter`, async (t) => {
    const api = await server.open(t, { paging });
    const wrong = ['["f",["x"],0]', '["f",[1,2],0]'].map((text) => Buffer.from(text).toString('base64url'));
    for (const value of ['', 'x', 'bnVsbA', ...wrong]) {
      const reply = await call(api, `${POSTS}?cursor=${value}`);
      assert.equal(reply.status, 400, `cursor=${value}`);
      assert.deepEqual(Object.keys(json<Problem>(reply).errors ?? {}), ['cursor']);
    }
  });

  test(`${server.name}: a blank search is the plain list`, async (t) => {
    const api = await server.open(t, { pageSize: 5 });
    assert.equal((await posts(api, `${POSTS}?search=%20%20`)).results.length, 5);
  });
}
