import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDateTime } from '../../src/contract/datetime.ts';
import { decodeComment, decodePost } from '../../src/contract/decode.ts';
import { AS_USER, call, comments, create, json, POSTS, posts } from '../sandbox/client.ts';
import { SERVERS } from './servers.ts';

interface Created {
  status: string;
  post_id: number;
  url: string;
}

for (const server of SERVERS) {
  test(`${server.name}: the posts list answers an envelope of posts that the contract decodes`, async (t) => {
    const api = await server.open(t);
    const reply = await call(api, POSTS);
    assert.equal(reply.status, 200);
    assert.match(String(reply.headers['content-type']), /^application\/json/);
    const page = await posts(api);
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

  test(`${server.name}: the comments list answers an envelope of comments with microseconds and a Z`, async (t) => {
    const api = await server.open(t, { posts: 40 });
    const { results } = await comments(api);
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

  test(`${server.name}: a create as the owner shows in the list, on the board and under the name of the owner`, async (t) => {
    const api = await server.open(t);
    const reply = await create(api, { board: 'mobile', title: 'Night mode', content: '' });
    assert.equal(reply.status, 201);
    const created = json<Created>(reply);
    assert.equal(created.status, 'Success');
    const row = (await posts(api)).results[0];
    assert.ok(row);
    assert.equal(row.id, created.post_id);
    assert.equal(created.url, api.upstream + row.url);
    assert.deepEqual([row.title, row.content, row.board.url], ['Night mode', '', '/b/mobile/']);
    assert.deepEqual([row.creator.email, row.creator.is_admin], ['owner@example.com', true]);
  });

  test(`${server.name}: a create for a new customer makes the customer, and the next one reuses it in any case`, async (t) => {
    const api = await server.open(t);
    const post = {
      board: 'bugs',
      title: 'One',
      content: 'x',
      email: 'New.Person@Example.com',
      full_name: 'New Person',
    };
    const before = api.world.users().length;
    assert.equal((await call(api, AS_USER, { body: post })).status, 201);
    const again = { ...post, title: 'Two', email: 'new.person@example.COM', full_name: 'Another Name' };
    assert.equal((await call(api, AS_USER, { body: again })).status, 201);
    assert.equal(api.world.users().length, before + 1);
    const [two, one] = (await posts(api)).results;
    assert.equal(two?.creator.id, one?.creator.id);
    assert.deepEqual([two?.creator.name, two?.creator.email], ['New Person', 'New.Person@Example.com']);
    assert.deepEqual([two?.creator.is_admin, two?.creator.is_team], [false, false]);
  });
}
