import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UserWire } from '../../src/contract/entities.ts';
import { REFERENCE_TIME } from '../../src/sandbox/seed.ts';
import { World } from '../../src/sandbox/world.ts';
import { call, open, POSTS } from './client.ts';

function dump(options: ConstructorParameters<typeof World>[0]): string {
  const world = new World(options);
  try {
    return JSON.stringify([world.boards(), world.statuses(), world.users(), world.posts(), world.comments()]);
  } finally {
    world.close();
  }
}

test('the same seed and size give the same bytes, another seed or size gives others', async (t) => {
  // 1,001 posts are made anew each time; smaller worlds are copies of the first.
  for (const posts of [60, 1001]) {
    assert.equal(dump({ seed: 5, posts }), dump({ seed: 5, posts }));
    assert.notEqual(dump({ seed: 5, posts }), dump({ seed: 6, posts }));
  }
  const [one, two] = [await open(t, { seed: 9 }), await open(t, { seed: 9, paging: 'path' })];
  assert.deepEqual((await call(one, POSTS)).body, (await call(two, POSTS)).body);
});

test('a world that was changed does not change the next one of its seed', () => {
  const before = dump({ seed: 3, posts: 20 });
  const world = new World({ seed: 3, posts: 20 });
  world.deletePost(1);
  world.addPost();
  world.close();
  assert.equal(dump({ seed: 3, posts: 20 }), before);
});

test('the reference time moves the whole history', () => {
  const later = REFERENCE_TIME + 86_400_000;
  const world = new World({ posts: 50, referenceTime: later });
  const times = world.posts().map((post) => Date.parse(post.created));
  assert.ok(Math.max(...times) <= later && Math.max(...times) > later - 40 * 86_400_000);
  world.close();
});

test('the sample world is believable', () => {
  const world = new World({ posts: 2000 });
  const [posts, comments, users] = [world.posts(), world.comments(), world.users()];
  assert.equal(posts.length, 2000);
  assert.equal(world.boards().length, 6);
  assert.equal(new Set(world.statuses().map((status) => status.color)).size, 6);

  const titles = new Set(posts.map((post) => post.title));
  assert.ok(titles.size > 1980, `${titles.size} different titles`);
  assert.ok(
    posts.every((post) => post.title.length >= 15 && (post.content.match(/[.!?]/g) ?? []).length >= 2),
  );

  const votes = posts.map((post) => post.votes_count).sort((a, b) => a - b);
  assert.ok((votes[1000] ?? 0) <= 3 && (votes.at(-1) ?? 0) > 100, 'a long tail of votes');

  const counts = posts.map((post) => post.comments_count);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    comments.length,
  );
  assert.ok(counts.includes(0) && counts.includes(4));
  assert.ok(comments.every((comment) => comment.kind === 'reply' || comment.status !== null));
  assert.ok(comments.some((comment) => comment.kind !== 'reply'));
  for (const flag of ['internal', 'highlighted'] as const) assert.ok(comments.some((c) => c[flag]));

  assert.ok(users.some((user) => user.is_admin) && users.some((user) => user.is_team && !user.is_admin));
  assert.ok(users.every((user) => /@example\.(com|org|net)$/.test(user.email ?? '')));
  assert.equal(new Set(users.map((user) => user.email?.toLowerCase())).size, users.length);
  world.close();
});

test('nothing happens before it can: posts after their creators, comments after their posts', () => {
  const world = new World({ posts: 800 });
  const posts = new Map(world.posts().map((post) => [post.id, post]));
  const after = (created: string, creator: UserWire): boolean => created >= (creator.registered ?? '');
  for (const post of posts.values()) assert.ok(after(post.created, post.creator));
  for (const comment of world.comments()) {
    assert.ok(after(comment.created, comment.creator));
    assert.ok(comment.created >= (posts.get(comment.post.id)?.created ?? '9'), `comment ${comment.id}`);
  }
  const ordered = [...posts.values()].map((post) => post.created);
  assert.deepEqual(
    ordered,
    ordered.toSorted((a, b) => (a < b ? -1 : 1)),
  );
  const span = Date.parse(ordered.at(-1) ?? '') - Date.parse(ordered[0] ?? '');
  assert.ok(span > 600 * 86_400_000 && span < 731 * 86_400_000, 'about two years');
  world.close();
});

test('a history of sixty days has quiet weekends, answers within days and the statuses that were told', () => {
  const now = Date.parse('2026-03-18T12:00:00.000Z');
  const world = new World({ posts: 500, days: 60, referenceTime: now });
  const [posts, comments] = [world.posts(), world.comments()];
  const days = Map.groupBy(posts, ({ created }) => created.slice(0, 10));
  assert.ok(days.size >= 58 && (posts[0]?.created ?? '') > '2026-01-16', `${days.size} days`);
  const isWeekend = (day: string): boolean => [0, 6].includes(new Date(day).getUTCDay());
  const average = (wanted: boolean): number => {
    const sizes = [...days].filter(([day]) => isWeekend(day) === wanted).map(([, rows]) => rows.length);
    return sizes.reduce((sum, n) => sum + n, 0) / sizes.length;
  };
  assert.ok(average(false) > 2 * average(true), `${average(false)} against ${average(true)}`);
  const told = new Map(comments.flatMap(({ post, status }) => (status ? [[post.id, status] as const] : [])));
  assert.ok(told.size > 50);
  for (const { id, status } of posts) assert.deepEqual(status, told.get(id) ?? world.statuses()[0]);
  const created = new Map(posts.map((post) => [post.id, Date.parse(post.created)]));
  const waits = comments
    .filter(({ creator, kind }) => creator.is_team && kind === 'reply')
    .map((reply) => Date.parse(reply.created) - (created.get(reply.post.id) ?? 0))
    .sort((a, b) => a - b);
  assert.ok((waits[Math.floor(waits.length / 2)] ?? 0) < 3 * 86_400_000);
  world.close();
});
