import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { codeOf } from '../../src/base/errors.ts';
import type { Change } from '../../src/changes/change.ts';
import { changeFeed, openChangeFeed, touchedRows } from '../../src/changes/feed.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { pruneChanges } from '../../src/mirror/log/change-log.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { withPath } from '../db/folder.ts';
import { newRow } from '../erasure/bench.ts';
import { type Mirror, story, UPSTREAM } from '../support/mirror.ts';
import { aComment, aPost, iso, minute, posts, range } from '../support/rows.ts';
import { apply, begin, conclude, finish, oneSweep, sweep } from '../support/steps.ts';

const status = (id: number) => ({ id, name: `Status ${id}`, color: '#000000' });
const board = (id: number) => ({ id, name: `Board ${id}`, url: `/b/board-${id}` });

/** Everything after a position, through a handle of its own. */
function changes(
  mirror: Pick<Mirror, 'path' | 'upstream'>,
  since = '',
  rest: { types?: string[]; boards?: string[] } = {},
): Change[] {
  const feed = openChangeFeed(mirror);
  try {
    return feed.after(since, { limit: 1000, ...rest }).changes;
  } finally {
    feed.close();
  }
}

const brief = ({ type, post_id, comment_id, before, after }: Change) =>
  [type, post_id ?? comment_id, ...(before ? [before, after] : [])] as const;

/** Both lists with one row each, so that everything from here on is told. */
async function mirrored(mirror: Mirror): Promise<string> {
  sweep(mirror.store, 'posts', [aPost(1, { status: status(1), board: board(1), votes_count: 1 })], 1);
  sweep(mirror.store, 'comments', [aComment(1)], 1);
  return head(mirror);
}

function head(mirror: Pick<Mirror, 'path' | 'upstream'>): string {
  const feed = openChangeFeed(mirror);
  try {
    return feed.head().position;
  } finally {
    feed.close();
  }
}

describe('the change feed', () => {
  story('says nothing about the rows of a first sweep but that it is complete', async (mirror) => {
    const pass = begin(mirror.store, 'posts', 1);
    apply(
      mirror.store,
      pass,
      range(1, 5).map((id) => aPost(id)),
      1,
    );
    assert.deepEqual(changes(mirror), []);
    conclude(mirror.store, pass, 2);
    const told = changes(mirror);
    assert.deepEqual(
      told.map(({ number, type, time, sync }) => ({ number, type, time, sync })),
      [{ number: 1, type: 'sync.mirrored', time: iso(2), sync: { list: 'posts' } }],
    );
  });

  story('tells each change of a post with what it was and what it became', async (mirror) => {
    const since = await mirrored(mirror);
    const first = { status: status(1), board: board(1), votes_count: 1 };
    sweep(mirror.store, 'posts', [aPost(1, { ...first, votes_count: 2, status: status(2) })], 2);
    sweep(
      mirror.store,
      'posts',
      [aPost(1, { ...first, votes_count: 2, status: status(2), title: 'New' })],
      3,
    );
    sweep(
      mirror.store,
      'posts',
      [aPost(1, { ...first, votes_count: 9, status: status(2), board: board(2), title: 'New' })],
      4,
    );
    const told = changes(mirror, since, { types: ['post.*'] });
    const title = aPost(1).title;
    assert.deepEqual(told.map(brief), [
      ['post.status_changed', 1, { status_id: 1, status: 'Status 1' }, { status_id: 2, status: 'Status 2' }],
      ['post.votes_changed', 1, { votes_count: 1 }, { votes_count: 2 }],
      ['post.edited', 1, { title }, { title: 'New' }],
      ['post.moved', 1, { board_id: 1, board: 'Board 1' }, { board_id: 2, board: 'Board 2' }],
      ['post.votes_changed', 1, { votes_count: 2 }, { votes_count: 9 }],
    ]);
    assert.deepEqual([told[0]?.time, told[0]?.post?.votes_count], [iso(2), 9]);
  });

  story('tells of rows that come, go and come back, and of nothing that stays the same', async (mirror) => {
    const since = await mirrored(mirror);
    const [one, two] = [
      aPost(1, { status: status(1), board: board(1), votes_count: 1 }),
      aPost(2, { title: 'Two' }),
    ];
    for (const at of [2, 3]) sweep(mirror.store, 'posts', [one, two], at);
    for (const at of [4, 5, 6]) sweep(mirror.store, 'posts', [one], at);
    sweep(mirror.store, 'posts', [one, two], 7);
    const told = changes(mirror, since, { types: ['post.*'] });
    assert.deepEqual(told.map(brief), [
      ['post.created', 2],
      ['post.deleted', 2],
      ['post.restored', 2],
    ]);
    assert.equal(told[0]?.after?.title, 'Two');
  });

  story('tells of comments and of renamed boards, statuses and users', async (mirror) => {
    const since = await mirrored(mirror);
    sweep(mirror.store, 'comments', [aComment(1, { content: 'Other words' }), aComment(2)], 2);
    sweep(
      mirror.store,
      'posts',
      [aPost(1, { status: { ...status(1), name: 'Done' }, board: board(1), votes_count: 1 })],
      3,
    );
    const told = changes(mirror, since);
    assert.deepEqual(
      told.map(({ type, before, after }) => [
        type,
        before?.content ?? before?.name,
        after?.content ?? after?.name,
      ]),
      [
        ['comment.edited', aComment(1).content, 'Other words'],
        ['comment.created', undefined, aComment(2).content],
        ['status.updated', 'Status 1', 'Done'],
      ],
    );
  });

  story('tells of everything that changed in a row at once, each under its own type', async (mirror) => {
    const since = await mirrored(mirror);
    const first = { status: status(1), board: board(1), votes_count: 1 };
    sweep(mirror.store, 'posts', [aPost(1, { ...first, votes_count: 3, comments_count: 5 })], 2);
    sweep(mirror.store, 'comments', [aComment(1, { content: 'Other words', likes_count: 9 })], 3);
    const { content, likes_count, post } = aComment(1);
    assert.deepEqual(changes(mirror, since).map(brief), [
      ['post.votes_changed', 1, { votes_count: 1 }, { votes_count: 3 }],
      ['post.updated', 1, { comments_count: aPost(1).comments_count }, { comments_count: 5 }],
      ['comment.edited', post.id, { content }, { content: 'Other words' }],
      ['comment.updated', post.id, { likes_count }, { likes_count: 9 }],
    ]);
  });

  story('tells apart also fields that no document knows, and the time of creation', async (mirror) => {
    const since = await mirrored(mirror);
    const first = { status: status(1), board: board(1) };
    const extra = '{"tags":[]}';
    sweep(mirror.store, 'posts', [aPost(1, { ...first, votes_count: 3, extra })], 2);
    sweep(
      mirror.store,
      'posts',
      [aPost(1, { ...first, title: 'New', created: iso(1), extra, votes_count: 3 })],
      3,
    );
    sweep(mirror.store, 'comments', [aComment(1, { content: 'Other words', extra })], 4);
    assert.deepEqual(
      changes(mirror, since).map(({ type }) => type),
      [
        'post.votes_changed',
        'post.updated',
        'post.edited',
        'post.updated',
        'comment.edited',
        'comment.updated',
      ],
    );
  });

  story(
    'goes with the transaction: a page that is rolled back leaves no change and no gap',
    async (mirror) => {
      const since = await mirrored(mirror);
      const pass = begin(mirror.store, 'posts', 2);
      const bad = { ...aPost(3), title: null as unknown as string };
      assert.throws(() => apply(mirror.store, pass, [aPost(2), bad], 2));
      apply(mirror.store, pass, [aPost(2)], 3);
      const last = Number(since.split('-')[0]);
      assert.deepEqual(
        changes(mirror, since)
          .map(({ number, post_id }) => [number, post_id ?? null])
          .at(-1),
        [changes(mirror, since).length + last, 2],
      );
    },
  );

  story('tells of passes that fail and recover, once each', async (mirror) => {
    const since = await mirrored(mirror);
    for (const at of [2, 3])
      finish(mirror.store, begin(mirror.store, 'posts', at), at, { outcome: 'failed', error: 'no answer' });
    finish(mirror.store, begin(mirror.store, 'posts', 3), 3, { outcome: 'interrupted', error: 'stopped' });
    assert.equal(changes(mirror, since).length, 1, 'one that was stopped tells nothing');
    for (const at of [4, 5])
      sweep(mirror.store, 'posts', [aPost(1, { status: status(1), board: board(1), votes_count: 1 })], at);
    assert.deepEqual(
      changes(mirror, since).map(({ type, sync }) => [type, sync]),
      [
        ['sync.failed', { list: 'posts', error: 'no answer' }],
        ['sync.recovered', { list: 'posts' }],
      ],
    );
  });

  story('tells that deletions are held, once', async (mirror) => {
    sweep(mirror.store, 'posts', posts(...range(1, 60)), 1);
    const since = head(mirror);
    for (const at of [2, 3, 4, 5]) sweep(mirror.store, 'posts', posts(...range(1, 10)), at);
    assert.deepEqual(
      changes(mirror, since).map(({ type, sync }) => [type, sync]),
      [['sync.held', { list: 'posts', held: 50 }]],
    );
  });

  story('tells of rows that are held in the sweep that deletes what was accepted', async (mirror) => {
    const to = (last: number) => posts(...range(1, last));
    sweep(mirror.store, 'posts', to(200), 1);
    const since = head(mirror);
    sweep(mirror.store, 'posts', to(140), 2);
    for (const at of [3, 4, 5]) oneSweep(mirror.store, 'posts', to(100), at);
    assert.equal(oneSweep(mirror.store, 'posts', to(100), 6, { acceptDeletes: true }).deleted, 60);
    const held = changes(mirror, since).filter(({ type }) => type === 'sync.held');
    assert.deepEqual(
      held.map(({ sync }) => sync),
      [60, 40].map((rows) => ({ list: 'posts', held: rows })),
    );
  });

  story('tells of the outbox in the transaction of each step', async (mirror) => {
    const outbox = openOutboxStore({ ...mirror, holder: 'a test' });
    outbox.accept(
      ['a', 'b', 'c'].map((source_key) => newRow({ source_key })),
      minute(1),
    );
    outbox.move(2, TRANSITIONS.cancel, { now: minute(2) });
    const claim = { now: minute(3), deadline: minute(4), listedMaxId: null };
    outbox.claim({ id: 1, transition: TRANSITIONS.claim, ...claim });
    outbox.move(1, TRANSITIONS.reject, { now: minute(4), error: 'no' });
    outbox.pauseBatch(newRow({}).batch, minute(5));
    outbox.close();
    assert.deepEqual(
      changes(mirror).map(({ type, outbox_id, after, outbox: row }) => [
        type,
        outbox_id,
        after?.state,
        row?.count,
      ]),
      [
        ['outbox.accepted', 1, undefined, 3],
        ['outbox.updated', 2, 'cancelled', undefined],
        ['outbox.updated', 1, 'sending', undefined],
        ['outbox.rejected', 1, 'rejected', undefined],
        ['outbox.updated', 3, undefined, 1],
      ],
    );
    const db = new Database(mirror.path);
    assert.deepEqual(touchedRows(db)('0', 100).ids.outbox, [1, 2, 3]);
    db.close();
  });

  story('shows only the types and boards that are asked for, and goes on past the rest', async (mirror) => {
    const since = await mirrored(mirror);
    const rows = [
      aPost(1, { status: status(1), board: board(1), votes_count: 5 }),
      aPost(2, { board: board(2) }),
    ];
    sweep(mirror.store, 'posts', rows, 2);
    assert.deepEqual(changes(mirror, since, { boards: ['BOARD 2'] }).map(brief), [['post.created', 2]]);
    assert.deepEqual(
      changes(mirror, since, { types: ['post.votes_changed'] }).map(({ post_id }) => post_id),
      [1],
    );
    const feed = openChangeFeed(mirror);
    assert.equal(feed.after(since, { limit: 1, types: ['user.*'] }).next, feed.head().position);
    assert.throws(() => feed.after(since, { limit: 1, types: ['post.voted'] }), /no change of the type/);
    feed.close();
  });

  story('leaves nothing of an erased person, and tells that they were erased', async (mirror) => {
    await mirrored(mirror);
    const creator = { ...aPost(1).creator, id: 77, email: 'eve@example.com', name: 'Eve' };
    sweep(
      mirror.store,
      'posts',
      [
        aPost(5, {
          creator,
          title: 'Call eve@example.com',
          board: { ...board(5), name: 'of eve@example.com' },
        }),
      ],
      2,
    );
    sweep(
      mirror.store,
      'posts',
      [aPost(5, { creator, title: 'Call me', board: { ...board(5), name: 'of all' } })],
      3,
    );
    const since = head(mirror);
    const erasure = openErasureStore({ ...mirror, holder: 'a test' });
    const person = erasure.suppress('eve@example.com', minute(4));
    let walk: Parameters<typeof erasure.erase>[1] = null;
    do walk = erasure.erase(person, walk, minute(4)).next;
    while (walk !== null);
    erasure.close();
    const types = changes(mirror, since).map(({ type }) => type);
    assert.deepEqual(new Set(types), new Set(['post.erased', 'user.erased']));
    assert.doesNotMatch(JSON.stringify(changes(mirror)), /eve@|Call me|Eve/);
  });
});

describe('a position in the change feed', () => {
  story('is good for as long as its change is kept, and then says to start again', async (mirror) => {
    await mirrored(mirror);
    for (let at = 2; at < 12; at++)
      sweep(mirror.store, 'posts', [aPost(1, { status: status(1), board: board(1), votes_count: at })], at);
    const [all, last] = [changes(mirror), head(mirror)];
    const db = new Database(mirror.path);
    const kept = all.filter(({ time }) => time >= iso(8)).length;
    assert.equal(pruneChanges(db, { keepMs: 3 * 60_000, now: minute(11) }), all.length - kept - 1);
    const anchor = all.at(-kept - 1)?.position ?? '';
    assert.deepEqual(changes(mirror, anchor), all.slice(-kept));
    for (const since of ['0', '1', all[1]?.position ?? ''])
      assert.throws(
        () => changes(mirror, since),
        (error) => codeOf(error) === 'gone' && /snapshot/.test(String(Reflect.get(Object(error), 'hint'))),
      );
    // Long after, the last change is still there to go on from.
    pruneChanges(db, { keepMs: 0, now: minute(10_000) });
    assert.deepEqual([changes(mirror, last), head(mirror)], [[], last]);
    db.close();
    sweep(mirror.store, 'posts', [aPost(1, { status: status(1), board: board(1), votes_count: 100 })], 20);
    assert.deepEqual(
      changes(mirror, last).map(({ number }) => number),
      [Number(last.split('-')[0]) + 1],
    );
  });

  it('does not fit a mirror that was put back and has gone another way', async () => {
    await withPath(async (path) => {
      const mirror = { path, upstream: UPSTREAM };
      const play = (votes: number, at: number): void => {
        const store = openMirrorStore({ ...mirror, holder: 'a test' });
        sweep(store, 'posts', [aPost(1, { votes_count: votes })], at);
        store.close();
      };
      play(1, 1);
      play(2, 2);
      const early = head(mirror);
      // By hand, so that nothing marks the file as a copy.
      copyFileSync(path, `${path}.copy`);
      for (const at of [3, 4]) play(at, at);
      const late = head(mirror);
      copyFileSync(`${path}.copy`, path);
      for (const at of [5, 6, 7]) play(at, at);
      assert.deepEqual(
        changes(mirror, early).map(({ after }) => after?.votes_count),
        [5, 6, 7],
      );
      assert.throws(() => changes(mirror, late), /put back to an earlier state/);
      assert.throws(() => changes(mirror, '999'), /older copy/);
      assert.throws(() => changes(mirror, 'x'), /no position/);
    });
  });

  it('survives a backup', async () => {
    await withPath(async (path) => {
      const mirror = { path, upstream: UPSTREAM };
      const store = openMirrorStore({ ...mirror, holder: 'a test' });
      for (const at of [1, 2, 3]) sweep(store, 'posts', [aPost(1, { votes_count: at })], at);
      store.close();
      // As "backup" makes its copy.
      const own = new Database(path);
      own.prepare('VACUUM INTO ?').run(`${path}.copy`);
      own.close();
      const db = new Database(`${path}.copy`);
      assert.equal(changeFeed(db).head().position, head(mirror));
      assert.equal(db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").pluck().get(), 3);
      db.close();
    });
  });
});
