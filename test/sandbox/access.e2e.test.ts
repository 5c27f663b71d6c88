import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import {
  AS_USER,
  COMMENTS,
  CREATE,
  call,
  comments,
  create,
  json,
  open,
  POSTS,
  type Problem,
  posts,
} from './client.ts';

const ENDPOINTS = [
  [POSTS, {}],
  [`${POSTS}?search=report`, {}],
  [COMMENTS, {}],
  [CREATE, { body: { board: 'bugs', title: 'x', content: 'x' } }],
  [AS_USER, { body: { board: 'bugs', title: 'x', content: 'x', email: 'a@example.com', full_name: 'A' } }],
] as const;

test('every operation refuses a missing and a wrong token with 401 and does nothing', async (t) => {
  const sandbox = await open(t);
  for (const [path, options] of ENDPOINTS) {
    for (const token of [null, 'wrong', '']) {
      const reply = await call(sandbox, path, { ...options, token });
      assert.equal(reply.status, 401, `${path} ${token}`);
      assert.equal(reply.headers['www-authenticate'], 'Bearer');
      assert.equal(typeof json<Problem>(reply).detail, 'string');
    }
  }
  assert.equal(sandbox.world.posts().length, 12);
});

test('every operation takes the token in the header or in the query parameter', async (t) => {
  const sandbox = await open(t, { authParam: 'api_key' });
  for (const [path, options] of ENDPOINTS) {
    const mark = path.includes('?') ? '&' : '?';
    assert.ok((await call(sandbox, path, options)).status < 300);
    assert.ok(
      (await call(sandbox, `${path}${mark}api_key=sandbox`, { ...options, token: null })).status < 300,
    );
    assert.equal(
      (await call(sandbox, `${path}${mark}token=sandbox`, { ...options, token: null })).status,
      401,
    );
  }
});

test('another scheme than Bearer is refused, even with a good token in the query', async (t) => {
  const sandbox = await open(t);
  const headers = { authorization: 'Basic sandbox' };
  assert.equal((await call(sandbox, `${POSTS}?token=sandbox`, { headers })).status, 401);
});

test('a revoked token is refused, and a token can be allowed later', async (t) => {
  const sandbox = await open(t);
  sandbox.revoke('sandbox');
  assert.equal((await call(sandbox, POSTS)).status, 401);
  sandbox.allow({ token: 'second', email: 'second@example.com', name: 'Second Owner' });
  assert.equal((await create(sandbox, {}, { token: 'second' })).status, 201);
  assert.equal(sandbox.world.posts().at(-1)?.creator.name, 'Second Owner');
});

test('a token for some boards lists, searches and comments only there', async (t) => {
  const tokens = [
    { token: 'sandbox', email: 'owner@example.com', name: 'Owner' },
    { token: 'narrow', email: 'narrow@example.com', name: 'Narrow', boards: ['bugs', 'mobile'] },
  ];
  const sandbox = await open(t, { tokens, posts: 60 });
  const allowed = new Set(['/b/bugs/', '/b/mobile/']);
  const mine = sandbox.world.posts().filter((post) => allowed.has(post.board.url));
  const seen = await posts(sandbox, POSTS, { token: 'narrow' });
  assert.deepEqual(seen.results.toReversed(), mine);
  assert.deepEqual(sandbox.world.posts('narrow'), mine);
  assert.ok(mine.length > 0 && mine.length < 60);

  const ids = new Set(mine.map((post) => post.id));
  const replies = await comments(sandbox, COMMENTS, { token: 'narrow' });
  assert.deepEqual(
    replies.results.toReversed(),
    sandbox.world.comments().filter((c) => ids.has(c.post.id)),
  );
  assert.deepEqual(replies.results.toReversed(), sandbox.world.comments('narrow'));

  const search = await posts(sandbox, `${POSTS}?search=to`, { token: 'narrow' });
  assert.ok(search.results.length > 0);
  assert.ok(search.results.every((post) => allowed.has(post.board.url)));
});

test('a board out of reach is answered exactly like one that does not exist', async (t) => {
  const tokens = [{ token: 'narrow', email: 'narrow@example.com', name: 'Narrow', boards: ['bugs'] }];
  const sandbox = await open(t, { tokens });
  assert.equal((await create(sandbox, { board: 'bugs' }, { token: 'narrow' })).status, 201);
  const [hidden, unknown] = await Promise.all(
    ['mobile', 'nothing'].map((board) => create(sandbox, { board }, { token: 'narrow' })),
  );
  assert.equal(hidden?.status, 400);
  assert.equal(unknown?.status, 400);
  assert.equal(hidden?.body.toString().replaceAll('mobile', 'nothing'), unknown?.body.toString());
});

test('settings that cannot work are refused in words, and never name the token', async () => {
  const wrong: [SandboxOptions, RegExp][] = [
    [
      { tokens: [{ token: 'hush', email: 'a@example.com', name: 'A', boards: ['nope'] }] },
      /no board "nope"; the boards are/,
    ],
    [
      { tokens: [{ token: 'hush hush', email: 'a@example.com', name: 'A' }] },
      /cannot be empty or hold spaces/,
    ],
    [{ tokens: [{ token: 'hush', email: 'nobody', name: 'A' }] }, /needs an e-mail address/],
    [{ authParam: 'page' }, /cannot be blank or one of search, page/],
    [{ pageSize: 0 }, /page size must be a whole number from 1/],
    [{ posts: -1 }, /posts must be/],
    [{ seed: 1.5 }, /seed must be/],
  ];
  for (const [options, message] of wrong) {
    await assert.rejects(startSandbox({ posts: 0, ...options }), (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, 'usage');
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /hush/);
      return true;
    });
  }
});
