import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { call, json, open, POSTS, type Problem } from './client.ts';

test('an unknown path is 404 as JSON, with or without a token', async (t) => {
  const sandbox = await open(t);
  for (const path of ['/', '/api/v1/', '/api/v1/posts', '/api/v2/posts/', '/b/bugs/', '/api/v1/posts/%ff/']) {
    for (const token of ['sandbox', null]) {
      const reply = await call(sandbox, path, { token });
      assert.ok(reply.status === 404 || (path.includes('%') && reply.status === 400), path);
      assert.equal(typeof json<Problem>(reply).detail, 'string');
    }
  }
});

test('a page that cannot be is 400 and names the parameter', async (t) => {
  const cases = [
    ['url', 'page', ['0', '-1', 'x', '1.5', '99999999999999999999', '']],
    ['offset', 'offset', ['-1', 'x', '99999999999999999999']],
    ['offset', 'limit', ['0', 'x']],
    ['cursor', 'cursor', ['', 'x', 'bnVsbA', Buffer.from('["f",["x"],0]').toString('base64url')]],
    ['cursor', 'cursor', [Buffer.from('["f",[1,2],0]').toString('base64url')]],
  ] as const;
  for (const [paging, parameter, values] of cases) {
    const sandbox = await open(t, { paging });
    for (const value of values) {
      const reply = await call(sandbox, `${POSTS}?${parameter}=${value}`);
      assert.equal(reply.status, 400, `${parameter}=${value}`);
      assert.deepEqual(Object.keys(json<Problem>(reply).errors ?? {}), [parameter]);
    }
  }
});

test('a port that is taken is refused in words', async (t) => {
  const sandbox = await open(t);
  const port = Number(new URL(sandbox.url).port);
  await assert.rejects(startSandbox({ posts: 0, port }), (error) => {
    assert.ok(error instanceof AppError);
    assert.match(
      error.message,
      new RegExp(`cannot listen on 127.0.0.1, port ${port}: another program does already`),
    );
    return error.code === 'usage';
  });
});

test('closing ends open connections at once, and can be asked for twice', async (t) => {
  const sandbox = await open(t);
  const idle = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
  const ended = new Promise<void>((resolve) =>
    idle.on('close', () => resolve()).on('error', () => undefined),
  );
  await new Promise<void>((resolve) => idle.on('connect', () => resolve()));
  await Promise.all([sandbox.close(), sandbox.close(), ended]);
  await assert.rejects(call(sandbox, POSTS));
});
