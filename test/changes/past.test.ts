import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import type { Change } from '../../src/changes/change.ts';
import { openChangeFeed, touchedRows } from '../../src/changes/feed.ts';
import { type Mirror, story } from '../support/mirror.ts';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

const OPEN = { id: 1, name: 'Open', color: '#000000' };
const DONE = { id: 2, name: 'Completed', color: '#00ff00' };
const MOBILE = { id: 1, name: 'Mobile', url: '/b/mobile' };
const INTERNAL = { id: 2, name: 'Internal', url: '/b/internal' };
const POST = { status: OPEN, board: MOBILE, votes_count: 1 };

/** Both lists are told of from here on. */
function begin({ store }: Mirror): void {
  sweep(store, 'posts', [aPost(1, POST)], 1);
  sweep(store, 'comments', [aComment(1, { post: { id: 1, title: 'One', url: '/p/1' } })], 1);
}

function changes(mirror: Mirror, ...boards: string[]): Change[] {
  const feed = openChangeFeed(mirror);
  try {
    return feed.after('', { limit: 100, ...(boards.length > 0 && { boards }) }).changes;
  } finally {
    feed.close();
  }
}

const typesOn = (mirror: Mirror, board: string): string[] => changes(mirror, board).map(({ type }) => type);

story('a change stays on the board it was made on when the post moves later', async (mirror) => {
  begin(mirror);
  const comment = aComment(1, { post: { id: 1, title: 'One', url: '/p/1' }, content: 'Other words' });
  sweep(mirror.store, 'posts', [aPost(1, { ...POST, votes_count: 2 })], 2);
  sweep(mirror.store, 'comments', [comment], 3);
  sweep(mirror.store, 'posts', [aPost(1, { ...POST, votes_count: 2, board: INTERNAL })], 4);
  sweep(mirror.store, 'posts', [aPost(1, { ...POST, votes_count: 3, board: INTERNAL })], 5);
  for (const name of ['mobile', 'Mobile', '1'])
    assert.deepEqual(typesOn(mirror, name), ['post.votes_changed', 'comment.edited', 'post.moved'], name);
  assert.deepEqual(typesOn(mirror, 'internal'), ['post.moved', 'post.votes_changed']);
});

story('a change of a comment stays on the board of the post it was on', async (mirror) => {
  const [one, two] = [aPost(1, POST), aPost(2, { ...POST, board: INTERNAL })];
  const on = (id: number, content: string) =>
    aComment(1, { content, post: { id, title: `Post ${id}`, url: `/p/${id}` } });
  sweep(mirror.store, 'posts', [one, two], 1);
  sweep(mirror.store, 'comments', [on(1, 'a')], 1);
  sweep(mirror.store, 'comments', [on(1, 'b')], 2);
  sweep(mirror.store, 'comments', [on(2, 'b')], 3);
  assert.deepEqual(typesOn(mirror, 'mobile'), ['comment.edited']);
  assert.deepEqual(typesOn(mirror, 'internal'), ['comment.updated']);
});

story('a change stays on its board when the board gets another name and address', async (mirror) => {
  begin(mirror);
  sweep(mirror.store, 'posts', [aPost(1, { ...POST, votes_count: 2 })], 2);
  const apps = { ...MOBILE, name: 'Apps', url: '/b/apps' };
  sweep(mirror.store, 'posts', [aPost(1, { ...POST, votes_count: 3, board: apps })], 3);
  const votesOn = (board: string) => changes(mirror, board).map(({ after }) => after?.votes_count);
  for (const name of ['mobile', 'Mobile']) assert.deepEqual(votesOn(name), [2], name);
  for (const name of ['apps', 'Apps']) assert.deepEqual(votesOn(name), [3], name);
  assert.deepEqual(votesOn('1'), [2, 3]);
});

story('a board that only gets another address has no new name to tell', async (mirror) => {
  begin(mirror);
  sweep(mirror.store, 'posts', [aPost(1, { ...POST, board: { ...MOBILE, url: '/b/apps' } })], 2);
  const { before, after } = changes(mirror).find(({ type }) => type === 'board.updated') ?? assert.fail();
  assert.deepEqual([before, after], [undefined, undefined]);
});

story('before and after have the names of statuses and boards of that time', async (mirror) => {
  begin(mirror);
  sweep(mirror.store, 'posts', [aPost(1, { ...POST, status: DONE, board: INTERNAL })], 2);
  const [status, board] = [
    { ...DONE, name: 'Shipped' },
    { ...INTERNAL, name: 'Team' },
  ];
  sweep(mirror.store, 'posts', [aPost(1, { ...POST, status, board })], 3);
  const told = changes(mirror).filter(({ type }) => type.startsWith('post.'));
  assert.deepEqual(
    told.map(({ before, after }) => [before?.status ?? before?.board, after?.status ?? after?.board]),
    [
      ['Open', 'Completed'],
      ['Mobile', 'Internal'],
    ],
  );
  assert.deepEqual([told[0]?.post?.status, told[0]?.post?.board], ['Shipped', 'Team']);
});

story('a post that comments show under another title has changed', async (mirror) => {
  begin(mirror);
  const before = changes(mirror).length;
  sweep(mirror.store, 'comments', [aComment(1, { post: { id: 1, title: 'Two', url: '/p/1' } })], 2);
  assert.deepEqual(
    changes(mirror)
      .slice(before)
      .map(({ type, post_id }) => [type, post_id]),
    [['post.updated', 1]],
  );
});

story('a change that replaced no version of a comment is on the board it is on now', async (mirror) => {
  const { store } = mirror;
  sweep(store, 'posts', [aPost(1, POST), aPost(2, { ...POST, board: INTERNAL })], 1);
  const on = (id: number, mood?: string) =>
    aComment(1, { post: { id, title: 'One', url: '/p' }, ...(mood && { mood }) });
  sweep(store, 'comments', [on(1)], 1);
  sweep(store, 'comments', [on(2)], 2);
  sweep(store, 'comments', [on(2, 'good')], 3);
  assert.deepEqual(typesOn(mirror, 'Mobile'), []);
  assert.deepEqual(typesOn(mirror, 'Internal'), ['comment.updated', 'comment.updated']);
});

story('a position of a change that was never there is none to go on from', async (mirror) => {
  begin(mirror);
  const feed = openChangeFeed(mirror);
  try {
    assert.equal(feed.resolve('0'), '0');
    assert.throws(() => feed.resolve('0-abc'), { code: 'gone' });
  } finally {
    feed.close();
  }
});

story('a consumer of rows is told of authors of comments, and when there is more', async (mirror) => {
  begin(mirror);
  const db = new Database(mirror.path, { readonly: true });
  try {
    const touched = touchedRows(db);
    const { next } = touched('', 100);
    sweep(mirror.store, 'comments', [aComment(1, { content: 'a' }), aComment(2, { content: 'b' })], 2);
    const all = touched(next, 100);
    assert.deepEqual([all.ids.comment, all.ids.user, all.isLast], [[1, 2], [aComment(1).creator.id], true]);
    const some = touched(next, all.ids.comment.length);
    assert.equal(some.isLast, false, 'a page that is full may not be the last');
  } finally {
    db.close();
  }
});
