import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { fakeClock } from '../support/clock.ts';
import { call, create, open, POSTS, posts } from './client.ts';

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
