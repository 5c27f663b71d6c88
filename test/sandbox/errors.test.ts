import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { AS_USER, COMMENTS, CREATE, call, create, json, open, POSTS, type Problem } from './client.ts';

test('a create names every field that is missing, of a wrong type, blank or unknown', async (t) => {
  const sandbox = await open(t);
  const cases = [
    [CREATE, {}, ['board', 'title', 'content']],
    [AS_USER, {}, ['board', 'title', 'content', 'email', 'full_name']],
    [CREATE, { board: 'bugs', title: 'x' }, ['content']],
    [CREATE, { board: 1, title: null, content: ['x'] }, ['board', 'title', 'content']],
    [CREATE, { board: 'nope', title: ' \n', content: '' }, ['board', 'title']],
    [CREATE, { board: ' ', title: 'x', content: '' }, ['board']],
    [CREATE, { board: '/b/bugs/', title: 'x', content: '' }, ['board']],
    [CREATE, { board: 'bugs', title: 'x \ud800', content: '' }, ['title']],
    [AS_USER, { board: 'bugs', title: 'x', content: '', email: 'a', full_name: ' ' }, ['email', 'full_name']],
    [
      AS_USER,
      { board: 'bugs', title: 'x', content: '', email: 'a b@example.com', full_name: 'A' },
      ['email'],
    ],
  ] as const;
  for (const [path, body, fields] of cases) {
    const reply = await call(sandbox, path, { body });
    assert.equal(reply.status, 400);
    const { detail, errors = {} } = json<Problem>(reply);
    assert.equal(typeof detail, 'string');
    assert.deepEqual(Object.keys(errors), fields, JSON.stringify(body));
    for (const messages of Object.values(errors)) assert.equal(typeof messages[0], 'string');
  }
  assert.deepEqual(sandbox.world.ledger(), []);
});

test('a body that is no object names all fields as missing', async (t) => {
  const sandbox = await open(t);
  for (const body of [[], null, 'text', 7]) {
    const reply = await call(sandbox, CREATE, { body: JSON.stringify(body) });
    assert.equal(reply.status, 400);
    assert.deepEqual(Object.keys(json<Problem>(reply).errors ?? {}), ['board', 'title', 'content']);
  }
});

test('malformed JSON, broken UTF-8 and an empty body are 400', async (t) => {
  const sandbox = await open(t);
  for (const body of ['{"board":', '', '{"title":"\\', Buffer.from([0x22, 0xff, 0x22])]) {
    const reply = await call(sandbox, CREATE, { body });
    assert.equal(reply.status, 400);
    assert.equal(typeof json<Problem>(reply).detail, 'string');
  }
});

test('a body above the limit is 413 and one of another type is 415, both as JSON', async (t) => {
  const sandbox = await open(t);
  const large = await create(sandbox, { content: 'x'.repeat(1024 * 1024) });
  assert.equal(large.status, 413);
  assert.equal(typeof json<Problem>(large).detail, 'string');
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
    const reply = await create(sandbox, {}, { headers: { 'content-type': type } });
    assert.equal(reply.status, 415, type);
    assert.equal(typeof json<Problem>(reply).detail, 'string');
  }
  const charset = { 'content-type': 'application/json; charset=utf-8' };
  assert.equal((await create(sandbox, {}, { headers: charset })).status, 201);
});

test('a wrong method is 405 with the methods that are allowed', async (t) => {
  const sandbox = await open(t);
  const cases = [
    ['POST', POSTS, 'GET'],
    ['DELETE', COMMENTS, 'GET'],
    ['HEAD', POSTS, 'GET'],
    ['GET', CREATE, 'POST'],
    ['PUT', AS_USER, 'POST'],
  ] as const;
  for (const [method, path, allow] of cases) {
    const reply = await call(sandbox, path, { method });
    assert.equal(reply.status, 405, `${method} ${path}`);
    assert.equal(reply.headers.allow, allow);
  }
});

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
    assert.match(error.message, new RegExp(`cannot listen on 127.0.0.1:${port}`));
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
