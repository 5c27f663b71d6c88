import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AS_USER, COMMENTS, CREATE, call, create, json, POSTS, type Problem } from '../sandbox/client.ts';
import { SERVERS } from './servers.ts';

for (const server of SERVERS) {
  test(`${server.name}: a create names every field that is missing, of a wrong type, blank or unknown`, async (t) => {
    const api = await server.open(t);
    const cases = [
      [CREATE, {}, ['board', 'title', 'content']],
      [AS_USER, {}, ['board', 'title', 'content', 'email', 'full_name']],
      [CREATE, { board: 'bugs', title: 'x' }, ['content']],
      [CREATE, { board: 1, title: null, content: ['x'] }, ['board', 'title', 'content']],
      [CREATE, { board: 'nope', title: ' \n', content: '' }, ['board', 'title']],
      [CREATE, { board: ' ', title: 'x', content: '' }, ['board']],
      [CREATE, { board: '/b/none/', title: 'x', content: '' }, ['board']],
      [CREATE, { board: 'bugs', title: 'x \ud800', content: '' }, ['title']],
      [
        AS_USER,
        { board: 'bugs', title: 'x', content: '', email: 'a', full_name: ' ' },
        ['email', 'full_name'],
      ],
      [
        AS_USER,
        { board: 'bugs', title: 'x', content: '', email: 'a b@example.com', full_name: 'A' },
        ['email'],
      ],
    ] as const;
    for (const [path, body, fields] of cases) {
      const reply = await call(api, path, { body });
      assert.equal(reply.status, 400);
      const { detail, errors = {} } = json<Problem>(reply);
      assert.equal(typeof detail, 'string');
      assert.deepEqual(Object.keys(errors), fields, JSON.stringify(body));
      for (const messages of Object.values(errors)) assert.equal(typeof messages[0], 'string');
    }
    assert.deepEqual(api.world.ledger(), []);
  });

  test(`${server.name}: a body that is no object names all fields as missing`, async (t) => {
    const api = await server.open(t);
    for (const body of [[], null, 'text', 7]) {
      const reply = await call(api, CREATE, { body: JSON.stringify(body) });
      assert.equal(reply.status, 400);
      assert.deepEqual(Object.keys(json<Problem>(reply).errors ?? {}), ['board', 'title', 'content']);
    }
  });

  test(`${server.name}: malformed JSON, broken UTF-8 and an empty body are 400`, async (t) => {
    const api = await server.open(t);
    for (const body of ['{"board":', '', '{"title":"\\', Buffer.from([0x22, 0xff, 0x22])]) {
      const reply = await call(api, CREATE, { body });
      assert.equal(reply.status, 400);
      assert.equal(typeof json<Problem>(reply).detail, 'string');
    }
  });

  test(`${server.name}: a body above the limit is 413 and one of another type is 415, both as JSON`, async (t) => {
    const api = await server.open(t);
    const large = await create(api, { content: 'x'.repeat(1024 * 1024) });
    assert.equal(large.status, 413);
    assert.equal(typeof json<Problem>(large).detail, 'string');
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const reply = await create(api, {}, { headers: { 'content-type': type } });
      assert.equal(reply.status, 415, type);
      assert.equal(typeof json<Problem>(reply).detail, 'string');
    }
    const charset = { 'content-type': 'application/json; charset=utf-8' };
    assert.equal((await create(api, {}, { headers: charset })).status, 201);
  });

  test(`${server.name}: a wrong method is 405 with the methods that are allowed`, async (t) => {
    const api = await server.open(t);
    const cases = [
      ['POST', POSTS, 'GET'],
      ['DELETE', COMMENTS, 'GET'],
      ['HEAD', POSTS, 'GET'],
      ['GET', CREATE, 'POST'],
      ['PUT', AS_USER, 'POST'],
    ] as const;
    for (const [method, path, allow] of cases) {
      const reply = await call(api, path, { method });
      assert.equal(reply.status, 405, `${method} ${path}`);
      assert.equal(reply.headers.allow, allow);
    }
  });
}
