import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { AS_USER, COMMENTS, CREATE, call, create, json, open, POSTS, type Problem } from './client.ts';

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

test('settings that cannot work are refused in words, and never name the token', async () => {
  const wrong: [SandboxOptions, RegExp][] = [
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
