import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { searchable } from '../../src/text/words.ts';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { post, shelfOf, UPSTREAM } from './shelf.ts';

const ISSUE = 'https://github.com/acme/app/issues/17';

describe('a search in any language', () => {
  it('finds words of scripts without spaces, and marks them', async (t) => {
    const { ids, search } = await shelfOf(t, [
      post(1, '希望能导出数据到Excel'),
      post(2, 'データをエクスポートできない'),
      post(3, '검색을 더 빠르게 해주세요'),
      post(4, 'ส่งออกข้อมูลเป็นไฟล์'),
      post(5, 'Something else'),
    ]);
    assert.deepEqual(await ids('导出数据'), [1]);
    assert.deepEqual(await ids('エクスポート'), [2]);
    assert.deepEqual(await ids('검색'), [3]);
    assert.deepEqual(await ids('검색이'), [3]);
    assert.deepEqual(await ids('ข้อมูล'), [4]);
    const [hit] = (await search.find('数据 excel')).hits;
    assert.deepEqual(
      hit?.title.filter(({ isMatch }) => isMatch).map(({ text }) => text),
      ['数据', 'Excel'],
    );
  });

  it('folds what people leave out, and finds what is written in one word or two', async (t) => {
    const { ids } = await shelfOf(t, [
      post(1, 'Тёмная тема'),
      post(2, 'Đăng nhập ở Łódź'),
      post(3, 'Größe der Straße'),
      post(4, 'An e-mail to 1,000 people'),
      post(5, 'हिन्दी में खोज'),
    ]);
    for (const [text, id] of [
      ['темная', 1],
      ['dang nhap lodz', 2],
      ['grosse strasse', 3],
      ['email', 4],
      ['e-mails 1000', 4],
      ['हिन्दी', 5],
    ] as const)
      assert.deepEqual(await ids(text), [id], text);
    assert.deepEqual(await ids('हिनदा'), [], 'vowel signs are parts of words');
  });

  it('leaves plain English unchanged', () => {
    for (const text of ['Dark mode, please. It’s 2.1 now…', '', 'CSV']) assert.equal(searchable(text), text);
  });
});

describe('a word as long as a book', () => {
  it('is indexed at once, also beside a hyphen that asks for a closer look', () => {
    for (const letter of ['x', 'é', '7'])
      assert.match(searchable(`${letter.repeat(1_000_000)} by e-mail`), / email$|\nemail$/);
  });
});

describe('a search for more than words', () => {
  it('finds a post by number and by address first', async (t) => {
    const { ids } = await shelfOf(t, [
      aPost(12, { title: 'Plain', url: '/b/bugs/p/plain-12/' }),
      aPost(13, { title: 'All 12 of them', url: '/b/bugs/p/all-of-them/' }),
    ]);
    assert.deepEqual(await ids('#12'), [12, 13]);
    assert.deepEqual(await ids('12'), [12, 13]);
    assert.deepEqual(await ids(`${UPSTREAM}/b/bugs/p/plain-12/?x=1`), [12]);
    assert.deepEqual(await ids('http://localhost:8080/posts/13'), [13]);
    assert.deepEqual(await ids('/b/bugs/p/all-of-them/'), [13]);
  });

  it('takes a number as keyboards and sentences write it', async (t) => {
    const { ids } = await shelfOf(t, [post(16, 'Other'), post(17, 'Plain')]);
    for (const text of ['＃17', '# 17', '#17.', '#１７', ' 17, '])
      assert.deepEqual(await ids(text, { typing: true }), [17], text);
  });

  it('takes an address for a post only where the post has its number at that place, and finds what other addresses are in', async (t) => {
    const url = (id: number): string => `/b/bugs/p/${id}/`;
    const { search } = await shelfOf(t, [
      ...[1, 2, 3, 17, 33].map((id) => aPost(id, { title: 'Something else', url: url(id) })),
      aPost(301, { title: 'It fails', content: `See ${ISSUE} for the stack trace.`, url: url(301) }),
      aPost(302, { title: 'A file', content: 'It writes to /srv/data/file-2.csv at night.', url: url(302) }),
      aPost(303, { title: 'A log', content: 'It is in /var/log/app-1.log.', url: url(303) }),
      aPost(304, { title: 'A link', content: 'As in https://example.com/posts/3 I read.', url: url(304) }),
    ]);
    for (const [text, found] of [
      [ISSUE, [301]],
      ['/srv/data/file-2.csv', [302]],
      ['/var/log/app-1.log', [303]],
      ['https://example.com/2024/10/33', []],
      [`${UPSTREAM}/b/bugs/p/17/comments/3`, [17]],
      [`<${UPSTREAM}/b/moved/p/17/#comment-3>`, [17]],
      ['upstream.test/b/bugs/p/17/.', [17]],
      ['/b/bugs/p/17', [17]],
      ['https://feedback.example.com/b/bugs/p/17/', [17]],
      ['https://feedback.example.com/b/other/p/17/', [17]],
      ['https://example.com/posts/3', [3, 304]],
    ] as const)
      for (const typing of [true, false]) {
        const { hits, isPartial } = await search.find(text, { typing });
        assert.deepEqual(isPartial ? [] : hits.map(({ id }) => id), found, text);
      }
  });

  it('finds a post by the very address that the upstream gives it, with or without its number', async (t) => {
    const { ids, search } = await shelfOf(t, [
      aPost(5, { title: 'One', url: '/b/ideas/qzqz-hjkl/' }),
      aPost(6, { title: 'Two', url: '/b/bugs/items/105/' }),
      aPost(7, { title: 'Three', url: '/c/112-7-ways' }),
      aPost(8, { title: 'Four', url: '/b/größe/' }),
      aPost(9, { title: 'Five', url: 'https://feedback.example.com/b/nine/' }),
      aPost(105, { title: 'Six', url: '/b/bugs/items/5/' }),
      aPost(31, { title: 'Seven', url: '/view?post=31' }),
      aPost(32, { title: 'Eight', url: '/view?post=32' }),
      aPost(33, { title: 'Last', url: '/#/posts/abc' }),
    ]);
    for (const [text, found] of [
      [`${UPSTREAM}/b/ideas/qzqz-hjkl/`, 5],
      [`${UPSTREAM}/b/ideas/qzqz-hjkl?from=mail#c1`, 5],
      ['/b/ideas/qzqz-hjkl', 5],
      ['upstream.test/b/ideas/qzqz-hjkl/', 5],
      [`${UPSTREAM}/b/bugs/items/105/`, 6],
      [`${UPSTREAM}/c/112-7-ways/`, 7],
      [`${UPSTREAM}/b/gr%C3%B6%C3%9Fe/`, 8],
      ['https://feedback.example.com/b/nine', 9],
      [`${UPSTREAM}/view?post=32`, 32],
      [`${UPSTREAM}/#/posts/abc`, 33],
    ] as const)
      assert.deepEqual(await ids(text), [found], text);
    // The portal of the service may be on another host than its API.
    assert.deepEqual(await ids('https://portal.test/b/ideas/qzqz-hjkl/'), [5]);
    for (const text of [
      'http://other.test/b/ideas/other/',
      'http://other.test/b/nine',
      'http://other.test/x/p/105',
    ])
      assert.equal((await search.find(text)).hits.length, 0, text);
  });

  it('finds those with most of the words where none has all, and says so', async (t) => {
    const { search, ids } = await shelfOf(t, [
      post(1, 'The export of invoices fails', 'It stops at the second page.'),
      post(2, 'Invoices in another currency'),
      post(3, 'Bicycles'),
    ]);
    const text = 'Hello, since yesterday our export of invoices always fails on Safari!';
    assert.equal((await ids(text))[0], 1);
    assert.equal((await search.find(text)).isPartial, true);
    assert.equal((await search.find('export invoices')).isPartial, false);
  });

  it('suggests words that the posts have for a misspelt one, or two for one', async (t) => {
    const { search } = await shelfOf(t, [
      post(1, 'Notifications'),
      post(2, 'Dark mode'),
      post(3, 'Calendar'),
    ]);
    for (const [text, meant] of [
      ['notificatoins', 'notifications'],
      ['calender', 'calendar'],
      ['darkmode', 'dark mode'],
      ['xylophone', null],
    ] as const)
      for (const typing of [false, true])
        assert.equal((await search.find(text, { typing })).suggestion, meant, text);
    for (const text of ['calen', 'calendar noti'])
      assert.equal((await search.find(text, { typing: true })).suggestion, null, text);
  });

  it('suggests the nearest word, and of equally near ones the most frequent', async (t) => {
    const words = ['zeppelin', 'zeppolon', 'zeppolon', 'zeppolon', 'zeppelun', 'zeppelun'];
    const { search } = await shelfOf(
      t,
      words.map((word, i) => post(i + 1, word)),
    );
    for (const [text, meant] of [
      ['zeppelinn', 'zeppelin'],
      ['zeppelan', 'zeppelun'],
      ['zeppolan', 'zeppolon'],
    ] as const)
      assert.equal((await search.find(text)).suggestion, meant, text);
  });

  it('suggests words that only comments have, of those that can be found', async (t) => {
    const on = { id: 1, title: 'Transport', url: '/p/1/' };
    const { store, search } = await shelfOf(t, [post(1, 'Transport')], {
      comments: [
        aComment(7, { post: on, content: 'The zeppelin integration solved it.' }),
        aComment(8, { post: on, content: 'A submarine for the team.', internal: true }),
        aComment(9, { post: on, content: 'A bicycle.' }),
      ],
    });
    const suggested = async (text: string, isInternal = true) =>
      (await search.find(text, { isInternal })).suggestion;
    assert.equal(await suggested('zepelin'), 'zeppelin');
    assert.equal(await suggested('zeppelin integraton'), 'zeppelin integration');
    assert.deepEqual([await suggested('submarin'), await suggested('submarin', false)], ['submarine', null]);
    assert.equal(await suggested('bicicle'), 'bicycle');
    await sweep(
      store,
      'comments',
      [aComment(7, { post: on, content: 'The zeppelin integration solved it.' })],
      2,
    );
    assert.equal(await suggested('bicicle'), null, 'the comment is gone');
  });

  it('finds what comments say, after the posts that say it themselves, until the comment is gone', async (t) => {
    const said = aComment(7, {
      post: { id: 2, title: 'Other', url: '/p/2/' },
      content: 'A zeppelin would help.',
    });
    const { store, search, ids } = await shelfOf(t, [post(1, 'A zeppelin'), post(2, 'Other')], {
      comments: [said],
    });
    assert.deepEqual(await ids('zeppelin'), [1, 2]);
    const { hits } = await search.find('zeppelin help');
    assert.deepEqual([hits[0]?.id, hits[0]?.comment], [2, 7]);
    assert.match(hits[0]?.snippet.map(({ text }) => text).join('') ?? '', /^A zeppelin would help/);
    await sweep(store, 'comments', [{ ...said, content: 'Never mind.' }], 2);
    assert.deepEqual(await ids('zeppelin'), [1]);
  });
});
