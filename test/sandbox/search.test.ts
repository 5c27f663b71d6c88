import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { searchPosts } from '../../src/sandbox/search.ts';
import { World } from '../../src/sandbox/world.ts';
import { call, create, json, open, POSTS, posts } from './client.ts';

function target(text: string): string {
  return `${POSTS}?search=${encodeURIComponent(text)}`;
}

test('search finds posts by words of title and content, the title weighing more', async (t) => {
  const sandbox = await open(t, { posts: 0 });
  const content = sandbox.world.addPost({ title: 'Something else', content: 'The zeppelin is late.' });
  const title = sandbox.world.addPost({
    title: 'A zeppelin',
    content: 'It is about something else entirely.',
  });
  sandbox.world.addPost({ title: 'Nothing of the kind', content: 'At all.' });
  const found = await posts(sandbox, target('zeppelin'));
  assert.deepEqual(found, { next: null, previous: null, results: [title, content] });
  assert.deepEqual((await posts(sandbox, target('ZEPPELINS late'))).results, [content]);
});

test('search answers at most fifty posts and never a page', async (t) => {
  const sandbox = await open(t, { posts: 0, pageSize: 5 });
  for (let n = 0; n < 60; n++) sandbox.world.addPost({ title: `Zeppelin number ${n}` });
  const found = await posts(sandbox, `${target('zeppelin')}&page=2`);
  assert.equal(found.results.length, 50);
  assert.deepEqual([found.next, found.previous], [null, null]);
});

test('search can answer a bare array', async (t) => {
  const sandbox = await open(t, { searchShape: 'array' });
  sandbox.world.addPost({ title: 'Zeppelin' });
  const found = json(await call(sandbox, target('zeppelin')));
  assert.ok(Array.isArray(found));
  assert.equal(found.length, 1);
});

test('search follows creates, edits and deletions at once', async (t) => {
  const sandbox = await open(t);
  const count = async (text: string): Promise<number> => (await posts(sandbox, target(text))).results.length;
  await create(sandbox, { title: 'Zeppelin', content: 'x' });
  assert.equal(await count('zeppelin'), 1);
  sandbox.world.editPost(13, { title: 'Submarine' });
  assert.deepEqual([await count('zeppelin'), await count('submarine')], [0, 1]);
  sandbox.world.deletePost(13);
  assert.equal(await count('submarine'), 0);
});

test('a blank search is the plain list', async (t) => {
  const sandbox = await open(t, { pageSize: 5 });
  assert.equal((await posts(sandbox, target('  '))).results.length, 5);
  assert.equal(sandbox.requests.at(-1)?.operation, 'listPosts');
});

test('nothing of the search language reaches the index', async (t) => {
  const sandbox = await open(t);
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
    const reply = await call(sandbox, target(text));
    assert.equal(reply.status, 200, JSON.stringify(text));
    assert.ok(Array.isArray(json<{ results: unknown }>(reply).results));
  }
  for (const raw of ['%ff%fe', '%', '%00', '%ed%a0%80']) {
    assert.equal((await call(sandbox, `${POSTS}?search=${raw}x`)).status, 200, raw);
  }
});

test('any text at all is a safe search', () => {
  const world = new World({ posts: 30 });
  const anything = fc.string({ unit: 'binary', maxLength: 40 });
  const mixed = fc.array(fc.oneof(anything, fc.constantFrom('"', '*', 'AND', 'NEAR(', 'title:', 'to')));
  fc.assert(
    fc.property(mixed, (parts) => {
      assert.ok(Array.isArray(searchPosts(world.db, parts.join(' '), world.scope(null))));
    }),
    { numRuns: 500, seed: 7 },
  );
  world.close();
});
