import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeComment, decodePost } from '../../src/contract/decode.ts';
import { PAGING_STYLES } from '../../src/sandbox/paging.ts';
import { fakeClock } from '../support/clock.ts';
import { COMMENTS, call, comments, create, follow, json, open, POSTS, posts } from './client.ts';

function ids(page: { results: { id: number }[] }): number[] {
  return page.results.map((row) => row.id);
}

test('bad-row gives one row of the page a field of a wrong type', async (t) => {
  const sandbox = await open(t, { posts: 5 });
  for (const [spec, path, decode] of [
    ['bad-row', POSTS, decodePost],
    ['bad-row field=votes_count', POSTS, decodePost],
    ['bad-row field=creator.is_admin row=0', POSTS, decodePost],
    ['bad-row field=board', POSTS, decodePost],
    ['bad-row field=likes_count', COMMENTS, decodeComment],
  ] as const) {
    sandbox.faults.set(spec);
    const { results } = await posts(sandbox, path);
    assert.equal(results.filter((row) => !decode(row).ok).length, 1, spec);
  }
});

test('huge-id writes an id that no JavaScript number holds', async (t) => {
  const sandbox = await open(t, { posts: 5, faults: 'huge-id' });
  const { body } = await call(sandbox, POSTS);
  assert.equal(body.toString().match(/"id":9007199254740993,/g)?.length, 1);
});

test('duplicate-row shows a row twice, missing-row leaves one out', async (t) => {
  const sandbox = await open(t, {
    posts: 5,
    faults: 'duplicate-row nth=1; missing-row nth=2; missing-row row=0 nth=3',
  });
  assert.deepEqual(ids(await posts(sandbox)), [5, 4, 3, 3, 2, 1]);
  assert.deepEqual(ids(await posts(sandbox)), [5, 4, 2, 1]);
  assert.deepEqual(ids(await posts(sandbox)), [4, 3, 2, 1]);
  assert.deepEqual(ids(await posts(sandbox)), [5, 4, 3, 2, 1]);
});

test('a fault of rows on a page without rows did not happen', async (t) => {
  const sandbox = await open(t, { posts: 0, faults: 'missing-row; bad-row; duplicate-row; huge-id' });
  assert.deepEqual(ids(await posts(sandbox)), []);
  assert.deepEqual(sandbox.faults.fired(), {
    'missing-row': 0,
    'bad-row': 0,
    'duplicate-row': 0,
    'huge-id': 0,
  });
});

test('null-results, empty and no-next change the envelope and nothing else', async (t) => {
  const sandbox = await open(t, { posts: 7, pageSize: 5 });
  const good = await posts(sandbox);
  sandbox.faults.set('null-results nth=1; empty nth=2; no-next nth=3');
  assert.deepEqual(json(await call(sandbox, POSTS)), { ...good, results: null });
  assert.deepEqual(json(await call(sandbox, POSTS)), { ...good, results: [], next: null });
  const { next: _, ...rest } = good;
  assert.deepEqual(json(await call(sandbox, POSTS)), rest);
});

test('truncated ends a list early once, and does nothing to its last page', async (t) => {
  const sandbox = await open(t, { posts: 7, pageSize: 5, faults: 'truncated times=1' });
  const last = await posts(sandbox, `${POSTS}?page=2`);
  assert.equal(sandbox.faults.fired().truncated, 0);
  assert.deepEqual(ids(last), [2, 1]);
  const cut = await posts(sandbox);
  assert.deepEqual([ids(cut), cut.next], [[7, 6, 5, 4, 3], null]);
  assert.ok((await posts(sandbox)).next);
});

test('missing-row row=any leaves out now this row, now that one, the same ones for the same seed', async (t) => {
  const missing = async (): Promise<number[][]> => {
    const sandbox = await open(t, { posts: 5, faults: 'missing-row row=any' });
    return [ids(await posts(sandbox)), ids(await posts(sandbox)), ids(await posts(sandbox))];
  };
  const pages = await missing();
  assert.deepEqual(await missing(), pages);
  assert.ok(pages.every((page) => page.length === 4));
  assert.ok(new Set(pages.map((page) => page.join())).size > 1);
});

test('stale serves lists and searches as they were when it was set', async (t) => {
  const sandbox = await open(t, { posts: 3, clock: fakeClock() });
  sandbox.faults.set('stale on=all from=1 to=3');
  sandbox.world.deletePost(2);
  await create(sandbox, { title: 'Zeppelin' });
  assert.deepEqual(ids(await posts(sandbox)), [3, 2, 1]);
  assert.deepEqual(ids(await posts(sandbox, `${POSTS}?search=zeppelin`)), []);
  assert.ok((await comments(sandbox)).results.length > 0);
  assert.deepEqual(ids(await posts(sandbox)), [4, 3, 1]);
});

test('stale ms=N is behind by N at most', async (t) => {
  const clock = fakeClock();
  const sandbox = await open(t, { posts: 1, clock, faults: 'stale ms=1000' });
  const seen: number[] = [];
  for (let n = 0; n < 5; n++) {
    sandbox.world.addPost();
    seen.push((await posts(sandbox)).results.length);
    clock.advance(500);
  }
  assert.deepEqual(seen, [1, 1, 4, 4, 6]);
});

test('a post that shows late does not show earlier on a stale list', async (t) => {
  const clock = fakeClock();
  const sandbox = await open(t, { posts: 0, clock, faults: 'late-visible ms=100; stale ms=50' });
  await create(sandbox);
  clock.advance(60);
  assert.deepEqual(ids(await posts(sandbox)), []);
  clock.advance(60);
  assert.deepEqual(ids(await posts(sandbox)), [1]);
});

test('next-shape and next-away put anything into next', async (t) => {
  const sandbox = await open(t, { posts: 7, pageSize: 5 });
  for (const [spec, next] of [
    ['next-shape', {}],
    ['next-shape value=""', ''],
    ['next-shape value=false', false],
    ['next-shape value=[1]', [1]],
    ['next-away', 'http://127.0.0.1:9/elsewhere/?page=2'],
    ['next-away to=//evil.example/', '//evil.example/'],
  ] as const) {
    sandbox.faults.set(spec);
    assert.deepEqual((await posts(sandbox)).next, next, spec);
  }
});

for (const paging of PAGING_STYLES) {
  test(`next-loop leads back to the page itself, or an earlier one, when paged by ${paging}`, async (t) => {
    const sandbox = await open(t, { posts: 12, pageSize: 5, paging });
    const second = follow(POSTS, (await posts(sandbox)).next);
    sandbox.faults.set('next-loop');
    const page = await posts(sandbox, second);
    assert.deepEqual(ids(page), [7, 6, 5, 4, 3]);
    assert.equal(follow(POSTS, page.next), second);
    sandbox.faults.set('next-loop back=1');
    const back = await posts(sandbox, follow(POSTS, (await posts(sandbox, second)).next));
    assert.deepEqual(ids(back), [12, 11, 10, 9, 8]);
  });

  test(`same-page repeats its rows under ever new links when paged by ${paging}`, async (t) => {
    const sandbox = await open(t, { posts: 12, pageSize: 5, paging, faults: 'same-page from=2' });
    const links = new Set<unknown>();
    let target: string = POSTS;
    for (let n = 1; n <= 6; n++) {
      const page = await posts(sandbox, target);
      assert.deepEqual(ids(page), n === 1 ? [12, 11, 10, 9, 8] : [7, 6, 5, 4, 3]);
      links.add(page.next);
      target = follow(POSTS, page.next);
    }
    assert.equal(links.size, 6);
  });
}

test('faults of pages suit comments and searches too', async (t) => {
  const sandbox = await open(t, { posts: 12, pageSize: 5 });
  const good = await comments(sandbox);
  sandbox.faults.set('missing-row row=0 on=comments');
  assert.deepEqual((await comments(sandbox)).results, good.results.slice(1));
  sandbox.world.addPost({ title: 'Zeppelin' });
  sandbox.faults.set('missing-row on=search; next-loop on=search');
  const found = await posts(sandbox, `${POSTS}?search=zeppelin`);
  assert.deepEqual(found.results, []);
  assert.ok(found.next);
});

test('several faults of a page act together', async (t) => {
  const sandbox = await open(t, {
    posts: 7,
    pageSize: 5,
    faults: 'missing-row row=0; duplicate-row row=0; no-next',
  });
  const page = await posts(sandbox);
  assert.deepEqual(ids(page), [6, 6, 5, 4, 3]);
  assert.equal('next' in page, false);
});
