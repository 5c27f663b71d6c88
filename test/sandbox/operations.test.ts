import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isDateTime } from '../../src/contract/datetime.ts';
import { decodeComment, decodePost } from '../../src/contract/decode.ts';
import { fakeClock } from '../support/clock.ts';
import { AS_USER, COMMENTS, CREATE, call, comments, create, json, open, POSTS, posts } from './client.ts';

interface Created {
  status: string;
  post_id: number;
  url: string;
}

test('the posts list answers an envelope of posts that the contract decodes', async (t) => {
  const sandbox = await open(t);
  const reply = await call(sandbox, POSTS);
  assert.equal(reply.status, 200);
  assert.match(String(reply.headers['content-type']), /^application\/json/);
  const page = await posts(sandbox);
  assert.deepEqual(Object.keys(page), ['next', 'previous', 'results']);
  assert.equal(page.results.length, 12);
  for (const row of page.results) {
    const decoded = decodePost(row);
    assert.ok(decoded.ok);
    assert.equal(decoded.row.extra, null);
    assert.ok(row.url.startsWith('/'));
    assert.match(row.status.color, /^#[0-9a-f]{6}$/);
  }
});

test('the comments list answers an envelope of comments with microseconds and a Z', async (t) => {
  const sandbox = await open(t, { posts: 40 });
  const { results } = await comments(sandbox);
  assert.ok(results.length > 20);
  for (const row of results) {
    const decoded = decodeComment(row);
    assert.ok(decoded.ok);
    assert.equal(decoded.row.extra, null);
    for (const moment of [row.created, row.creator.registered ?? '']) {
      assert.match(moment, /\.\d{6}Z$/);
      assert.ok(isDateTime(moment));
    }
  }
});

test('a create as the owner shows in the list, on the board and under the name of the owner', async (t) => {
  const sandbox = await open(t);
  const reply = await create(sandbox, { board: 'mobile', title: 'Night mode', content: '' });
  assert.equal(reply.status, 201);
  const created = json<Created>(reply);
  assert.equal(created.status, 'Success');
  const row = (await posts(sandbox)).results[0];
  assert.ok(row);
  assert.equal(row.id, created.post_id);
  assert.equal(created.url, sandbox.url + row.url);
  assert.deepEqual([row.title, row.content, row.board.url], ['Night mode', '', '/b/mobile/']);
  assert.deepEqual([row.creator.email, row.creator.is_admin], ['owner@example.com', true]);
});

test('the status of a successful create can be chosen', async (t) => {
  const sandbox = await open(t, { createStatus: 200 });
  assert.equal((await create(sandbox)).status, 200);
});

test('a create for a new customer makes the customer, and the next one reuses it in any case', async (t) => {
  const sandbox = await open(t);
  const post = {
    board: 'bugs',
    title: 'One',
    content: 'x',
    email: 'New.Person@Example.com',
    full_name: 'New Person',
  };
  const before = sandbox.world.users().length;
  assert.equal((await call(sandbox, AS_USER, { body: post })).status, 201);
  const again = { ...post, title: 'Two', email: 'new.person@example.COM', full_name: 'Another Name' };
  assert.equal((await call(sandbox, AS_USER, { body: again })).status, 201);
  assert.equal(sandbox.world.users().length, before + 1);
  const [two, one] = (await posts(sandbox)).results;
  assert.equal(two?.creator.id, one?.creator.id);
  assert.deepEqual([two?.creator.name, two?.creator.email], ['New Person', 'New.Person@Example.com']);
  assert.deepEqual([two?.creator.is_admin, two?.creator.is_team], [false, false]);
});

test('created posts carry the time of the clock, and so does the Date header', async (t) => {
  const clock = fakeClock(Date.parse('2031-02-03T04:05:06.789Z'));
  const sandbox = await open(t, { clock });
  const reply = await create(sandbox);
  assert.equal(reply.headers.date, 'Mon, 03 Feb 2031 04:05:06 GMT');
  assert.equal((await posts(sandbox)).results[0]?.created, '2031-02-03T04:05:06.789000Z');
});

test('an answer above a kilobyte is compressed for a client that takes gzip, and for no other', async (t) => {
  const sandbox = await open(t);
  const plain = await call(sandbox, POSTS);
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const accept of ['gzip', 'br, gzip;q=0.5', '*']) {
    const packed = await call(sandbox, POSTS, { headers: { 'accept-encoding': accept } });
    assert.equal(packed.headers['content-encoding'], 'gzip', accept);
    assert.deepEqual(gunzipSync(packed.body), plain.body);
  }
  for (const accept of ['gzip;q=0', 'br', 'identity']) {
    const reply = await call(sandbox, POSTS, { headers: { 'accept-encoding': accept } });
    assert.equal(reply.headers['content-encoding'], undefined, accept);
  }
  const short = await create(
    sandbox,
    {},
    { headers: { 'accept-encoding': 'gzip', 'content-type': 'application/json' } },
  );
  assert.equal(short.headers['content-encoding'], undefined);
});

test('requests are noted with operation and status, and the token in the query is masked', async (t) => {
  const sandbox = await open(t);
  await call(sandbox, `${POSTS}?search=x&token=sandbox`, { token: null });
  await call(sandbox, `${COMMENTS}?token=wrong`, { token: null });
  await call(sandbox, CREATE, { body: {} });
  await call(sandbox, '/nowhere');
  assert.deepEqual(sandbox.requests, [
    { operation: 'searchPosts', method: 'GET', url: `${POSTS}?search=x&token=***`, status: 200 },
    { operation: 'listComments', method: 'GET', url: `${COMMENTS}?token=***`, status: 401 },
    { operation: 'createPost', method: 'POST', url: CREATE, status: 400 },
    { operation: null, method: 'GET', url: '/nowhere', status: 404 },
  ]);
  assert.equal(sandbox.requestCount, 4);
});

test('beforeRequest runs before the world is read, with what is asked', async (t) => {
  const seen: unknown[] = [];
  const sandbox = await open(t, {
    posts: 0,
    async beforeRequest(request) {
      seen.push(request);
      await Promise.resolve();
      sandbox.world.addPost({ title: `Before request ${seen.length}` });
    },
  });
  assert.deepEqual(
    (await posts(sandbox)).results.map((row) => row.title),
    ['Before request 1'],
  );
  await call(sandbox, '/nowhere');
  await comments(sandbox);
  assert.deepEqual(seen, [
    { operation: 'listPosts', method: 'GET', url: POSTS },
    { operation: 'listComments', method: 'GET', url: COMMENTS },
  ]);
});
