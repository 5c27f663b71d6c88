import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, create, json, POSTS, posts } from '../sandbox/client.ts';
import { SERVERS } from './servers.ts';

function searchFor(text: string): string {
  return `${POSTS}?search=${encodeURIComponent(text)}`;
}

for (const server of SERVERS) {
  test(`${server.name}: search finds posts by words of title and content, the title weighing more`, async (t) => {
    const api = await server.open(t, { posts: 0 });
    const content = api.world.addPost({ title: 'Something else', content: 'The zeppelin is late.' });
    const title = api.world.addPost({
      title: 'A zeppelin',
      content: 'It is about something else entirely.',
    });
    api.world.addPost({ title: 'Nothing of the kind', content: 'At all.' });
    const found = await posts(api, searchFor('zeppelin'));
    assert.deepEqual(found, { next: null, previous: null, results: [title, content] });
    assert.deepEqual((await posts(api, searchFor('ZEPPELINS late'))).results, [content]);
  });

  test(`${server.name}: search answers at most fifty posts and never a page`, async (t) => {
    const api = await server.open(t, { posts: 0, pageSize: 5 });
    for (let n = 0; n < 60; n++) api.world.addPost({ title: `Zeppelin number ${n}` });
    const found = await posts(api, searchFor('zeppelin'));
    assert.equal(found.results.length, 50);
    assert.deepEqual([found.next, found.previous], [null, null]);
  });

  test(`${server.name}: search follows creates, edits and deletions at once`, async (t) => {
    const api = await server.open(t);
    const count = async (text: string): Promise<number> => (await posts(api, searchFor(text))).results.length;
    await create(api, { title: 'Zeppelin', content: 'x' });
    assert.equal(await count('zeppelin'), 1);
    api.world.editPost(13, { title: 'Submarine' });
    assert.deepEqual([await count('zeppelin'), await count('submarine')], [0, 1]);
    api.world.deletePost(13);
    assert.equal(await count('submarine'), 0);
  });

  test(`${server.name}: nothing of the search language reaches the index`, async (t) => {
    const api = await server.open(t);
    const hostile = [
      '"',
      '""',
      "'",
      '*',
      'a*',
      'NEAR(a b, 2)',
      'title:x',
      'AND',
      'OR OR',
      'NOT x',
      '-x',
      '^x',
      '(',
      ')',
      '{title} : x',
      'a AND',
      '\0',
      'a\0b',
      '%',
      '_',
      '; DROP TABLE posts; --',
      '\u{1F600}',
      '\u0301',
      '#',
      '+',
      'x '.repeat(2000),
    ];
    for (const text of hostile) {
      const reply = await call(api, searchFor(text));
      assert.equal(reply.status, 200, JSON.stringify(text));
      assert.ok(Array.isArray(json<{ results: unknown }>(reply).results));
    }
    for (const raw of ['%ff%fe', '%', '%00', '%ed%a0%80']) {
      assert.equal((await call(api, `${POSTS}?search=${raw}x`)).status, 200, raw);
    }
  });
}
