import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientOf, envelope, json, startUpstream } from '../api/support/upstream.ts';
import { liveIds, mirrorReader } from '../support/mirror.ts';
import { range } from '../support/rows.ts';
import { assertExact, readMirror } from './mirror-rows.ts';
import { workbenchFor } from './workbench.ts';

const POSTS = { resource: 'posts', mode: 'sweep' } as const;
const COMMENTS = { resource: 'comments', mode: 'sweep' } as const;

describe('a sweep', () => {
  it('brings the whole list, one request a page', async (t) => {
    const bench = await workbenchFor(t);
    const { pages, rows, inserted, updated, deleted, outcome } = await bench.sync(POSTS);
    assert.deepEqual(
      { pages, rows, inserted, updated, deleted, outcome },
      { pages: 6, rows: 30, inserted: 30, updated: 0, deleted: 0, outcome: 'complete' },
    );
    assert.equal(bench.sandbox.requestCount, 6);
    await bench.sync(COMMENTS);
    assertExact(bench.path, bench.sandbox.world);
  });

  for (const [from, size] of [
    [2, 5],
    [4, 3],
    [9, 7],
  ] as const)
    it(`is followed by one that brings the rows that pages of ${size} skip from page ${from} on, where those before had 2`, async (t) => {
      const bench = await workbenchFor(t);
      const ids = range(1, 40).toReversed();
      const upstream = await startUpstream(t, (request, response) => {
        const n = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1);
        isGrown ||= n >= from;
        const rows = isGrown ? size : 2;
        json(
          response,
          envelope(ids.slice((n - 1) * rows, n * rows), n * rows < 40 ? `?page=${n + 1}` : null),
        );
      });
      let isGrown = false;
      const client = clientOf(t, upstream.url);
      for (let sweeps = 0; sweeps < 2; sweeps++) await bench.sync(POSTS, { client });
      assert.deepEqual(liveIds(mirrorReader(bench.path)), range(1, 40));
    });

  it('is complete where its last page goes while it is read, and the next one brings the row that slid from it', async (t) => {
    const bench = await workbenchFor(t);
    const ids = range(1, 16).toReversed();
    const upstream = await startUpstream(t, (request, response) => {
      const n = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1);
      if (n === 4) ids.splice(0, ids.length, ...range(1, 15).toReversed());
      const rows = ids.slice((n - 1) * 5, n * 5);
      if (rows.length === 0) json(response, { detail: 'Invalid page.' }, 404);
      else json(response, envelope(rows, n * 5 < ids.length ? `?page=${n + 1}` : null));
    });
    const client = clientOf(t, upstream.url);
    assert.equal((await bench.sync(POSTS, { client })).outcome, 'complete');
    await bench.sync(POSTS, { client });
    assert.deepEqual(liveIds(mirrorReader(bench.path)), range(1, 16));
  });

  for (const [paging, following] of [
    ['number', (n: number) => `?page=${n}`],
    ['offset', (n: number) => `?offset=${(n - 1) * 2}`],
    ['cursor', (n: number) => `?cursor=${Buffer.from(`page ${n}`).toString('base64url')}`],
  ] as const)
    it(`brings the rows behind five pages without any, paged by ${paging}`, async (t) => {
      const bench = await workbenchFor(t);
      const ids = range(1, 24).toReversed();
      const places = new Map(range(2, 12).map((n) => [following(n), n]));
      const upstream = await startUpstream(t, (request, response) => {
        const n = places.get(new URL(request.url ?? '', 'http://x').search) ?? 1;
        const rows = ids.slice((n - 1) * 2, n * 2).filter((id) => id <= 8 || id > 18);
        json(response, envelope(rows, n < 12 ? following(n + 1) : null));
      });
      const { outcome } = await bench.sync(POSTS, { client: clientOf(t, upstream.url) });
      const expected = [...range(1, 8), ...range(19, 24)];
      assert.deepEqual([outcome, liveIds(mirrorReader(bench.path))], ['complete', expected]);
    });

  it('of an unchanged list writes no row', async (t) => {
    const bench = await workbenchFor(t);
    await bench.sync(POSTS);
    const before = bench.query('SELECT * FROM posts');
    const requests = bench.sandbox.requestCount;
    const { inserted, updated, unchanged, deleted, suspects, held } = await bench.sync(POSTS);
    assert.deepEqual(
      { inserted, updated, unchanged, deleted, suspects, held },
      { inserted: 0, updated: 0, unchanged: 30, deleted: 0, suspects: 0, held: 0 },
    );
    assert.equal(bench.sandbox.requestCount - requests, 6);
    assert.deepEqual(bench.query('SELECT * FROM posts'), before);
    assert.deepEqual(bench.query('SELECT * FROM post_versions'), []);
  });

  it('counts each row that changed, and keeps what it replaced', async (t) => {
    const bench = await workbenchFor(t);
    await bench.sync(POSTS);
    bench.sandbox.world.vote(7);
    bench.sandbox.world.addPost({ title: 'new' });
    const { inserted, updated, unchanged } = await bench.sync(POSTS);
    assert.deepEqual({ inserted, updated, unchanged }, { inserted: 1, updated: 1, unchanged: 29 });
    const history = bench.query<{ votes_count: number }>(
      'SELECT votes_count FROM post_history WHERE post_id = 7 ORDER BY observed_at',
    );
    assert.equal(history.length, 2);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('keeps fields the contract does not know, and lets go of them when they go', async (t) => {
    const bench = await workbenchFor(t);
    bench.sandbox.world.editPost(7, { extra: { tags: ['a'], nested: { deep: 1.5 } } });
    await bench.sync(POSTS);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
    const [kept] = bench.query<{ extra: string }>('SELECT extra FROM posts WHERE id = 7');
    assert.deepEqual(JSON.parse(kept?.extra ?? ''), { tags: ['a'], nested: { deep: 1.5 } });
    bench.sandbox.world.editPost(7, { extra: null });
    assert.equal((await bench.sync(POSTS)).updated, 1);
    assert.deepEqual(bench.query('SELECT extra FROM posts WHERE id = 7'), [{ extra: null }]);
  });

  it('of a list that fits one page sees what is gone in it, in whatever order', async (t) => {
    for (const order of ['newest', 'oldest', 'votes'] as const) {
      const bench = await workbenchFor(t, { posts: 12, pageSize: 50, order });
      await bench.sync(POSTS);
      for (const id of [1, 5, 12]) bench.sandbox.world.deletePost(id);
      assert.equal((await bench.sync(POSTS)).suspects, 3, order);
      for (let sweeps = 0; sweeps < 3; sweeps++) await bench.sync(POSTS);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    }
  });

  it('of an empty upstream is complete and leaves an empty mirror', async (t) => {
    const bench = await workbenchFor(t, { posts: 0 });
    const { outcome, rows, held } = await bench.sync(POSTS);
    assert.deepEqual({ outcome, rows, held }, { outcome: 'complete', rows: 0, held: 0 });
    assert.deepEqual(readMirror(bench.path).posts, []);
  });

  it('walks every form of paging to the same mirror', async (t) => {
    for (const paging of ['path', 'query', 'number', 'offset', 'cursor', 'cursor-url'] as const) {
      const bench = await workbenchFor(t, { paging, posts: 12 });
      assert.equal((await bench.sync(POSTS)).pages, 3, paging);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    }
  });
});
