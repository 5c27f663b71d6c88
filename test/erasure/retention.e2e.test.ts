import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { aComment, aPost, iso, minute } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';
import { allRows, type ErasureBench, openBench } from './bench.ts';

const HOUR = 3_600_000;
const gone = { ...wire.user, id: 1, email: 'gone@planted.example', name: 'Gone Zqname', alias: 'zqalias' };
const stays = { ...wire.user, id: 2, email: 'stays@example.com', name: 'Stays' };

const POSTS = [
  aPost(1, { creator: gone, title: 'zqfirst', content: 'zqwords', url: '/zqurl', mood: 'zqfield' }),
  aPost(2, { creator: stays, title: 'zqsecond', content: 'zqmore' }),
  aPost(3, { creator: stays, title: 'Kept', content: 'Kept words' }),
];
const COMMENTS = [
  aComment(1, { creator: gone, content: 'zqreply', post: { id: 1, title: 'zqfirst', url: '/zqurl' } }),
  aComment(2, { creator: stays, content: 'Kept reply', post: { id: 3, title: 'Kept', url: '/p' } }),
];
const PLANTED = [
  'zqfirst',
  'zqwords',
  'zqsecond',
  'zqmore',
  'zqurl',
  'zqfield',
  'zqreply',
  'Gone Zqname',
  'zqalias',
  'gone@planted',
];

/** Posts 1 and 2 and comment 1 are seen in minutes 0 and 10 (with other words), and deleted in minute 60. */
async function withDeletions(t: TestContext): Promise<ErasureBench> {
  const bench = await openBench(t);
  const earlier = POSTS.map((post) => ({ ...post, content: `${post.content} earlier` }));
  await sweep(bench.store, 'posts', earlier, 0);
  while (await bench.store.index());
  await sweep(bench.store, 'comments', COMMENTS, 0);
  await sweep(bench.store, 'posts', POSTS, 10);
  await sweep(bench.store, 'posts', POSTS.slice(2), 60);
  await sweep(bench.store, 'comments', COMMENTS.slice(1), 60);
  return bench;
}

const NOTHING = { posts: 0, comments: 0, outbox: 0, users: 0, compacted: false };

describe('rows that were deleted', () => {
  it('keep their words until their time is up, to the millisecond', async (t) => {
    const bench = await withDeletions(t);
    const before = allRows(bench.path);
    assert.deepEqual(await bench.expire('never', 100_000), NOTHING);
    assert.deepEqual(await bench.expire(HOUR + 1, 120), NOTHING);
    assert.deepEqual(allRows(bench.path), before);
    const done = await bench.expire(HOUR, 120);
    assert.deepEqual(done, { posts: 2, comments: 1, outbox: 0, users: 1, compacted: true });
  });

  it('that are dated in the future, by a clock that was ahead, are kept for their time from now on', async (t) => {
    const bench = await withDeletions(t);
    const told = `SELECT type, id FROM changes WHERE at = '${iso(30)}' ORDER BY type, id`;
    assert.deepEqual(await bench.expire(HOUR, 30), NOTHING);
    assert.deepEqual(
      bench.query<{ type: string; id: number }>(told).map(({ type, id }) => `${type} ${id}`),
      ['comment.updated 1', 'post.updated 1', 'post.updated 2'],
    );
    assert.deepEqual(await bench.expire(HOUR, 89), NOTHING);
    const done = await bench.expire(HOUR, 90);
    assert.deepEqual(done, { posts: 2, comments: 1, outbox: 0, users: 1, compacted: true });
  });

  it('keep their deletion time while the clock is behind, so that they are not erased early', async (t) => {
    const bench = await withDeletions(t);
    assert.deepEqual(await bench.expire(HOUR, -60 * 24 * 40), NOTHING);
    assert.deepEqual(await bench.expire(HOUR, 119), NOTHING);
    assert.equal((await bench.expire(HOUR, 120)).posts, 2);
  });

  it('lose them at once where nothing is to be kept, in every file, with the people of whom nothing else is left', async (t) => {
    const bench = await withDeletions(t);
    const [sent = 0] = await bench.accept({
      email: gone.email,
      full_name: 'Gone Zqname',
      title: 'zqfirst',
      content: 'zqwords',
    });
    const [now, arrow] = [minute(61), TRANSITIONS.found] as const;
    await bench.outbox.move(sent, arrow, { now, postId: 1, url: '/zqurl' });
    assert.deepEqual(await bench.expire(0, 61), {
      posts: 2,
      comments: 1,
      outbox: 1,
      users: 1,
      compacted: true,
    });
    assert.deepEqual(bench.found(PLANTED), []);
    assert.deepEqual(bench.query('SELECT id, name FROM users ORDER BY id'), [
      { id: 1, name: null },
      { id: 2, name: 'Stays' },
    ]);
    assert.deepEqual(bench.query('SELECT id, title, deleted_at, erased_at FROM posts ORDER BY id'), [
      { id: 1, title: '[erased]', deleted_at: iso(60), erased_at: iso(61) },
      { id: 2, title: '[erased]', deleted_at: iso(60), erased_at: iso(61) },
      { id: 3, title: 'Kept', deleted_at: null, erased_at: null },
    ]);
    assert.deepEqual(await bench.expire(0, 62), NOTHING);
  });

  it('are filled again when they live again, and their author with them', async (t) => {
    const bench = await withDeletions(t);
    await bench.expire(0, 61);
    await sweep(bench.store, 'posts', POSTS, 70);
    assert.deepEqual(bench.query('SELECT title, erased_at FROM posts WHERE id = 1'), [
      { title: 'zqfirst', erased_at: null },
    ]);
    assert.deepEqual(bench.query('SELECT name, email FROM users WHERE id = 1'), [
      { name: gone.name, email: gone.email },
    ]);
    assert.equal(bench.query("SELECT 1 FROM posts_text WHERE posts_text MATCH 'zqfirst'").length, 1);
    assert.deepEqual(await bench.expire(0, 71), NOTHING);
    await sweep(bench.store, 'posts', POSTS.slice(2), 80);
    assert.equal((await bench.expire(0, 81)).posts, 2);
    assert.deepEqual(bench.found(['zqfirst', 'Gone Zqname']), []);
  });

  it('are erased in steps, and an interrupted erasure resumes', async (t) => {
    const bench = await openBench(t);
    const many = Array.from({ length: 450 }, (_, i) => aPost(i + 1, { creator: gone, title: `zqmany${i}` }));
    await sweep(bench.store, 'posts', many, 0);
    await sweep(bench.store, 'posts', [], 1);
    await sweep(bench.store, 'posts', [], 1, { acceptDeletes: true });
    const { counts, more } = await bench.erasure.expire(minute(2), minute(2));
    assert.deepEqual([counts.posts, more], [200, true]);
    assert.deepEqual(await bench.expire(0, 3), {
      posts: 250,
      comments: 0,
      outbox: 0,
      users: 1,
      compacted: true,
    });
    assert.deepEqual(bench.found(['zqmany', 'Gone Zqname']), []);
  });

  it('are erased all at once where comments alone take several pieces', async (t) => {
    const bench = await openBench(t);
    const many = Array.from({ length: 250 }, (_, i) =>
      aComment(i + 1, { creator: gone, content: `zqmany${i}` }),
    );
    await sweep(bench.store, 'comments', many, 0);
    await sweep(bench.store, 'comments', [], 1);
    await sweep(bench.store, 'comments', [], 1, { acceptDeletes: true });
    assert.equal((await bench.expire(0, 2)).comments, 250);
  });
});

describe('the title of a deleted post beside its comments', () => {
  const reply = (post: object) => [aComment(1, { creator: stays, content: 'Kept reply', post })];
  const ZQFIRST = { id: 1, title: 'zqfirst', url: '/zqurl' };
  const SHOWN = reply(ZQFIRST);
  const TITLES = 'SELECT post_title FROM live_comments';
  const TOLD = `SELECT type, id FROM changes WHERE at > '${iso(60)}'`;

  /** Post 1 is deleted in minute 60 and erased in minute 61; its comment lives. */
  async function withLivingComment(t: TestContext): Promise<ErasureBench> {
    const bench = await openBench(t);
    await sweep(bench.store, 'posts', POSTS, 0);
    await sweep(bench.store, 'comments', SHOWN, 0);
    await sweep(bench.store, 'posts', POSTS.slice(1), 60);
    assert.equal((await bench.expire(0, 61)).posts, 1);
    return bench;
  }

  it('stays while a living comment shows it, and the feed tells of the post once', async (t) => {
    const bench = await withLivingComment(t);
    assert.deepEqual(bench.query('SELECT title, content FROM posts WHERE id = 1'), [
      { title: '[erased]', content: '[erased]' },
    ]);
    for (const at of [70, 80]) {
      assert.deepEqual(bench.query(TITLES), [{ post_title: 'zqfirst' }]);
      await sweep(bench.store, 'comments', SHOWN, at);
      assert.deepEqual(await bench.expire(0, at + 1), NOTHING);
    }
    assert.deepEqual(bench.query(TOLD), [
      { type: 'post.erased', id: 1 },
      { type: 'user.erased', id: 1 },
    ]);
  });

  const ENDS = { deleted: [], moved: reply({ id: 3, title: 'Kept', url: '/p' }) };
  for (const [end, comments] of Object.entries(ENDS))
    it(`goes when its last comment is ${end}`, async (t) => {
      const bench = await withLivingComment(t);
      await sweep(bench.store, 'comments', [...comments, COMMENTS[1] ?? assert.fail()], 70);
      assert.deepEqual(await bench.expire(HOUR, 121), { ...NOTHING, posts: 1, compacted: true });
      assert.deepEqual(bench.found(['zqfirst', 'zqurl']), []);
      const told = `SELECT type, id FROM changes WHERE at = '${iso(121)}'`;
      assert.deepEqual(bench.query(told), [{ type: 'post.erased', id: 1 }]);
      assert.deepEqual(await bench.expire(HOUR, 122), NOTHING);
    });
});
