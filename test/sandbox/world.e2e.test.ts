import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { decodePost } from '../../src/contract/decode.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { World } from '../../src/sandbox/world.ts';
import * as laboratory from '../laboratory/server.ts';
import { folderFor } from '../support/folder.ts';
import { call, comments, create, open, posts } from './client.ts';

function folder(t: TestContext): string {
  const path = folderFor(t, 'sandbox');
  return path;
}

test('every change shows in the next answer', async (t) => {
  const sandbox = await laboratory.startSandbox({ posts: 3 });
  t.after(() => sandbox.close());
  const { world } = sandbox;
  const post = world.addPost({ board: 'mobile', title: 'T', content: 'C', email: 'p@example.com', votes: 4 });
  world.editPost(post.id, { title: 'T2', content: 'C2', board: 'bugs' });
  world.vote(post.id, 3);
  world.vote(post.id, -1);
  world.setStatus(post.id, 3);
  const reply = world.addComment({ post: post.id, content: 'R', email: 'q@example.com', status: { any: 1 } });
  const second = world.addComment({ post: post.id });
  world.editComment(reply.id, { content: 'R2', likes: 5, highlighted: true, internal: true, kind: 'note' });
  world.editUser(post.creator.id, { name: 'New Name', is_team: true });

  const [shown] = (await posts(sandbox)).results;
  assert.ok(shown);
  assert.deepEqual(
    [shown.title, shown.content, shown.board.url, shown.url],
    ['T2', 'C2', '/b/bugs/', '/b/bugs/p/4/'],
  );
  assert.deepEqual([shown.votes_count, shown.status.name, shown.comments_count], [6, 'In progress', 2]);
  assert.deepEqual([shown.creator.name, shown.creator.is_team], ['New Name', true]);

  const [, edited] = (await comments(sandbox)).results;
  assert.ok(edited);
  assert.deepEqual([edited.content, edited.likes_count, edited.kind], ['R2', 5, 'note']);
  assert.deepEqual([edited.highlighted, edited.internal, edited.status], [true, true, { any: 1 }]);
  assert.deepEqual(edited.post, { id: post.id, title: 'T2', url: '/b/bugs/p/4/' });

  world.deleteComment(second.id);
  assert.equal((await posts(sandbox)).results[0]?.comments_count, 1);
});

test('deleting a post takes its comments along, and no id is ever given again', async (t) => {
  const sandbox = await open(t, { posts: 2 });
  const { world } = sandbox;
  const post = world.addPost();
  const comment = world.addComment({ post: post.id });
  assert.equal(world.deletePost(post.id), true);
  assert.equal(world.deletePost(post.id), false);
  assert.ok(!world.comments().some((row) => row.post.id === post.id));
  assert.equal(world.deleteComment(comment.id), false);
  const next = world.addPost();
  assert.equal(next.id, post.id + 1);
  assert.equal(world.addComment({ post: next.id }).id, comment.id + 1);
});

test('undocumented fields can be planted on posts, comments and people', async (t) => {
  const sandbox = await laboratory.startSandbox({ posts: 1 });
  t.after(() => sandbox.close());
  const { world } = sandbox;
  const post = world.addPost({ extra: { eta: '2031', nested: { deep: [1] } } });
  world.editUser(post.creator.id, { extra: { plan: 'gold' } });
  const comment = world.addComment({ post: post.id, extra: { mood: null } });
  const [shown] = (await posts(sandbox)).results;
  const decoded = decodePost(shown);
  assert.ok(decoded.ok);
  assert.equal(decoded.row.extra, '{"eta":"2031","nested":{"deep":[1]}}');
  assert.equal(decoded.row.creator.extra, '{"plan":"gold"}');
  assert.equal(Reflect.get((await comments(sandbox)).results[0] ?? {}, 'mood'), null);
  world.editPost(post.id, { extra: null });
  world.editComment(comment.id, { extra: { likes_count: 'many' } });
  assert.ok(!Object.hasOwn((await posts(sandbox)).results[0] ?? {}, 'eta'));
  assert.equal((await comments(sandbox)).results[0]?.likes_count, 'many');
});

test('what is not there cannot be changed', () => {
  const world = new World({ posts: 1 });
  assert.throws(() => world.vote(99), /no post 99/);
  assert.throws(() => world.editPost(99, { title: 'x' }), /no row 99 in posts/);
  assert.throws(() => world.editPost(1, { board: 'nope' }), /no board nope/);
  assert.throws(() => world.setStatus(1, 99), /no status 99/);
  assert.throws(() => world.addComment({ post: 99 }), /no post 99/);
  world.close();
});

test('a restart on the same file keeps everything and does not seed again', async (t) => {
  const path = folder(t);
  const data = join(path, 'sandbox.db');
  const first = await startSandbox({ data, posts: 20, seed: 4 });
  await create(first, { title: 'Kept' });
  first.world.deletePost(2);
  first.world.addComment({ post: 3, content: 'Kept as well' });
  const before = [first.world.posts(), first.world.comments(), first.world.users()];
  await first.close();
  assert.deepEqual(readdirSync(path), ['sandbox.db']);

  const second = await open(t, { data, posts: 500, seed: 99 });
  const { world } = second;
  assert.deepEqual([world.posts(), world.comments(), world.users()], before);
  assert.equal((await call(second, '/api/v1/posts/?search=kept')).status, 200);
  await create(second);
  assert.equal(world.posts().at(-1)?.id, 22);
});

test('a data file has the same world as memory has', (t) => {
  const file = new World({ data: join(folder(t), 'a.db'), posts: 30 });
  const memory = new World({ posts: 30 });
  assert.deepEqual([file.posts(), file.comments()], [memory.posts(), memory.comments()]);
  file.close();
  memory.close();
});

test('a file of something else is refused and left alone', async (t) => {
  const path = folder(t);
  const other = join(path, 'other.db');
  writeFileSync(other, 'This is not a database, and it is long enough to be looked at as one.'.repeat(20));
  await assert.rejects(startSandbox({ data: other }), (error) => {
    assert.ok(error instanceof AppError);
    return error.code === 'usage' && /is not a data file of the sandbox/.test(error.message);
  });
  await assert.rejects(startSandbox({ data: join(path, 'no', 'such.db') }), (error) => {
    assert.ok(error instanceof AppError);
    return error.code === 'usage' && /cannot open .*such\.db/.test(error.message);
  });
});

test('a start that was cut off while filling leaves no half-filled world', (t) => {
  const data = join(folder(t), 'sandbox.db');
  writeFileSync(`${data}.filling`, 'left over');
  const world = new World({ data, posts: 5 });
  assert.equal(world.posts().length, 5);
  world.close();
});
