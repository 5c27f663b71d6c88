import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database, { type Statement } from 'better-sqlite3';
import { openMirrorReadOnly } from '../../src/mirror/file/open.ts';
import { openSamePosts } from '../../src/search/same-posts.ts';
import { moreLikeThis } from '../../src/search/similar.ts';
import { post, shelfOf, UPSTREAM } from './shelf.ts';

const POSTS = [
  post(1, 'Export a board to Excel', 'We send the numbers to our accountants every month.'),
  post(2, 'Excel exports of boards', 'Accountants want them monthly.'),
  post(3, 'Dark mode', 'The white background hurts at night.'),
  post(4, 'A theme for the night', 'White backgrounds hurt my eyes in the dark.'),
  post(5, '导出数据到表格', '每个月都要导出。'),
  post(6, '希望能导出表格数据', ''),
  post(7, 'Something else altogether', 'Nobody else writes about bicycles.'),
];

describe('posts like another', () => {
  it('share its rare words in whatever form, in any script, the most alike first and without itself', async (t) => {
    const { search } = await shelfOf(t, POSTS);
    const like = async (about: number) => (await search.similar({ about }))?.map(({ id }) => id);
    assert.equal((await like(1))?.[0], 2);
    assert.equal((await like(4))?.[0], 3);
    assert.deepEqual(await like(6), [5]);
    assert.deepEqual(await like(7), []);
    assert.equal(await search.similar({ about: 99 }), null);
  });

  it('are found for a text that is no post yet, each with how alike it is', async (t) => {
    const { search } = await shelfOf(t, POSTS);
    const found = await search.similar({ about: { title: 'Exporting to Excel', content: '' }, limit: 2 });
    assert.deepEqual(new Set(found?.map(({ id }) => id)), new Set([1, 2]));
    assert.ok(found?.every(({ likeness }) => likeness > 0.3 && likeness <= 1));
    assert.deepEqual(await search.similar({ about: { title: ' ?! ', content: '' } }), []);
  });

  it('are as like a title that is being typed where their content is long', async (t) => {
    const content = 'Every month our bookkeeper asks for all of them, and we save each by hand. '.repeat(5);
    const { search } = await shelfOf(t, [...POSTS, post(8, 'Export invoices as a spreadsheet', content)]);
    const [found] =
      (await search.similar({ about: { title: 'Spreadsheet of invoices', content: '' } })) ?? [];
    assert.equal(found?.id, 8);
    assert.ok((found?.likeness ?? 0) > 0.5, 'as alike as what a person should compare');
  });

  it('are read in a bounded number where one word stands in very many, those with it in their title first', async (t) => {
    const content = 'We export it by hand.';
    const titled = [1, 2, 3].map((id) => post(id, `Export ${id}`, content));
    const others = Array.from({ length: 600 }, (_, i) => post(4 + i, `Something ${i}`, content));
    const { path } = await shelfOf(t, [...titled, ...others]);
    const db = openMirrorReadOnly({ path, upstream: UPSTREAM });
    t.after(() => db.close());
    const similar = moreLikeThis(db);
    const other = new Database(':memory:');
    t.after(() => other.close());
    const statements = Object.getPrototypeOf(other.prepare('SELECT 1')) as Statement;
    const { mock } = t.mock.method(statements, 'all');
    const found = similar({ about: { title: 'Export', content: '' } });
    assert.deepEqual(
      found?.slice(0, 3).map(({ id }) => id),
      [3, 2, 1],
    );
    assert.ok(mock.calls.every(({ result }) => (result?.length ?? 0) <= 240));
  });

  it('stay in the list, behind others, where the title has another word in one place', async (t) => {
    const content = 'Our team in the office works with it every day.';
    const { search } = await shelfOf(t, [
      post(1, 'Translate the app into Polish', content),
      post(2, 'Translate the app into Finnish', content),
      post(3, 'Polish: our team in the office', 'It works with the app every day.'),
      post(4, 'Our team in the office', 'We work in Polish every day.'),
      ...Array.from({ length: 20 }, (_, i) => post(5 + i, `Something else ${i}`, 'Bicycles.')),
    ]);
    const found = await search.similar({ about: 1, limit: 2 });
    assert.deepEqual(
      found?.map(({ id }) => id),
      [3, 2],
    );
    assert.ok((found?.[1]?.likeness ?? 1) < 0.5, 'a person need not compare them');
  });

  it('come first where a person has marked them as the same, until that is taken back', async (t) => {
    const { search, path } = await shelfOf(t, POSTS);
    const same = openSamePosts({ path, upstream: UPSTREAM });
    t.after(() => same.close());
    assert.deepEqual([same.mark(7, 1, 0), same.mark(1, 7, 0)], [true, false]);
    same.mark(7, 3, 0);
    const marked = async () =>
      (await search.similar({ about: 1 }))?.filter(({ isSame }) => isSame).map(({ id }) => id);
    assert.deepEqual(new Set(await marked()), new Set([7, 3]), 'also by way of another');
    assert.deepEqual([same.unmark(1, 7), same.unmark(1, 7)], [[7], []]);
    assert.deepEqual(await marked(), []);
    assert.throws(() => same.mark(1, 99, 0), /the mirror has no post 99/);
    assert.throws(() => same.mark(1, 1, 0), /name two posts/);
  });

  it('leave a group whole where a third post joined them, with those that were the same only by way of them', async (t) => {
    const { search, path } = await shelfOf(t, POSTS);
    const same = openSamePosts({ path, upstream: UPSTREAM });
    t.after(() => same.close());
    const groupOf = async (about: number) =>
      (await search.similar({ about }))?.flatMap(({ id, isSame }) => (isSame ? [id] : [])).toSorted();
    same.mark(1, 2, 0);
    same.mark(2, 3, 0);
    assert.deepEqual(same.unmark(3, 1), [2], 'marked by way of another only');
    assert.deepEqual([await groupOf(1), await groupOf(3)], [[2], []]);
    for (const [a, b] of [
      [2, 3],
      [1, 3],
      [1, 7],
    ] as const)
      same.mark(a, b, 0);
    assert.deepEqual(same.unmark(1, 2), [2, 3], 'marked directly and by way of another');
    assert.deepEqual([await groupOf(1), await groupOf(2)], [[7], [3]]);
  });
});
