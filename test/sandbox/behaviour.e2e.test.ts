import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PostWire } from '../../src/contract/entities.ts';
import { USER_FIELDS } from '../../src/sandbox/behaviour.ts';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/server.ts';
import { fakeClock } from '../support/clock.ts';
import { AS_USER, COMMENTS, call, comments, create, follow, json, open, POSTS, posts } from './client.ts';

const ADA = { board: 'bugs', title: 'Theirs', content: 'x', email: 'ada+news@example.com', full_name: 'Ada' };

async function stored(sandbox: Sandbox, body: object): Promise<PostWire> {
  const reply = await call(sandbox, AS_USER, { body });
  assert.equal(reply.status, 201);
  return sandbox.world.post(json<{ post_id: number }>(reply).post_id);
}

function ids(page: { results: { id: number }[] }): number[] {
  return page.results.map((row) => row.id);
}

test('folded addresses belong to one person, and the ledger keeps the one that was given', async (t) => {
  const sandbox = await open(t, { posts: 0, foldAddresses: true });
  const [one, two] = [
    await stored(sandbox, ADA),
    await stored(sandbox, { ...ADA, email: 'Ada@example.com' }),
  ];
  assert.equal(one.creator.email, 'ada@example.com');
  assert.equal(two.creator.id, one.creator.id);
  assert.equal(sandbox.world.ledger()[0]?.email, 'ada+news@example.com');
});

test('the owner of the token can be shown as the creator of a post for a customer', async (t) => {
  const sandbox = await open(t, { posts: 0, creator: 'owner' });
  assert.equal((await stored(sandbox, ADA)).creator.email, 'owner@example.com');
  assert.equal(sandbox.world.ledger()[0]?.email, 'ada+news@example.com');
});

test('the id of a board is taken where that is allowed, and refused otherwise', async (t) => {
  assert.equal((await create(await open(t), { board: '2' })).status, 400);
  const sandbox = await open(t, { boardIds: true });
  const { url } = json<{ url: string }>(await create(sandbox, { board: '2' }));
  assert.match(url, /\/b\/bugs\/p\/13\/$/);
  assert.equal((await create(sandbox, { board: '99' })).status, 400);
});

test('new posts can be put on another board, all of them or a share', async (t) => {
  const boardsOf = async (movePosts: number): Promise<string[]> => {
    const sandbox = await open(t, { posts: 0, movePosts });
    for (let n = 0; n < 40; n++) await create(sandbox);
    assert.ok(sandbox.world.ledger().every(({ board }) => board === 'bugs'));
    return sandbox.world.posts().map(({ board }) => board.url);
  };
  assert.ok((await boardsOf(1)).every((url) => url !== '/b/bugs/'));
  const moved = (await boardsOf(0.3)).filter((url) => url !== '/b/bugs/').length;
  assert.ok(moved > 4 && moved < 20, `${moved} of 40`);
});

test('a new post can say that it was made on that day, in that second, or hours ago', async (t) => {
  const at = Date.parse('2026-03-04T05:06:07.891Z');
  const forms: [SandboxOptions['created'], string][] = [
    ['exact', '2026-03-04T05:06:07.891000Z'],
    ['second', '2026-03-04T05:06:07.000000Z'],
    ['day', '2026-03-04T00:00:00.000000Z'],
    [2 * 3_600_000, '2026-03-04T03:06:07.891000Z'],
  ];
  for (const [created, expected] of forms) {
    const sandbox = await open(t, { posts: 0, created, clock: fakeClock(at) });
    await create(sandbox);
    assert.equal(sandbox.world.posts()[0]?.created, expected);
  }
});

test('the ledger tells by identity which creates asked for the same', async (t) => {
  const sandbox = await open(t, { posts: 0, rewrite: ['capitalise-first'], faults: 'status-after nth=1' });
  await create(sandbox, { title: 'dark mode' });
  await create(sandbox, { title: 'dark mode' });
  await create(sandbox, { title: 'Dark mode' });
  const [one, two, three] = sandbox.world.ledger();
  assert.deepEqual([one?.title, one?.rewritten, three?.rewritten], ['dark mode', 'capitalise-first', '']);
  assert.equal(one?.identity, two?.identity);
  assert.notEqual(one?.identity, three?.identity);
  assert.ok(sandbox.world.posts().every(({ title }) => title === 'Dark mode'));
});

test('by activity, what was voted, commented, edited or moved last comes first', async (t) => {
  const sandbox = await open(t, { posts: 5, order: 'activity' });
  const { world } = sandbox;
  assert.deepEqual(ids(await posts(sandbox)), [5, 4, 3, 2, 1]);
  world.vote(2);
  world.addComment({ post: 4 });
  world.editPost(1, { title: 'New' });
  world.addPost();
  assert.deepEqual(ids(await posts(sandbox)), [6, 1, 4, 2, 5, 3]);
  world.setStatus(3, 2);
  world.editPost(5, { board: 'mobile' });
  assert.deepEqual(ids(await posts(sandbox)), [5, 3, 6, 1, 4, 2]);
  const [, , second] = ids(await comments(sandbox));
  world.editComment(second ?? 0, { likes: 9 });
  assert.equal(ids(await comments(sandbox))[0], second);
});

test('in random order each request has its own, and a walk may miss rows', async (t) => {
  const sandbox = await open(t, { posts: 40, pageSize: 20, paging: 'number', order: 'random' });
  const first = ids(await posts(sandbox));
  assert.notDeepEqual(ids(await posts(sandbox)), first);
  const second = ids(await posts(sandbox, follow(POSTS, 2)));
  assert.equal(second.length, 20);
  assert.ok(new Set([...first, ...second]).size < 40);
});

test('the posts list can write times in another form than the comments list', async (t) => {
  const forms = {
    micro: /\.\d{6}Z$/,
    milli: /:\d\d\.\d{3}Z$/,
    second: /T[\d:]{8}Z$/,
    offset: /\d{6}\+00:00$/,
  };
  const sandbox = await open(t, { posts: 3 });
  const [plain] = (await posts(sandbox)).results;
  for (const [form, pattern] of Object.entries(forms)) {
    sandbox.world.behaviour.postTimes = form as keyof typeof forms;
    const [post] = (await posts(sandbox)).results;
    for (const time of [post?.created, post?.creator.registered]) assert.match(time ?? '', pattern);
    assert.equal(Math.floor(Date.parse(post?.created ?? '') / 1000), seconds(plain?.created));
    assert.deepEqual(sandbox.world.posts().at(-1), post);
    for (const { creator } of (await comments(sandbox)).results)
      assert.match(creator.registered ?? '', forms.micro);
  }
});

function seconds(time = ''): number {
  return Math.floor(Date.parse(time) / 1000);
}

test('the comments list can show each field of people otherwise', async (t) => {
  const sandbox = await open(t, { posts: 1 });
  const user = sandbox.world.users()[0];
  assert.ok(user?.is_admin);
  sandbox.world.addComment({ post: 1, email: user.email ?? '' });
  for (const field of USER_FIELDS) {
    sandbox.world.behaviour.commentUsers = [field];
    const [comment] = (await comments(sandbox, COMMENTS)).results;
    const names = Object.keys(comment?.creator ?? {});
    assert.deepEqual(
      names.filter((name) => Reflect.get(comment?.creator ?? {}, name) !== Reflect.get(user, name)),
      [field === 'extra' ? 'badge' : field],
    );
  }
});
