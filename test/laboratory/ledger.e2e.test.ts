import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { AS_USER, call, create, json, open, POSTS, posts } from './client.ts';
import { startSandbox } from './server.ts';

test('the ledger has every create that took effect, and nothing else', async (t) => {
  const clock = fakeClock();
  const now = clock.now();
  const sandbox = await open(t, { clock });
  await create(sandbox, { title: 'Mine' });
  await create(sandbox, { title: '' });
  const body = { board: 'mobile', title: 'Theirs', content: 'x', email: 'A@example.com', full_name: 'A' };
  await call(sandbox, AS_USER, { body });
  sandbox.world.addPost({ title: 'Not through the API' });
  const times = { received_at: now, committed_at: now, visible_at: now, answered: 'yes', rewritten: '' };
  const entries = sandbox.world.ledger().map(({ identity, ...entry }) => entry);
  assert.deepEqual(entries, [
    {
      post_id: 13,
      board: 'bugs',
      title: 'Mine',
      content: 'Some content.',
      email: 'owner@example.com',
      ...times,
    },
    { post_id: 14, board: 'mobile', title: 'Theirs', content: 'x', email: 'A@example.com', ...times },
  ]);
});

test('a late commit is answered 504 at once and takes effect when its time has come', async (t) => {
  const clock = fakeClock();
  const start = clock.now();
  const sandbox = await open(t, { clock, posts: 0, faults: 'late-commit ms=5000' });
  assert.equal((await create(sandbox, { title: 'Late' })).status, 504);
  clock.advance(4999);
  assert.deepEqual([(await posts(sandbox)).results.length, sandbox.world.ledger().length], [0, 0]);
  clock.advance(3000);
  const [late] = (await posts(sandbox)).results;
  assert.equal(late?.title, 'Late');
  assert.equal(Date.parse(late?.created ?? ''), start + 5000);
  const [entry] = sandbox.world.ledger();
  assert.deepEqual(
    [entry?.received_at, entry?.committed_at, entry?.answered],
    [start, start + 5000, 'error'],
  );
  assert.deepEqual(sandbox.faults.fired(), { 'late-commit': 1 });
});

test('a late commit can also be met with another status, a reset or silence', async (t) => {
  const clock = fakeClock();
  const sandbox = await open(t, { clock, posts: 0 });
  sandbox.faults.set('late-commit ms=10 code=500');
  assert.equal((await create(sandbox)).status, 500);
  sandbox.faults.set('late-commit ms=10 answer=reset');
  await assert.rejects(create(sandbox), { code: 'ECONNRESET' });
  clock.advance(10);
  assert.deepEqual(
    sandbox.world.ledger().map((entry) => entry.answered),
    ['error', 'no'],
  );
});

test('a late commit in silence leaves the client waiting until it is closed', async (t) => {
  const clock = fakeClock();
  const arrival = Promise.withResolvers<void>();
  const beforeRequest = (): void => arrival.resolve();
  const sandbox = await open(t, { clock, posts: 0, faults: 'late-commit ms=10 answer=hang', beforeRequest });
  const silent = assert.rejects(create(sandbox));
  await arrival.promise;
  // Another whole exchange on the same loop: by then the create has been taken in.
  await call(sandbox, POSTS);
  clock.advance(10);
  assert.deepEqual(
    sandbox.world.ledger().map((entry) => entry.answered),
    ['no'],
  );
  await sandbox.close();
  await silent;
});

test('a refused create is not committed late', async (t) => {
  const clock = fakeClock();
  const sandbox = await open(t, { clock, posts: 0, faults: 'late-commit ms=10' });
  assert.equal((await create(sandbox, { title: '' })).status, 400);
  clock.advance(100);
  assert.deepEqual(sandbox.world.posts(), []);
  assert.deepEqual(sandbox.faults.fired(), { 'late-commit': 0 });
});

test('a post that shows late is in no list and no search until then', async (t) => {
  const clock = fakeClock();
  const sandbox = await open(t, { clock, posts: 3, faults: 'late-visible ms=5000 nth=1' });
  const reply = await create(sandbox, { title: 'Zeppelin' });
  assert.equal(reply.status, 201);
  const { post_id: id } = json<{ post_id: number }>(reply);
  const shown = async (): Promise<boolean[]> => [
    (await posts(sandbox)).results.some((row) => row.id === id),
    (await posts(sandbox, `${POSTS}?search=zeppelin`)).results.length > 0,
    sandbox.world.posts().some((row) => row.id === id),
  ];
  await create(sandbox, { title: 'At once' });
  assert.deepEqual(await shown(), [false, false, false]);
  assert.equal((await posts(sandbox)).results[0]?.title, 'At once');
  const [entry] = sandbox.world.ledger();
  assert.equal(entry?.visible_at, clock.now() + 5000);
  clock.advance(5000);
  assert.deepEqual(await shown(), [true, true, true]);
});

test('both kinds of lateness add up, and a restart forgets neither', async (t) => {
  const folder = folderFor(t, 'sandbox');
  const data = join(folder, 'sandbox.db');
  const clock = fakeClock();
  const start = clock.now();
  const first = await startSandbox({
    data,
    clock,
    posts: 0,
    faults: 'late-commit ms=1000; late-visible ms=500',
  });
  assert.equal((await create(first)).status, 504);
  await first.close();
  const second = await open(t, { data, clock });
  assert.deepEqual(second.world.ledger(), []);
  clock.advance(1000);
  assert.equal(second.world.ledger()[0]?.visible_at, start + 1500);
  assert.equal((await posts(second)).results.length, 0);
  clock.advance(500);
  assert.equal((await posts(second)).results.length, 1);
});

test('the ledger tells how each create was answered', async (t) => {
  const sandbox = await open(t, { posts: 0 });
  const ways = [
    ['', 'yes'],
    ['drip ms=0 bytes=40', 'yes'],
    ['status-after', 'error'],
    ['reset-after', 'no'],
    ['hang-after ms=1', 'no'],
    ['cut', 'partial'],
    ['no-id', 'partial'],
    ['bad-json', 'partial'],
    ['html', 'partial'],
  ] as const;
  for (const [spec] of ways) {
    sandbox.faults.set(spec);
    await create(sandbox).catch(() => undefined);
  }
  assert.deepEqual(
    sandbox.world.ledger().map((entry) => entry.answered),
    ways.map(([, answered]) => answered),
  );
});

test('faults before a create takes effect leave no trace of it', async (t) => {
  const sandbox = await open(t, { posts: 0 });
  for (const spec of [
    'reset',
    'status code=503',
    'throttle',
    'hang ms=1',
    'redirect',
    'unauthorised',
    'forbidden',
  ]) {
    sandbox.faults.set(spec);
    await create(sandbox).catch(() => undefined);
  }
  assert.deepEqual([sandbox.world.ledger(), sandbox.world.posts()], [[], []]);
});
