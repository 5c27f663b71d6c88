import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { Post } from '../../src/contract/decode.ts';
import type { MirrorStore } from '../../src/store/mirror/store.ts';
import type { PassMode } from '../../src/store/mirror/types.ts';
import { type SyncOutcome, syncOnce } from '../../src/sync/engine.ts';
import { type Bench, benchFor } from '../outbox/bench.ts';
import { liveIds, mirrorReader } from '../support/mirror.ts';
import { aPost, range } from '../support/rows.ts';
import { KILLED, killedAfter } from './workbench.ts';

const GONE = 8;

/** A mirror that has swept these posts often enough to trust what it has learned of them; then one of them is gone. */
async function withOneGone(t: TestContext, posts: Post[]): Promise<Bench> {
  const bench = benchFor(t);
  bench.upstream.pageSize = 5;
  bench.upstream.posts = posts;
  for (let sweeps = 0; sweeps < 3; sweeps++) await bench.sweep();
  bench.upstream.posts = posts.filter(({ id }) => id !== GONE);
  return bench;
}

/** How many sweeps it takes until the post is deleted, each of a list in which something else has changed; null for more than six. */
async function sweepsUntilDeleted(bench: Bench): Promise<number | null> {
  for (let sweeps = 1; sweeps <= 6; sweeps++) {
    const [first, ...rest] = bench.upstream.posts;
    if (first) bench.upstream.posts = [{ ...first, content: `read ${sweeps} times` }, ...rest];
    await bench.sweep();
    if (!liveIds(mirrorReader(bench.path)).includes(GONE)) return sweeps;
  }
  return null;
}

describe('a row that is missing from a list in strict order', () => {
  for (const [when, votes, sweeps] of [
    ['no number runs along with the order', (id: number) => id % 3, 2],
    ['the votes run along with it, so that the list may be sorted by them', (id: number) => id, 3],
  ] as const)
    it(`is deleted by ${sweeps} sweeps where ${when}`, async (t) => {
      const post = (id: number): Post => aPost(id, { votes_count: votes(id), comments_count: id % 2 });
      const bench = await withOneGone(t, range(1, 20).toReversed().map(post));
      assert.equal(await sweepsUntilDeleted(bench), sweeps);
    });
});

describe('a row that is listed twice, each time on another board', () => {
  it('stays as it was shown first, also while pages are read again for a row that is missing', async (t) => {
    const bench = benchFor(t);
    bench.upstream.pageSize = 10;
    const posts = range(1, 24)
      .toReversed()
      .map((id) => aPost(id));
    const listed = (all: Post[]): Post[] => [
      ...all,
      ...all
        .filter(({ id }) => id % 4 === 0)
        .map(({ id }) => aPost(id, { board: { id: 9, name: 'B', url: '/b/9' } })),
    ];
    bench.upstream.posts = listed(posts);
    for (let sweeps = 0; sweeps < 3; sweeps++) await bench.sweep();
    bench.upstream.posts = listed(posts.filter(({ id }) => id !== 12 && id !== 13));
    for (let sweeps = 0; sweeps < 3; sweeps++) await bench.sweep();
    assert.deepEqual(await bench.query('SELECT post_id FROM post_versions'), []);
  });
});

describe('a row that is missing from a list without an order', () => {
  const unordered = (): Post[] => range(1, 20).map((n) => aPost((n * 8) % 21));

  it('is deleted by three sweeps', async (t) => {
    assert.equal(await sweepsUntilDeleted(await withOneGone(t, unordered())), 3);
  });

  it('is that where pages end with a board, and each board is in order', async (t) => {
    // Four boards of five posts, whose numbers run through all of them: 20 16 12 8 4, 19 15 11 7 3, and so on.
    const byBoard = range(0, 3).flatMap((board) => range(0, 4).map((n) => aPost(20 - board - 4 * n)));
    const bench = await withOneGone(t, byBoard);
    const suspects = await bench.query('SELECT id FROM absences');
    assert.deepEqual(suspects, [], 'every row is listed');
    const once = bench.upstream.posts;
    bench.upstream.posts = once.filter(({ id }) => id !== 11);
    await bench.sweep();
    bench.upstream.posts = once;
    assert.equal(liveIds(mirrorReader(bench.path)).includes(11), true, 'left out by one sweep');
    assert.equal(await sweepsUntilDeleted(bench), 2);
  });

  const imported = (): Post[] => unordered().map((post) => ({ ...post, created: '2026-01-02T03:04:05Z' }));
  for (const [what, tail, sweeps] of [
    ['when the walk began', () => '&as_of=2026-01-09T08:07:06Z', 3],
    ['when they run out', () => '&expires=1767942426', 3],
    ['of the snapshot in which all were made', () => '&as_of=2026-01-02T03:04:05Z', 3],
    [
      'of the row before, which is that of all',
      (last?: Post) => `&before=2026-01-02T03:04:05.${100 + (last?.id ?? 0)}Z`,
      null,
    ],
  ] as const)
    it(`is deleted by ${sweeps ?? 'no'} sweeps where rows were made in one second and cursors name the time ${what}`, async (t) => {
      const bench = await withOneGone(t, imported());
      bench.upstream.tail = tail;
      assert.equal(await sweepsUntilDeleted(bench), sweeps);
    });

  for (const [where, pageSize] of [
    ['on one of its pages', 5],
    ['on its only page', 100],
  ] as const)
    it(`is not deleted where a row whose id cannot be read came ${where}`, async (t) => {
      const bench = await withOneGone(t, unordered());
      bench.upstream.pageSize = pageSize;
      bench.upstream.rejects = [{ index: 0, id: null, reason: 'no id', body: '{}' }];
      assert.equal(await sweepsUntilDeleted(bench), null);
      assert.deepEqual(bench.query("SELECT rule FROM sync_state WHERE resource = 'posts'"), [
        { rule: 'none' },
      ]);
    });

  it('is not deleted where the end of the list is another one when it is read again', async (t) => {
    const bench = await withOneGone(t, unordered());
    bench.upstream.beforePage = (page) => {
      const { posts } = bench.upstream;
      if (page === 4) bench.upstream.posts = [...posts.slice(0, 15), ...posts.slice(15).toReversed()];
    };
    assert.equal(await sweepsUntilDeleted(bench), null);
  });
});

describe('a list on which no deletion is concluded', () => {
  const BOARD = { id: 9, url: '/b/9' };
  const on =
    (name: string, of: number[], creator = {}) =>
    (id: number): Post =>
      aPost(
        id,
        of.includes(id)
          ? { board: { ...BOARD, name }, creator: { ...aPost(1).creator, id: 9, name, ...creator } }
          : {},
      );
  /** Every page but the first begins with the last row of the one before. */
  const overlapping = (posts: Post[]): Post[] =>
    posts.flatMap((post, i) => (i > 0 && i % 4 === 0 ? [post, post] : [post]));
  const mixed = (ids: number[]): number[] => ids.toSorted((a, b) => ((a * 17) % 41) - ((b * 17) % 41));
  const names = (bench: Bench) =>
    bench.query(
      'SELECT b.name AS board, u.name AS person FROM boards b, users u WHERE b.id = 9 AND u.id = 9',
    );

  async function sweptTwice(t: TestContext, before: Post[], after: Post[]): Promise<Bench> {
    const bench = benchFor(t);
    bench.upstream.pageSize = 5;
    bench.upstream.posts = overlapping(before);
    for (let n = 0; n < 3; n++) await bench.sweep();
    bench.upstream.posts = overlapping(after);
    for (let n = 0; n < 2; n++) await bench.sweep();
    assert.deepEqual(bench.query("SELECT rule FROM sync_state WHERE resource = 'posts'"), [{ rule: 'none' }]);
    return bench;
  }

  it('tells new names of a board and a person although their newest rows went meanwhile', async (t) => {
    const all = mixed(range(1, 40));
    const left = all.filter((id) => id !== 30 && id !== 31);
    const bench = await sweptTwice(t, all.map(on('Old', [7, 30, 31])), left.map(on('New', [7])));
    assert.deepEqual(names(bench), [{ board: 'New', person: 'New' }]);
    assert.equal(liveIds(mirrorReader(bench.path)).includes(30), true, 'which proves no deletion');
  });

  it('keeps the copy of the newest row that it shows', async (t) => {
    const posts = mixed(range(1, 40)).map((id) => on(id === 30 ? 'Newest' : 'Older', [7, 30])(id));
    const bench = await sweptTwice(t, posts, posts);
    assert.deepEqual(names(bench), [{ board: 'Newest', person: 'Newest' }]);
    assert.deepEqual(bench.query("SELECT count(*) AS n FROM changes WHERE type LIKE 'board.updated'"), [
      { n: 0 },
    ]);
  });
});

describe('a list whose order is another one in each sweep', () => {
  const newest = (a: Post, b: Post): number => b.id - a.id;
  const oldest = (a: Post, b: Post): number => a.id - b.id;
  const votes = (a: Post, b: Post): number => b.votes_count - a.votes_count || newest(a, b);
  const all = (): Post[] => range(1, 20).map((id) => aPost(id, { votes_count: id % 7 }));

  /** For each sweep, in these orders in turn, the posts that it deletes. */
  async function deletedBy(
    bench: Bench,
    orders: ((a: Post, b: Post) => number)[],
    lists: Post[][],
  ): Promise<number[][]> {
    const deleted: number[][] = [];
    let live = range(1, 20);
    for (const [n, list] of lists.entries()) {
      bench.upstream.posts = list.toSorted(orders[n % orders.length]);
      await bench.sweep();
      const now = liveIds(mirrorReader(bench.path));
      deleted.push(live.filter((id) => !now.includes(id)));
      live = now;
    }
    return deleted;
  }

  const gone = (...ids: number[]): Post[] => all().filter(({ id }) => !ids.includes(id));

  for (const [which, orders] of [
    ['newest and oldest first in turn', [newest, oldest]],
    ['by votes and by id in turn', [newest, votes]],
    ['by votes, by id and by id in turn', [votes, newest, newest]],
    ['in three orders in turn', [newest, oldest, votes]],
  ] as const)
    it(`loses a row by three sweeps (${which})`, async (t) => {
      const bench = benchFor(t);
      bench.upstream.pageSize = 5;
      const lists = [all(), all(), all(), ...Array<Post[]>(5).fill(gone(1, GONE))];
      assert.deepEqual(await deletedBy(bench, [...orders], lists), [[], [], [], [], [], [1, GONE], [], []]);
      assert.deepEqual(bench.query("SELECT rule FROM sync_state WHERE resource = 'posts'"), [
        { rule: 'three sweeps' },
      ]);
    });

  it('loses a row of a list on one page by two sweeps', async (t) => {
    const lists = [all(), all(), all(), ...Array<Post[]>(2).fill(gone(GONE))];
    assert.deepEqual((await deletedBy(benchFor(t), [newest, oldest], lists)).at(-1), [GONE]);
  });

  it('loses no row that one of its orders leaves out and the other shows', async (t) => {
    const bench = benchFor(t);
    bench.upstream.pageSize = 5;
    const lists = Array<Post[][]>(5)
      .fill([all(), gone(GONE)])
      .flat();
    assert.deepEqual((await deletedBy(bench, [newest, oldest], lists)).flat(), []);
  });

  it('is trusted again when three sweeps have found the same order', async (t) => {
    const bench = benchFor(t);
    bench.upstream.pageSize = 5;
    await deletedBy(bench, [newest, oldest], [all(), all()]);
    const lists = [all(), all(), all(), gone(GONE), gone(GONE)];
    assert.deepEqual((await deletedBy(bench, [newest], lists)).at(-1), [GONE]);
  });
});

function passOf(
  { upstream: { client }, mirror, clock }: Bench,
  { mode = 'sweep', store = mirror }: { mode?: PassMode; store?: MirrorStore } = {},
): Promise<SyncOutcome> {
  const { signal } = new AbortController();
  return syncOnce({ client, store, clock, signal, ahead: 0, onPage: () => {} }, { resource: 'posts', mode });
}

describe('a list whose ids are out of order', () => {
  it('is found to stand by creation time where it does', async (t) => {
    const day = (n: number): string => new Date(Date.UTC(2026, 0, 31 - n)).toISOString();
    const bench = await withOneGone(
      t,
      range(1, 20).map((n) => aPost((n * 8) % 21, { created: day(n) })),
    );
    assert.match(
      bench.query<{ rule_why: string }>('SELECT rule_why FROM sync_state')[0]?.rule_why ?? '',
      /strictly by creation time/,
    );
  });
});

describe('a list that was in strict order', () => {
  const ordered = (): Post[] =>
    range(1, 20)
      .toReversed()
      .map((id) => aPost(id));

  it('and is not any more speaks against no row', async (t) => {
    const bench = await withOneGone(t, ordered());
    bench.upstream.posts = range(1, 20).map((n) => aPost((n * 8) % 21));
    await bench.sweep();
    assert.deepEqual(bench.query('SELECT count(*) AS n FROM absences'), [{ n: 0 }]);
  });

  it('and is turned around has no newest rows on its first pages: the next head pass is declined', async (t) => {
    const bench = await withOneGone(t, ordered());
    assert.equal((await passOf(bench, { mode: 'head' })).done, true);
    bench.upstream.posts = ordered().toReversed();
    await passOf(bench, { mode: 'head' });
    assert.equal((await passOf(bench, { mode: 'head' })).done, false);
  });
});

describe('a head pass', () => {
  /** A mirror that knows ten posts, the newest first, two on each page. */
  async function knowing(t: TestContext): Promise<Bench> {
    const bench = benchFor(t);
    bench.upstream.pageSize = 2;
    bench.upstream.posts = range(1, 10)
      .toReversed()
      .map((id) => aPost(id));
    await bench.sweep();
    bench.upstream.pagesRead = 0;
    return bench;
  }

  it('reads on past one page without anything new', async (t) => {
    const bench = await knowing(t);
    bench.upstream.posts = bench.upstream.posts.map((post) =>
      post.id === 7 ? { ...post, title: 'Other' } : post,
    );
    const outcome = await passOf(bench, { mode: 'head' });
    assert.equal(outcome.done && outcome.summary.updated, 1);
    assert.equal(bench.upstream.pagesRead, 4);
  });

  it('after one that was killed goes down to the first row that was known before it, and no further', async (t) => {
    const bench = await knowing(t);
    const marks = () => bench.query("SELECT learned -> 'highWater' ->> 'id' AS mark FROM sync_state");
    for (let n = 0; n < 3; n++) bench.upstream.publish();
    await assert.rejects(passOf(bench, { mode: 'head', store: killedAfter(bench.mirror, 2) }), KILLED);
    assert.deepEqual([bench.upstream.pagesRead, marks()], [2, [{ mark: 10 }]]);
    await passOf(bench, { mode: 'head' });
    assert.deepEqual([bench.upstream.pagesRead, marks()], [4, [{ mark: null }]]);
  });
});

describe('a sweep that goes on in the next process', () => {
  it('tells of what it deleted, as a sweep in one process does', async (t) => {
    const post = (id: number): Post => aPost(id, { votes_count: id % 3, comments_count: id % 2 });
    const bench = await withOneGone(t, range(1, 20).toReversed().map(post));
    await bench.sweep();
    bench.upstream.beforePage = (page) => {
      if (page === 3) throw new AppError('unreachable', 'no route');
    };
    await assert.rejects(passOf(bench), { code: 'unreachable' });
    bench.upstream.beforePage = () => {};
    const outcome = await passOf(bench);
    assert.ok(outcome.done);
    const { resumed, deleted } = outcome.summary;
    assert.deepEqual({ resumed, deleted }, { resumed: 1, deleted: 1 });
    assert.deepEqual(bench.query("SELECT learned ->> 'highWater' AS mark FROM sync_state"), [{ mark: null }]);
  });

  it('tells of all that both processes read, and read again', async (t) => {
    const bench = benchFor(t);
    bench.upstream.pageSize = 2;
    bench.upstream.posts = range(1, 8)
      .toReversed()
      .map((id) => aPost(id));
    bench.upstream.rejects = [{ index: 0, id: 9, reason: 'broken', body: '{}' }];
    await assert.rejects(passOf(bench, { store: killedAfter(bench.mirror, 2) }), KILLED);
    const outcome = await passOf(bench);
    assert.ok(outcome.done);
    const { pages, rows, inserted, unchanged, quarantined } = outcome.summary;
    assert.deepEqual(
      { pages, rows, inserted, unchanged, quarantined },
      // Two pages before the kill and two after it; then the first three once more, down to where this process began.
      { pages: 7, rows: 16, inserted: 8, unchanged: 6, quarantined: 2 },
    );
  });

  it('goes on at a page none of whose rows can be read, although it is the last one', async (t) => {
    const bench = benchFor(t);
    const { client } = bench.upstream;
    bench.upstream.pageSize = 2;
    bench.upstream.posts = range(1, 4)
      .toReversed()
      .map((id) => aPost(id));
    const { posts: walk } = client;
    client.posts = async function* (options) {
      for await (const page of walk(options)) {
        const rejects = page.rows.map(({ id }, index) => ({
          index,
          id,
          reason: 'broken',
          body: `{"id":${id}}`,
        }));
        yield page.next === null ? { ...page, rows: [], rejects } : page;
      }
    };
    await assert.rejects(passOf(bench, { store: killedAfter(bench.mirror, 1) }), KILLED);
    const outcome = await passOf(bench);
    assert.equal(outcome.done && outcome.summary.resumed, 1);
  });

  for (const [code, outcome, resumed] of [
    ['unreachable', 'failed', 1],
    ['interrupted', 'interrupted', 1],
    ['refused', 'failed', 0],
    ['protocol', 'failed', 0],
  ] as const)
    it(`begins ${resumed === 0 ? 'from the start' : 'where that one stopped'} after an end by '${code}'`, async (t) => {
      const bench = benchFor(t);
      bench.upstream.pageSize = 2;
      bench.upstream.posts = range(1, 8)
        .toReversed()
        .map((id) => aPost(id));
      bench.upstream.beforePage = (page) => {
        if (page === 3) throw new AppError(code, 'here it ends');
      };
      await assert.rejects(passOf(bench), { code });
      assert.deepEqual(bench.query('SELECT outcome, error FROM sync_runs'), [
        { outcome, error: 'here it ends' },
      ]);
      bench.upstream.beforePage = () => {};
      const next = await passOf(bench);
      assert.ok(next.done);
      assert.equal(next.summary.resumed, resumed);
      assert.equal(liveIds(mirrorReader(bench.path)).length, 8);
    });

  it('is none where the first one read no page', async (t) => {
    const bench = benchFor(t);
    bench.upstream.posts = [aPost(1)];
    bench.upstream.readError = new AppError('unreachable', 'no route');
    await assert.rejects(passOf(bench));
    bench.upstream.readError = null;
    const outcome = await passOf(bench);
    assert.ok(outcome.done);
    assert.equal(outcome.summary.resumed, 0);
  });

  it('reads a list without an order to its end again: rows may stand anywhere by then', async (t) => {
    const bench = benchFor(t);
    const { upstream } = bench;
    upstream.pageSize = 2;
    upstream.posts = range(1, 20).map((n) => aPost((n * 8) % 21));
    await assert.rejects(passOf(bench, { store: killedAfter(bench.mirror, 6) }), KILLED);
    const [edited, moved] = [upstream.posts[10], upstream.posts[12]];
    assert.ok(moved && edited);
    // The first row that the next process reads comes to stand before one that was read by the process before it.
    upstream.beforePage = (page) => {
      if (page !== 8 || upstream.posts[4] === moved) return;
      const rest = upstream.posts.filter((post) => post !== moved);
      upstream.posts = rest
        .map((post) => (post === edited ? { ...post, title: 'Other' } : post))
        .toSpliced(4, 0, moved);
    };
    const outcome = await passOf(bench);
    assert.ok(outcome.done && outcome.summary.resumed === 1);
    const row = mirrorReader(bench.path)
      .table('posts')
      .find(({ id }) => id === edited.id);
    assert.equal(row?.title, 'Other');
  });
});

describe('a pass over a list that another process has locked', () => {
  it('tells once for whom it waits, and begins when that one is done', async (t) => {
    const bench = benchFor(t);
    const { upstream, mirror: store, clock } = bench;
    upstream.posts = [aPost(1)];
    const other = store.lock('posts');
    assert.ok(other.ok);
    clock.meanwhile = async () => {
      if (clock.slept.length === 3) other.release();
    };
    const holders: string[] = [];
    const onWait = (holder: string): unknown => holders.push(holder);
    const { signal } = new AbortController();
    const context = { client: upstream.client, store, clock, signal, ahead: 0, onPage: () => {}, onWait };
    const outcome = await syncOnce(context, { resource: 'posts', mode: 'sweep', wait: true });
    assert.equal(outcome.done, true);
    assert.equal(holders.length, 1);
    assert.match(String(holders[0]), /^a test, since /);
  });
});
