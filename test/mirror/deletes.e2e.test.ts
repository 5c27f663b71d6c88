import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client, Page } from '../../src/api/client.ts';
import type { Post } from '../../src/contract/decode.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { assertExact } from './mirror-rows.ts';
import { KILLED, killedAfter, requestsOf, settledBench, type Workbench } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;
const HEAD = { resource: 'posts', mode: 'head' } as const;
const PAGES = 6;

/** Pages of five, newest first: 30–26, 25–21, 20–16, … Rows are deleted upstream, and sweeps find it: never the first one. */
async function assertFound(bench: Workbench, ids: number[], within = 2): Promise<void> {
  for (const id of ids) assert.ok(bench.sandbox.world.deletePost(id));
  const first = await bench.sync(SWEEP);
  assert.deepEqual([first.deleted, first.suspects], [0, ids.length]);
  for (let sweeps = 2; sweeps <= within; sweeps++) await bench.sync(SWEEP);
  assertExact(bench.path, bench.sandbox.world, ['posts']);
}

function isLive(bench: Workbench, id: number): boolean {
  return bench.query(`SELECT 1 FROM live_posts WHERE id = ${id}`).length === 1;
}

/** The same list in pages of five numbers each, as filtered lists come: 30–26, 25–21, … A page has as many rows as there are. */
function inRanges(client: Client): Client {
  const page = async (cursor: string, signal?: AbortSignal): Promise<Page<Post>> => {
    const all: Page<Post>[] = [];
    for await (const each of client.posts({ signal })) all.push(each);
    const highest = Number(cursor || 30);
    const rows = all.flatMap((each) => each.rows).filter(({ id }) => id <= highest && id > highest - 5);
    const next = highest > 5 ? String(highest - 5) : null;
    return { ...(all[0] as Page<Post>), rows, cursor, next };
  };
  return walking(client, page);
}

/** The same list, which ends after so many pages. */
function cutAfter(client: Client, pages: number): Client {
  const page = async (cursor: string, signal?: AbortSignal): Promise<Page<Post>> => {
    const read = (await client.page('posts', cursor, signal)) as Page<Post>;
    return cursor === (pages === 1 ? '' : `page=${pages}`) ? { ...read, next: null } : read;
  };
  return walking(client, page);
}

/** The same list through a cache that keeps every page for as long as it is told, whatever it is asked. */
function cached(client: Client, clock: FakeClock): { client: Client; forget(): void } {
  const kept = new Map<string, Page<Post>>();
  const page = async (cursor: string, signal?: AbortSignal): Promise<Page<Post>> => {
    clock.advance(1000);
    const read = kept.get(cursor) ?? ((await client.page('posts', cursor, signal)) as Page<Post>);
    kept.set(cursor, read);
    return { ...read, receivedAt: clock.now(), ageMs: clock.now() - read.receivedAt };
  };
  return { client: walking(client, page), forget: () => kept.clear() };
}

/** The same list with this row on top of it as well as in its place. */
function pinned(client: Client, row: Post): Client {
  const page = async (cursor: string, signal?: AbortSignal): Promise<Page<Post>> => {
    const read = (await client.page('posts', cursor, signal)) as Page<Post>;
    return cursor === '' ? { ...read, rows: [row, ...read.rows] } : read;
  };
  return walking(client, page);
}

/** The same list, where a read of it shows other rows than there are. */
function showing(client: Client, shown: (rows: Post[], cursor: string) => Post[]): Client {
  const page = async (cursor: string, signal?: AbortSignal): Promise<Page<Post>> => {
    const read = (await client.page('posts', cursor, signal)) as Page<Post>;
    return { ...read, rows: shown(read.rows, cursor) };
  };
  return walking(client, page);
}

type ReadOne = (cursor: string, signal?: AbortSignal) => Promise<Page<Post>>;

function walking(client: Client, page: ReadOne): Client {
  return {
    ...client,
    page: (async (_resource: string, cursor: string, signal?: AbortSignal) => page(cursor, signal)) as never,
    async *posts({ from = '', signal } = {}) {
      for (let cursor: string | null = from; cursor !== null; ) {
        const read: Page<Post> = await page(cursor, signal);
        yield read;
        cursor = read.next;
      }
    },
  };
}

describe('a row that was deleted upstream', () => {
  it('is found where it stood inside a page, by the second sweep', async (t) => {
    await assertFound(await settledBench(t), [28, 17]);
  });

  it('is found at the start and at the end of the list, by the fourth sweep', async (t) => {
    await assertFound(await settledBench(t), [30, 29, 2, 1], 4);
  });

  it('is found between two pages of a list that does not move, by the third sweep', async (t) => {
    const bench = await settledBench(t);
    // 25 stood at the start of page 2; the list without it has 24 there, and 26 still ends page 1.
    await assertFound(bench, [25], 3);
  });

  it('is found inside a page, though rows were missing at many places where two pages met', async (t) => {
    const bench = await settledBench(t);
    const { world } = bench.sandbox;
    for (const id of [25, 19, 13]) world.deletePost(id);
    for (let sweeps = 0; sweeps < 3; sweeps++) assert.equal((await bench.sync(SWEEP)).suspects, 3);
    for (let posts = 0; posts < 2; posts++) world.addPost();
    const deleted: number[] = [];
    for (let sweeps = 0; sweeps < 2; sweeps++) deleted.push((await bench.sync(SWEEP)).deleted);
    assert.deepEqual(deleted, [3, 0]);
    assertExact(bench.path, world, ['posts']);
  });

  it('is found in a list that starts with its oldest rows', async (t) => {
    await assertFound(await settledBench(t, { order: 'oldest' }), [3, 13, 29]);
  });

  it('is found in lists of every form of paging', async (t) => {
    for (const paging of ['number', 'offset', 'cursor', 'cursor-url'] as const)
      await assertFound(await settledBench(t, { paging }), [29, 18, 11, 3]);
  });

  it('is found beside a page without rows in the middle of the list', async (t) => {
    const bench = await settledBench(t);
    const sweeps = async (count: number) => {
      for (let n = 0; n < count; n++) await bench.sync(SWEEP, { client: inRanges(bench.client) });
    };
    for (const id of [20, 19, 18, 17, 16]) assert.ok(bench.sandbox.world.deletePost(id));
    await sweeps(3);
    for (const id of [21, 15]) assert.ok(bench.sandbox.world.deletePost(id));
    await sweeps(3);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('costs no request beyond the pages of the list', async (t) => {
    const bench = await settledBench(t);
    for (const id of [28, 22]) bench.sandbox.world.deletePost(id);
    for (let sweeps = 0; sweeps < 3; sweeps++)
      assert.equal(await requestsOf(bench, () => bench.sync(SWEEP)), PAGES);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is not found where one row always stands on top and in its place: the status says why', async (t) => {
    const bench = await settledBench(t);
    const { rows } = await bench.client.page('posts', 'page=5');
    const extras = { client: pinned(bench.client, rows[1] as Post) };
    bench.sandbox.world.deletePost(17);
    for (let sweeps = 0; sweeps < 3; sweeps++) await bench.sync(SWEEP, extras);
    assert.ok(isLive(bench, 17));
    const { isIncomplete, notes } = bench.store.status().resources[0] ?? {};
    assert.equal(isIncomplete, true);
    assert.match(notes?.[0] ?? '', /1 row came on two pages, so as many others may be left out/);
  });

  it('keeps its id, its fields and its history, and carries the time', async (t) => {
    const bench = await settledBench(t);
    const { title } = bench.sandbox.world.post(17);
    await assertFound(bench, [17]);
    const [row] = bench.query<{ title: string; deleted_at: string }>('SELECT * FROM posts WHERE id = 17');
    assert.equal(row?.title, title);
    assert.match(row?.deleted_at ?? '', /^\d{4}-.*Z$/);
    const states = bench.query<{ deleted: number }>('SELECT deleted FROM post_history WHERE post_id = 17');
    assert.deepEqual(
      states.map(({ deleted }) => deleted),
      [0, 1],
    );
  });

  it('is never found by a head pass, which concludes nothing from absence', async (t) => {
    const bench = await settledBench(t);
    bench.sandbox.world.deletePost(28);
    for (let passes = 0; passes < 4; passes++) assert.equal((await bench.sync(HEAD)).deleted, 0);
    assert.ok(isLive(bench, 28));
  });

  it('is found where the sweep that missed it was killed, by that one and the next', async (t) => {
    const bench = await settledBench(t);
    for (const id of [28, 3]) bench.sandbox.world.deletePost(id);
    await assert.rejects(bench.sync(SWEEP, { store: killedAfter(bench.store, 2) }), KILLED);
    await bench.restart();
    assert.equal((await bench.sync(SWEEP)).deleted, 0);
    assert.equal((await bench.sync(SWEEP)).deleted, 2);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});

describe('a living row', () => {
  it('that a page leaves out in silence is kept, and lives on when it shows again', async (t) => {
    const bench = await settledBench(t);
    bench.sandbox.faults.set('missing-row on=posts nth=2');
    const { deleted, suspects, rows } = await bench.sync(SWEEP);
    assert.deepEqual({ deleted, suspects, rows }, { deleted: 0, suspects: 1, rows: 29 });
    assert.equal((await bench.sync(SWEEP)).suspects, 0);
    assert.deepEqual(bench.query('SELECT * FROM post_versions'), []);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is kept where two sweeps find no row on a page in the middle of a quiet list', async (t) => {
    const bench = await settledBench(t);
    const client = showing(bench.client, (rows, cursor) => (cursor === 'page=3' ? [] : rows));
    for (let n = 0; n < 2; n++) assert.equal((await bench.sync(SWEEP, { client })).deleted, 0);
    await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is kept where one page is empty and ends the list too early', async (t) => {
    for (const nth of [2, 4, 5, 6]) {
      const bench = await settledBench(t);
      bench.sandbox.faults.set(`empty on=posts nth=${nth}`);
      assert.equal((await bench.sync(SWEEP)).rows, 30, 'asked for again');
      bench.sandbox.faults.set(`empty on=posts from=${nth} to=${nth + 1}`);
      const { deleted, pages } = await bench.sync(SWEEP);
      assert.deepEqual({ deleted, pages }, { deleted: 0, pages: nth });
      assert.equal((await bench.sync(SWEEP)).suspects, 0);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    }
  });

  it('is kept where it was left out once and the next sweep ends before its place', async (t) => {
    const bench = await settledBench(t);
    bench.sandbox.faults.set('missing-row on=posts nth=5');
    assert.equal((await bench.sync(SWEEP)).suspects, 1);
    assert.equal((await bench.sync(SWEEP, { client: cutAfter(bench.client, 3) })).deleted, 0);
    assert.equal((await bench.sync(SWEEP)).suspects, 0);
  });

  it('counts as deleted where four sweeps in a row end before its place, and lives again when it shows', async (t) => {
    const bench = await settledBench(t);
    const deleted: number[] = [];
    for (let sweeps = 0; sweeps < 4; sweeps++)
      deleted.push((await bench.sync(SWEEP, { client: cutAfter(bench.client, 5) })).deleted);
    assert.deepEqual(deleted, [0, 0, 0, 5]);
    await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is kept where it slides over to the page that is not being read, in every sweep', async (t) => {
    const bench = await settledBench(t);
    let added: number | null = null;
    // 21 ends page 2: a new row takes it to page 3, and without that row it is on page 2 again.
    bench.meanwhile = ({ url }) => {
      if (url.includes('page=2')) added ??= bench.sandbox.world.addPost().id;
      if (!url.includes('page=3') || added === null) return;
      bench.sandbox.world.deletePost(added);
      added = null;
    };
    for (let sweeps = 0; sweeps < 6; sweeps++) await bench.sync(SWEEP);
    assert.ok(isLive(bench, 21));
  });

  it('is kept where it crossed from one page to another, and the next sweep shows it', async (t) => {
    const bench = await settledBench(t);
    // A deletion above moves 20, which the sweep has not met yet, into the page it has read already.
    bench.meanwhile = ({ url }) => {
      if (url.includes('page=3') && bench.sandbox.world.deletePost(27))
        bench.sandbox.world.editPost(20, { content: 'changed' });
    };
    await bench.sync(SWEEP);
    assert.ok(isLive(bench, 20));
    for (let sweeps = 0; sweeps < 2; sweeps++) await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('is kept where it crossed and cannot be read just now', async (t) => {
    const bench = await settledBench(t);
    bench.meanwhile = ({ url }) => {
      if (url.includes('page=3')) bench.sandbox.world.deletePost(27);
    };
    bench.sandbox.faults.set('bad-row on=posts row=4 from=4');
    for (let sweeps = 0; sweeps < 3; sweeps++) await bench.sync(SWEEP);
    assert.ok(isLive(bench, 20));
  });
});

describe('a list behind a cache', () => {
  it('keeps a row that slid from a page of today to one of yesterday, and loses one that is gone', async (t) => {
    const clock = fakeClock();
    const bench = await settledBench(t, {}, clock);
    const { client, forget } = cached(bench.client, clock);
    clock.advance(3_600_000);
    const signal = new AbortController().signal;
    for (const cursor of ['', 'page=2']) await client.page('posts', cursor, signal);
    bench.sandbox.world.deletePost(28);
    for (let sweeps = 0; sweeps < 4; sweeps++) await bench.sync(SWEEP, { client });
    assert.ok(isLive(bench, 20));
    for (let sweeps = 0; sweeps < 3; sweeps++) {
      forget();
      clock.advance(3_600_000);
      await bench.sync(SWEEP, { client });
    }
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});

describe('a copy that a cache kept since before a row changed', () => {
  it('takes back neither the row nor what speaks against another', async (t) => {
    const clock = fakeClock();
    const bench = await settledBench(t, {}, clock);
    const { world } = bench.sandbox;
    const { client } = cached(bench.client, clock);
    await bench.sync(SWEEP, { client });
    clock.advance(3_600_000);
    world.editPost(12, { title: 'New words' });
    for (const id of [17, 23]) world.deletePost(id);
    await bench.sync(SWEEP);
    clock.advance(3_600_000);
    world.deletePost(7);
    await bench.sync(SWEEP);
    const before = bench.query('SELECT id, title, deleted_at FROM posts');
    const stood = bench.query('SELECT id FROM absences');
    clock.advance(3_600_000);
    const { updated, deleted, suspects } = await bench.sync(SWEEP, { client });
    assert.deepEqual({ updated, deleted, suspects }, { updated: 0, deleted: 0, suspects: 1 });
    assert.deepEqual(bench.query('SELECT id, title, deleted_at FROM posts'), before);
    assert.deepEqual([stood, bench.query('SELECT id FROM absences')], [[{ id: 7 }], [{ id: 7 }]]);
    clock.advance(3_600_000);
    await bench.sync(SWEEP);
    assertExact(bench.path, world, ['posts']);
  });

  it('is taken for what it is once it is younger than the row', async (t) => {
    const clock = fakeClock();
    const bench = await settledBench(t, {}, clock);
    const { client } = cached(bench.client, clock);
    bench.sandbox.world.editPost(12, { title: 'New words' });
    await bench.sync(SWEEP);
    clock.advance(3_600_000);
    bench.sandbox.world.editPost(12, { title: 'Newer words' });
    const signal = new AbortController().signal;
    for (const cursor of ['', 'page=2', 'page=3', 'page=4']) await client.page('posts', cursor, signal);
    clock.advance(3_600_000);
    const { updated } = await bench.sync(SWEEP, { client });
    assert.equal(updated, 1);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});

describe('a list behind a cache that renews its copies every other sweep', () => {
  it('loses a row that is gone: of sweeps that read the same copies one counts', async (t) => {
    const clock = fakeClock();
    const bench = await settledBench(t, {}, clock);
    const { client, forget } = cached(bench.client, clock);
    bench.sandbox.world.deletePost(17);
    for (let sweeps = 0; sweeps < 6; sweeps++) {
      if (sweeps % 2 === 0) forget();
      clock.advance(3_600_000);
      await bench.sync(SWEEP, { client });
    }
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});

describe('a list sorted by votes', () => {
  it('loses a row after three sweeps without it where two pages meet, also where a text changed meanwhile', async (t) => {
    const bench = await settledBench(t, { order: 'votes' });
    bench.sandbox.world.deletePost(17);
    const deletions: number[] = [];
    for (let sweeps = 0; sweeps < 3; sweeps++) {
      bench.sandbox.world.editPost(3, { content: `changed ${sweeps}` });
      deletions.push((await bench.sync(SWEEP)).deleted);
    }
    assert.deepEqual(deletions, [0, 0, 1]);
  });

  it('starts counting again when the row was seen in between', async (t) => {
    const bench = await settledBench(t, { order: 'votes' });
    bench.sandbox.faults.set('missing-row on=posts row=1 nth=2');
    await bench.sync(SWEEP);
    bench.sandbox.faults.set('missing-row on=posts row=1 nth=2');
    await bench.sync(SWEEP);
    bench.sandbox.faults.set('');
    await bench.sync(SWEEP);
    assert.equal((await bench.sync(SWEEP)).suspects, 0);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});
