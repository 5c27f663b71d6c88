import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { fakeClock } from '../support/clock.ts';
import { COMMENTS, CREATE, call, comments, create, open, POSTS, posts } from './client.ts';

test('the status of a successful create can be chosen', async (t) => {
  const sandbox = await open(t, { createStatus: 200 });
  assert.equal((await create(sandbox)).status, 200);
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
