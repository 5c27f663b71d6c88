import assert from 'node:assert/strict';
import { describe, it, type TestContext, test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { Post } from '../../src/contract/decode.ts';
import type { PassMode } from '../../src/mirror/decide/types.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { type SyncOutcome, syncOnce } from '../../src/mirror/sweep/engine.ts';
import { type Bench, benchFor } from '../outbox/bench.ts';
import { liveIds, mirrorReader, watchForWeeks } from '../support/mirror.ts';
import { aPost, range } from '../support/rows.ts';
import { KILLED, killedAfter } from './workbench.ts';

const GONE = 8;

/** A mirror that knows these posts; then one of them is gone. */
async function withOneGone(t: TestContext, posts: Post[]): Promise<Bench> {
  const bench = benchFor(t);
  bench.upstream.pageSize = 5;
  bench.upstream.posts = posts;
  await bench.sweep();
  watchForWeeks(bench.path);
  bench.upstream.posts = posts.filter(({ id }) => id !== GONE);
  return bench;
}

/** How many sweeps it takes until the post is deleted; null for more than eight. */
async function sweepsUntilDeleted(bench: Bench, between = (_: number): void => {}): Promise<number | null> {
  for (let sweeps = 1; sweeps <= 8; sweeps++) {
    between(sweeps);
    await bench.sweep();
    if (!liveIds(mirrorReader(bench.path)).includes(GONE)) return sweeps;
  }
  return null;
}

const unordered = (): Post[] => range(1, 20).map((n) => aPost((n * 8 + 11) % 21));
const oldestFirst = (first = 1): Post[] => range(first, first + 19).map((id) => aPost(id));
const newestFirst = (first = 1): Post[] => oldestFirst(first).toReversed();

describe('a row that is missing from a list', () => {
  for (const [where, posts, sweeps] of [
    ['two sweeps inside a page of a list by id', newestFirst(), 2],
    ['two sweeps inside a page of a list without an order', unordered(), 2],
    ['three sweeps where two pages meet, while nothing moves', newestFirst(4), 3],
    ['four sweeps at the start of the list', oldestFirst(GONE), 4],
    ['four sweeps at the end of the list', newestFirst(GONE), 4],
  ] as const)
    it(`is deleted by ${where}`, async (t) => {
      assert.equal(await sweepsUntilDeleted(await withOneGone(t, [...posts])), sweeps);
    });

  it('is deleted by four sweeps where two pages meet, while the list moves elsewhere', async (t) => {
    const bench = await withOneGone(t, newestFirst(4));
    const swapEnd = (): void => {
      const { posts } = bench.upstream;
      bench.upstream.posts = [...posts.slice(0, -2), ...posts.slice(-2).toReversed()];
    };
    assert.equal(await sweepsUntilDeleted(bench, swapEnd), 4);
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
      assert.deepEqual(bench.query('SELECT * FROM absences'), []);
    });

  it('costs no request beyond the pages of the list', async (t) => {
    const bench = await withOneGone(t, newestFirst());
    for (const pages of [4, 4, 4]) {
      bench.upstream.pagesRead = 0;
      await bench.sweep();
      assert.equal(bench.upstream.pagesRead, pages);
    }
  });
});

describe('a row that is listed twice, each time on another board', () => {
  it('stays as it was shown first, also while another row is missing', async (t) => {
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

test('a first sweep that shows many rows again out of place is incomplete', async (t) => {
  const bench = benchFor(t);
  bench.upstream.pageSize = 5;
  const all = range(1, 40).map((id) => aPost(id));
  bench.upstream.posts = [...all, ...all.slice(0, 30).toReversed()];
  await bench.sweep();
  assert.match(
    bench.mirror.status().resources[0]?.notes[0] ?? '',
    /was incomplete: 30 rows came on two pages/,
  );
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
    assert.match(
      bench.mirror.status().resources[0]?.notes[0] ?? '',
      /was incomplete: \d+ rows came on two pages/,
    );
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
    it(`loses a row that is gone, and no other (${which})`, async (t) => {
      const bench = benchFor(t);
      bench.upstream.pageSize = 5;
      const lists = [all(), ...Array<Post[]>(8).fill(gone(GONE))];
      const deleted = await deletedBy(bench, [...orders], lists);
      assert.deepEqual(deleted.slice(0, 2).flat(), []);
      assert.deepEqual(deleted.flat(), [GONE]);
    });

  it('loses no row that one of its orders leaves out and the other shows', async (t) => {
    const bench = benchFor(t);
    bench.upstream.pageSize = 5;
    const lists = Array<Post[][]>(5)
      .fill([all(), gone(GONE)])
      .flat();
    assert.deepEqual((await deletedBy(bench, [newest, oldest], lists)).flat(), []);
  });
});

function passOf(
  { upstream: { client }, mirror, clock }: Bench,
  { mode = 'sweep', store = mirror }: { mode?: PassMode; store?: MirrorStore } = {},
): Promise<SyncOutcome> {
  const { signal } = new AbortController();
  return syncOnce({ client, store, clock, signal, ahead: 0, onPage: () => {} }, { resource: 'posts', mode });
}

describe('a head pass', () => {
  /** A mirror that knows twenty posts, the newest first, two on each page. */
  async function knowing(t: TestContext): Promise<Bench> {
    const bench = benchFor(t);
    bench.upstream.pageSize = 2;
    bench.upstream.posts = newestFirst();
    await bench.sweep();
    bench.upstream.pagesRead = 0;
    return bench;
  }

  for (const [what, news, pages] of [
    ['one page where nothing is new', 0, 1],
    ['a page beyond those that bring something new', 3, 3],
    ['five pages at most', 12, 5],
  ] as const)
    it(`reads ${what}`, async (t) => {
      const bench = await knowing(t);
      for (let n = 0; n < news; n++) bench.upstream.publish();
      assert.equal((await passOf(bench, { mode: 'head' })).done, true);
      assert.equal(bench.upstream.pagesRead, pages);
    });

  it('reads on after a page on which a known row has changed', async (t) => {
    const bench = await knowing(t);
    bench.upstream.posts = bench.upstream.posts.map((post) =>
      post.id === 19 ? { ...post, title: 'Other' } : post,
    );
    const outcome = await passOf(bench, { mode: 'head' });
    assert.equal(outcome.done && outcome.summary.updated, 1);
    assert.equal(bench.upstream.pagesRead, 2);
  });

  it('leaves the rest of many new rows to the next sweep, also where it was killed', async (t) => {
    const bench = await knowing(t);
    for (let n = 0; n < 12; n++) bench.upstream.publish();
    await assert.rejects(passOf(bench, { mode: 'head', store: killedAfter(bench.mirror, 2) }), KILLED);
    await passOf(bench, { mode: 'head' });
    await bench.sweep();
    assert.equal(liveIds(mirrorReader(bench.path)).length, 32);
  });

  it('is declined before the first complete sweep, and where new rows come elsewhere', async (t) => {
    const bench = benchFor(t);
    bench.upstream.pageSize = 2;
    bench.upstream.posts = oldestFirst();
    const reasons: string[] = [];
    const head = async (): Promise<void> => {
      const outcome = await passOf(bench, { mode: 'head' });
      if (!outcome.done) reasons.push(outcome.reason);
    };
    await head();
    await bench.sweep();
    await head();
    bench.upstream.posts = [...bench.upstream.posts, aPost(99)];
    await bench.sweep();
    await head();
    assert.deepEqual(reasons, [
      'no head pass over posts: no sweep has been complete yet; run a sweep',
      'no head pass over posts: new rows do not come at the start of this list; sweeps find them',
    ]);
    // A list whose new rows come at its start from now on.
    bench.upstream.posts = [aPost(100), ...bench.upstream.posts];
    await bench.sweep();
    await head();
    assert.equal(reasons.length, 2);
  });
});

describe('a sweep that goes on in the next process', () => {
  it('tells of what it deleted, as a sweep in one process does', async (t) => {
    const bench = await withOneGone(t, newestFirst());
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

  it('starts over if the first process read no page', async (t) => {
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
