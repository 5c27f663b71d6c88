import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { request as undici } from 'undici';
import { KINDS } from '../../src/sandbox/fault-kinds.ts';
import { fakeClock } from '../support/clock.ts';
import { COMMENTS, call, create, json, open, POSTS, type Problem, posts } from './client.ts';

test('latency lets time pass first, and adds up', async (t) => {
  const clock = fakeClock();
  const sandbox = await open(t, { clock, faults: 'latency ms=700 on=posts; latency ms=50' });
  await call(sandbox, POSTS);
  await call(sandbox, COMMENTS);
  assert.deepEqual(clock.slept, [750, 50]);
  assert.deepEqual(sandbox.faults.fired(), { latency: 3 });
});

test('throttle answers 429 with Retry-After in each form', async (t) => {
  const clock = fakeClock(Date.parse('2030-01-01T00:00:00Z'));
  const sandbox = await open(t, { clock });
  const after = async (spec: string): Promise<string | undefined> => {
    sandbox.faults.set(spec);
    const reply = await call(sandbox, POSTS);
    assert.equal(reply.status, 429);
    assert.equal(typeof json<Problem>(reply).detail, 'string');
    return reply.headers['retry-after'];
  };
  assert.equal(await after('throttle'), '2');
  assert.equal(await after('throttle form=seconds retry-after=30'), '30');
  assert.equal(await after('throttle form=date retry-after=90'), 'Tue, 01 Jan 2030 00:01:30 GMT');
  assert.equal(await after('throttle form=none'), undefined);
  assert.equal(await after('throttle form=garbage'), 'soon');
});

test('status answers any status, with Retry-After and the request echoed when asked for', async (t) => {
  const sandbox = await open(t, { faults: 'status code=503 retry-after=7' });
  const plain = await call(sandbox, POSTS);
  assert.deepEqual([plain.status, plain.headers['retry-after']], [503, '7']);
  assert.ok(!plain.body.includes('sandbox'));
  sandbox.faults.set('status code=400 echo=yes');
  const echo = await create(sandbox);
  assert.equal(echo.status, 400);
  assert.ok(echo.body.includes('Bearer sandbox'));
  sandbox.faults.set('status');
  assert.equal((await call(sandbox, POSTS)).status, 500);
});

test('unauthorised and forbidden refuse a good token', async (t) => {
  const sandbox = await open(t, { faults: 'unauthorised nth=1; forbidden nth=2' });
  assert.equal((await call(sandbox, POSTS)).status, 401);
  assert.equal((await call(sandbox, POSTS)).status, 403);
  assert.equal((await call(sandbox, POSTS)).status, 200);
});

test('redirect leads where it is told to', async (t) => {
  const sandbox = await open(t);
  for (const code of [302, 307, 308]) {
    sandbox.faults.set(`redirect code=${code} to=http://127.0.0.1:9/away`);
    const reply = await call(sandbox, POSTS);
    assert.deepEqual([reply.status, reply.headers.location], [code, 'http://127.0.0.1:9/away']);
  }
  sandbox.faults.set('redirect');
  assert.equal((await call(sandbox, POSTS)).status, 302);
});

test('reset ends the connection before, reset-after after the create took effect', async (t) => {
  const sandbox = await open(t, { posts: 0, faults: 'reset nth=1; reset-after nth=2' });
  await assert.rejects(create(sandbox), { code: 'ECONNRESET' });
  assert.equal(sandbox.world.posts().length, 0);
  await assert.rejects(create(sandbox), { code: 'ECONNRESET' });
  assert.equal(sandbox.world.posts().length, 1);
  assert.equal(sandbox.requests.at(-1)?.status, null);
  assert.deepEqual(sandbox.faults.fired(), { reset: 1, 'reset-after': 1 });
});

test('hang never answers and does not keep the sandbox from closing', async (t) => {
  for (const [spec, committed] of [
    ['hang', 0],
    ['hang-after', 1],
  ] as const) {
    const sandbox = await open(t, { posts: 0, faults: spec });
    const waiting = assert.rejects(create(sandbox));
    // Whole exchanges on the same loop, until the create has got as far as it will.
    while (sandbox.faults.fired()[spec] === 0) await call(sandbox, '/nowhere');
    assert.equal(sandbox.world.posts().length, committed);
    await sandbox.close();
    await waiting;
  }
});

test('hang with a time closes the connection after it', async (t) => {
  const clock = fakeClock();
  const sandbox = await open(t, { clock, faults: 'hang ms=60000' });
  await assert.rejects(call(sandbox, POSTS), { code: 'ECONNRESET' });
  assert.deepEqual(clock.slept, [60_000]);
});

test('status-after and no-id answer so after the create took effect', async (t) => {
  const sandbox = await open(t, {
    posts: 0,
    faults: 'status-after code=500 nth=1; status-after nth=2; no-id nth=3',
  });
  assert.equal((await create(sandbox)).status, 500);
  assert.equal((await create(sandbox)).status, 502);
  const reply = await create(sandbox);
  assert.deepEqual([reply.status, json(reply)], [200, { status: 'Success' }]);
  assert.equal(sandbox.world.posts().length, 3);
  assert.equal((await create(sandbox, { title: '' })).status, 400);
});

test('cut sends half of the body it announced, after a create took effect', async (t) => {
  const sandbox = await open(t, { posts: 5, faults: 'cut' });
  for (const reply of [await call(sandbox, POSTS), await create(sandbox)]) {
    assert.ok(reply.status < 300);
    assert.equal(reply.complete, false);
    const announced = Number(reply.headers['content-length']);
    assert.equal(reply.body.length, Math.floor(announced / 2));
  }
  assert.equal(sandbox.world.posts().length, 6);
});

test('drip sends the body whole, a few bytes at a time', async (t) => {
  const clock = fakeClock();
  const sandbox = await open(t, { clock, posts: 3 });
  const plain = await call(sandbox, POSTS);
  sandbox.faults.set('drip ms=250 bytes=100');
  const slow = await call(sandbox, POSTS);
  assert.deepEqual([slow.complete, slow.body], [true, plain.body]);
  assert.equal(clock.slept.length, Math.ceil(plain.body.length / 100) - 1);
  assert.equal(clock.slept[0], 250);
});

test('a client that leaves while the body drips does no harm', async (t) => {
  const sandbox = await open(t, { faults: 'drip ms=1 times=1' });
  const abort = new AbortController();
  const { body } = await undici(`${sandbox.url}${POSTS}?token=sandbox`, { signal: abort.signal });
  abort.abort();
  await assert.rejects(body.text());
  assert.equal((await call(sandbox, POSTS)).status, 200);
});

test('bad-json, html and not-envelope are well-formed HTTP with the wrong body', async (t) => {
  const sandbox = await open(t, { faults: 'bad-json nth=1; html nth=2; not-envelope nth=3' });
  const [bad, html, other] = [
    await call(sandbox, POSTS),
    await call(sandbox, POSTS),
    await call(sandbox, POSTS),
  ];
  assert.deepEqual([bad.status, bad.complete], [200, true]);
  assert.throws(() => json(bad));
  assert.equal(html.headers['content-type'], 'text/html');
  assert.ok(html.body.toString().startsWith('<!doctype html>'));
  assert.equal('results' in json<object>(other), false);
});

test('bad-utf8 has a byte that is no UTF-8 inside a string', async (t) => {
  for (const count of [3, 0]) {
    const sandbox = await open(t, { posts: count, faults: 'bad-utf8' });
    const { body } = await call(sandbox, POSTS);
    assert.throws(() => new TextDecoder('utf-8', { fatal: true }).decode(body));
    assert.ok(JSON.parse(body.toString()));
  }
});

test('bomb expands beyond 16 MiB and 100:1, big is that large as it is', async (t) => {
  const sandbox = await open(t, { faults: 'bomb nth=1; big nth=2' });
  const bomb = await call(sandbox, POSTS);
  assert.equal(bomb.headers['content-encoding'], 'gzip');
  const text = gunzipSync(bomb.body);
  assert.ok(text.length > 16 * 1024 * 1024 && text.length > 100 * bomb.body.length);
  const big = await call(sandbox, POSTS, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(big.headers['content-encoding'], undefined);
  assert.ok(big.body.length > 16 * 1024 * 1024);
  for (const body of [text, big.body]) assert.deepEqual(JSON.parse(body.toString()).results, []);
});

test('headers are more than 16 KB, which a client may refuse', async (t) => {
  const sandbox = await open(t, { faults: 'headers' });
  await assert.rejects(call(sandbox, POSTS), { code: 'HPE_HEADER_OVERFLOW' });
});

test('encoding claims one that nobody knows, or packs twice', async (t) => {
  const sandbox = await open(t, { faults: 'encoding nth=1; encoding name=gzip,gzip nth=2' });
  const unknown = await call(sandbox, POSTS, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(unknown.headers['content-encoding'], 'x-unknown');
  assert.ok(json(unknown));
  const twice = await call(sandbox, POSTS);
  assert.equal(twice.headers['content-encoding'], 'gzip,gzip');
  assert.ok(JSON.parse(gunzipSync(gunzipSync(twice.body)).toString()).results);
});

test('a fault on one operation leaves the others alone, and rules can be replaced and ended', async (t) => {
  const sandbox = await open(t, { faults: 'status on=search' });
  assert.equal((await call(sandbox, POSTS)).status, 200);
  assert.equal((await call(sandbox, COMMENTS)).status, 200);
  assert.equal((await create(sandbox)).status, 201);
  assert.equal((await call(sandbox, `${POSTS}?search=x`)).status, 500);
  sandbox.faults.set('status on=creates');
  assert.equal((await call(sandbox, `${POSTS}?search=x`)).status, 200);
  assert.equal((await create(sandbox)).status, 500);
  sandbox.faults.set('');
  assert.equal((await create(sandbox)).status, 201);
  assert.deepEqual(sandbox.faults.fired(), { status: 2 });
  assert.throws(() => sandbox.faults.set('nonsense'));
  assert.equal((await posts(sandbox)).results.length, 14);
});

test('every kind acts when it is asked for with nothing else', async (t) => {
  const sandbox = await open(t, { posts: 7, pageSize: 3, clock: fakeClock() });
  for (const kind of Object.keys(KINDS)) {
    if (kind === 'hang' || kind === 'hang-after') continue;
    sandbox.faults.set(kind);
    await call(sandbox, POSTS).catch(() => undefined);
    await create(sandbox).catch(() => undefined);
  }
  sandbox.faults.set('hang ms=1 on=lists; hang-after ms=1');
  await call(sandbox, POSTS).catch(() => undefined);
  await create(sandbox).catch(() => undefined);
  const fired = sandbox.faults.fired();
  for (const kind of Object.keys(KINDS)) assert.ok((fired[kind as keyof typeof KINDS] ?? 0) >= 1, kind);
});
