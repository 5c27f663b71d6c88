import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLife, startLife } from '../../src/sandbox/live.ts';
import { World } from '../../src/sandbox/world.ts';
import { fakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';
import { open } from './client.ts';

function live(seed: number, steps: number): { events: string[]; dump: string } {
  const world = new World({ posts: 40, clock: fakeClock() });
  const step = createLife(world, seed);
  const events = Array.from({ length: steps }, () => {
    const { what, id } = step();
    return `${what} ${id}`;
  });
  const dump = JSON.stringify([world.posts(), world.comments()]);
  world.close();
  return { events, dump };
}

test('life brings votes, posts, comments, status changes, moves and deletions, votes most of all', () => {
  const { events } = live(1, 600);
  const counts = Map.groupBy(events, (event) => event.replace(/ \d+$/, ''));
  const kinds = ['vote', 'post', 'comment', 'status', 'move', 'delete post', 'delete comment'];
  assert.deepEqual(new Set(counts.keys()), new Set(kinds));
  assert.ok((counts.get('vote')?.length ?? 0) > 300);
  assert.ok((counts.get('delete post')?.length ?? 0) < 30);
});

test('the same seed lives the same life', () => {
  assert.deepEqual(live(3, 100), live(3, 100));
  assert.notDeepEqual(live(3, 100).events, live(4, 100).events);
});

test('events continue in an empty world and after every post was deleted', () => {
  const world = new World({ posts: 0 });
  const step = createLife(world, 1);
  assert.equal(step().what, 'post');
  for (let n = 0; n < 50; n++) step();
  for (const post of world.posts()) world.deletePost(post.id);
  assert.equal(step().what, 'post');
  world.close();
});

test('each event is what it says', () => {
  const world = new World({ posts: 30 });
  const step = createLife(world, 2);
  for (let n = 0; n < 300; n++) {
    const before = [world.posts().length, world.comments().length];
    const { what, id } = step();
    const [posts = 0, comments = 0] = before;
    if (what === 'post') assert.equal(world.posts().length, posts + 1);
    if (what === 'comment') assert.equal(world.comments().length, comments + 1);
    if (what === 'status') assert.equal(world.comments().at(-1)?.kind, 'status_change');
    if (what === 'delete post') assert.throws(() => world.post(id));
    if (what === 'delete comment') assert.equal(world.comments().length, comments - 1);
  }
  world.close();
});

test('a living sandbox moves by its timer and stops with it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const sandbox = await open(t, { posts: 20, live: { everyMs: 1000 } });
  const before = JSON.stringify([sandbox.world.posts(), sandbox.world.comments()]);
  t.mock.timers.tick(999);
  assert.equal(JSON.stringify([sandbox.world.posts(), sandbox.world.comments()]), before);
  t.mock.timers.tick(5001);
  assert.notEqual(JSON.stringify([sandbox.world.posts(), sandbox.world.comments()]), before);
  await sandbox.close();
  t.mock.timers.tick(10_000);
});

test('events pause while the disk is full, and continue afterwards', async () => {
  const world = new World({ posts: 20 });
  world.db.pragma('query_only = ON');
  const stop = startLife(world, 1, { everyMs: 1 });
  const before = JSON.stringify(world.posts());
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  await until('many events had their turn', () => turns > 30);
  clearInterval(turning);
  assert.equal(JSON.stringify(world.posts()), before);
  world.db.pragma('query_only = OFF');
  await until('life goes on', () => JSON.stringify(world.posts()) !== before);
  stop();
  world.close();
});
