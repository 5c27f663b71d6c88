import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { makeMirror } from '../../bench/mirror-data.ts';
import { zipfLanguage } from '../../bench/words.ts';
import { EVERY_LIVE_POST } from '../../src/search/browse/filter.ts';
import { conditions, SEARCH_SQL } from '../../src/search/rank.ts';
import { NOTHING_FOUND, openSearchReads, type Part } from '../../src/search/search.ts';
import { anyText } from '../support/any-text.ts';
import { temporaryFolder } from '../support/folder.ts';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { post, shelfOf, UPSTREAM } from './shelf.ts';

function marked(parts: readonly Part[] = []): string {
  return parts.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join('');
}

describe('a search', () => {
  it('ranks a word of the title above the same word of the content, and the newer of two equals first', async (t) => {
    const { ids } = await shelfOf(t, [
      post(1, 'Something else', 'The zeppelin is late.'),
      post(2, 'A zeppelin', 'It is late.'),
      post(3, 'Something else', 'The zeppelin is late.'),
      post(4, 'Nothing', 'of the kind'),
    ]);
    assert.deepEqual(await ids('zeppelin'), [2, 3, 1]);
    assert.deepEqual(await ids('zeppelin', { limit: 2 }), [2, 3]);
  });

  it('finds emoji as words, whatever the colour of the skin, and marks them', async (t) => {
    const { ids, search } = await shelfOf(t, [
      post(1, 'Dark mode 🌙', 'Please 👍🏽'),
      post(2, 'Dark mode', 'I ❤️ it, as in 🇩🇪'),
      post(3, 'Moon 🌕', '© 2026 🇩🇰🇪🇸'),
    ]);
    for (const [text, ...meant] of [
      ['🌙', 1],
      ['👍', 1],
      ['dark 👍🏿', 1],
      ['❤', 2],
      ['🇩🇪', 2],
      ['"mode 🌙"', 1],
    ] as const)
      assert.deepEqual(await ids(text), meant, text);
    assert.deepEqual(await ids('©'), []);
    assert.equal(marked((await search.find('🌙')).hits[0]?.title), 'Dark mode [🌙]');
  });

  it('finds only posts with all words, also where nearly every post has one of them', async (t) => {
    // By their ids a hundred thousand times as many posts have them.
    const last = 1_000_000;
    const { ids, search } = await shelfOf(
      t,
      Array.from({ length: 420 }, (_, i) => {
        const rare = i % 20 === 0 ? 'zeppelin' : 'balloon';
        const [common, beginning] = [i % 40 === 0 ? '' : 'please', i % 60 === 0 ? 'of' : 'dashboards'];
        return post(last - i, `A ${rare}`, `${common} for ${beginning}`);
      }),
    );
    const meant = (isMeant: (i: number) => boolean): number[] =>
      Array.from({ length: 21 }, (_, i) => 20 * i)
        .filter(isMeant)
        .map((i) => last - i);
    assert.deepEqual(
      (await ids('zeppelin please ')).toSorted((a, b) => b - a),
      meant((i) => i % 40 !== 0),
    );
    for (const text of ['zeppelin dash', 'zeppelin dashboa', 'zeppelin please d']) {
      const found = await search.find(text, { typing: true, isCounted: true });
      const all = meant((i) => i % 60 !== 0 && (!text.includes('please') || i % 40 !== 0));
      assert.deepEqual(
        found.hits.map(({ id }) => id).toSorted((a, b) => b - a),
        all,
        text,
      );
      assert.deepEqual(found.total, { posts: all.length, isMore: false }, text);
    }
  });

  it('folds accents and case, and finds singular and plural', async (t) => {
    const { ids } = await shelfOf(t, [
      post(1, 'Résumé'),
      post(2, 'resume'),
      post(3, 'RE\u0301SUME\u0301S'),
      post(4, 'rest'),
    ]);
    for (const text of ['resume', 'RÉSUMÉ', 'résumés'])
      assert.deepEqual(new Set(await ids(text)), new Set([1, 2, 3]), text);
  });

  it('finds Arabic and Hebrew words with an article or preposition in front, and amounts without their comma', async (t) => {
    const titles = ['إضافة الوضع المظلم', 'وضع مظلم', 'מסך כהה', 'תמיכה במסך הכהה', 'Pay 1,234.56 at once'];
    const { ids } = await shelfOf(
      t,
      titles.map((title, i) => post(i + 1, title)),
    );
    for (const [text, ...meant] of [
      ['مظلم', 1, 2],
      ['المظلم', 1, 2],
      ['والوضع', 1, 2],
      ['כהה', 3, 4],
      ['במסך', 3, 4],
      ['1234.56', 5],
      ['1,234.56', 5],
    ] as const)
      assert.deepEqual(new Set(await ids(text)), new Set(meant), text);
  });

  it('takes quotes as words side by side and a star as the beginning of a word', async (t) => {
    const { ids } = await shelfOf(t, [
      post(1, 'Dark mode'),
      post(2, 'Mode that is dark'),
      post(3, 'Darkness'),
    ]);
    assert.deepEqual(await ids('"dark mode"'), [1]);
    assert.deepEqual(new Set(await ids('dark mode')), new Set([1, 2]));
    assert.deepEqual(new Set(await ids('dark*')), new Set([1, 2, 3]));
    assert.deepEqual(await ids('darkn', { typing: true }), [3]);
    assert.deepEqual(await ids('darkn'), []);
  });

  it('marks what matched in title and snippet, as data', async (t) => {
    const long = `${'before '.repeat(60)}the zeppelins flew ${'after '.repeat(60)}`;
    const { search } = await shelfOf(t, [post(1, 'A <b>zeppelin</b>', long)]);
    const [hit] = (await search.find('zeppelin')).hits;
    assert.equal(marked(hit?.title), 'A <b>[zeppelin]</b>');
    assert.match(marked(hit?.snippet), /^…(before )*the \[zeppelins\] flew (after ?)*…$/);
    assert.ok((hit?.snippet.map(({ text }) => text).join('').length ?? 0) < 250);
  });

  it('gives a snippet with what stands around it to those who ask, also from the end of what is looked at', async (t) => {
    const long = `${'before '.repeat(2850)}zeppelin ${'after '.repeat(9000)}`;
    const { search } = await shelfOf(t, [post(1, 'Long', long)]);
    const [hit] = (await search.find('zeppelin', { isExcerpt: true })).hits;
    assert.match(marked(hit?.snippet), /^…(before )*\[zeppelin\] (after ?)*…$/);
    const { text, start, end } = hit?.excerpt ?? { text: '', start: 0, end: 0 };
    assert.equal(`…${text.slice(start, end)}…`, hit?.snippet.map((part) => part.text).join(''));
    assert.ok(long.includes(text));
    assert.deepEqual([start, text.length - end], [400, 400]);
    assert.equal((await search.find('zeppelin')).hits[0]?.excerpt, undefined);
  });

  it('shows live posts only, also before the index has forgotten the others', async (t) => {
    const { store, ids } = await shelfOf(t, [post(1, 'zeppelin one'), post(2, 'zeppelin two')]);
    await sweep(store, 'posts', [post(2, 'zeppelin two')], 2);
    assert.deepEqual(await ids('zeppelin'), [2]);
    await sweep(store, 'posts', [post(1, 'zeppelin again'), post(2, 'submarine')], 3);
    assert.deepEqual(await ids('zeppelin'), [1]);
  });

  it('finds a short word of a board in its oldest post, too', async (t) => {
    const board = { id: 1, name: 'Bugs', url: '/b/bugs/' };
    const dayOf = (id: number) => new Date(Date.UTC(2020, 0, id)).toISOString();
    const titles: Record<number, string> = { 1: 'xy', 2: 'A xylophone', 3: 'Two xylophones', 3002: 'xy' };
    const titleOf = (id: number) => titles[id] ?? 'Wish';
    const posts = Array.from({ length: 3002 }, (_, i) =>
      aPost(i + 1, { title: titleOf(i + 1), created: dayOf(i + 1), board }),
    );
    const { ids, search } = await shelfOf(t, posts);
    const typed = { typing: true, board: 'bugs' };
    assert.deepEqual(await ids('xy', { board: 'bugs' }), [3002, 1]);
    assert.deepEqual(await ids('xy', typed), [3002, 3, 2, 1]);
    assert.deepEqual(await search.ids('xy', typed), { ids: [3002, 3, 2, 1], isMore: false });
  });

  it('finds posts with both words while the second is short and may go on', async (t) => {
    const { ids } = await shelfOf(t, [
      post(1, 'Login', 'by SSO'),
      post(2, 'Login'),
      post(3, 'SSO'),
      post(4, 'Login', 'by ssorry'),
    ]);
    for (const text of ['login s', 'login ss', 'login sso'])
      assert.deepEqual(await ids(text, { typing: true }), [4, 1], text);
  });

  it('means the board with posts of those that are called alike, and asks which where several have any', async (t) => {
    const on = (id: number, board: { id: number; name: string; url: string }) =>
      aPost(id, { title: 'zeppelin', board });
    const bugs = { name: 'Bugs', url: '/b/bugs/' };
    const { store, ids } = await shelfOf(t, [on(1, { id: 1, ...bugs })]);
    await sweep(store, 'posts', [on(1, { id: 9, ...bugs }), on(2, { id: 2, name: 'C++', url: '/b/c/' })], 2);
    for (const board of ['bugs', 'Bugs', 'BUGS', '9', '/b/bugs/'])
      assert.deepEqual(await ids('zeppelin', { board }), [1], board);
    assert.deepEqual(await ids('zeppelin', { board: '1' }), []);
    const others = [on(1, { id: 9, ...bugs }), on(3, { id: 3, name: 'Bugs B', url: '/beta/bugs/' })];
    await sweep(store, 'posts', others, 3);
    assert.deepEqual(await ids('zeppelin', { board: 'Bugs B' }), [3]);
    await assert.rejects(ids('zeppelin', { board: 'bugs' }), {
      message: '2 boards are called "bugs"',
      hint: 'Say which by its id: 3 (Bugs B, bugs), 9 (Bugs, bugs).',
    });
  });

  it('can be kept to one board, by its short name or by its name, and says which there are', async (t) => {
    const bugs = { id: 1, name: 'Bug reports', url: '/b/bugs/' };
    const ideas = { id: 2, name: 'Ideas', url: '/b/ideas/' };
    const { ids } = await shelfOf(t, [
      aPost(1, { title: 'zeppelin', board: bugs }),
      aPost(2, { title: 'zeppelin', board: ideas }),
    ]);
    assert.deepEqual(await ids('zeppelin', { board: 'bugs' }), [1]);
    assert.deepEqual(await ids('zeppelin', { board: 'IDEAS' }), [2]);
    // Numbers too great for a byte each.
    const great = await shelfOf(t, [
      aPost(2 ** 31, { title: 'zeppelin', board: bugs }),
      aPost(2 ** 31 + 1, { title: 'zeppelin', board: ideas }),
    ]);
    assert.deepEqual(await great.ids('zeppelin', { board: 'ideas' }), [2 ** 31 + 1]);
    await assert.rejects(ids('zeppelin', { board: 'nope' }), {
      code: 'usage',
      message: 'there is no board "nope"',
      hint: /^The boards are bugs/,
    });
  });

  it('tells a text without words from one that finds nothing, and how many posts are not indexed yet', async (t) => {
    const { store, search } = await shelfOf(t, [post(1, 'zeppelin'), post(2, 'other')], { isIndexed: false });
    const nothing = { ...NOTHING_FOUND, unindexed: 2 };
    assert.deepEqual(await search.find('zeppelin'), { ...nothing, isQuestion: true });
    assert.deepEqual(await search.find(' ?! '), { ...nothing, isQuestion: false });
    while (await store.index());
    const { hits, unindexed } = await search.find('zeppelin');
    assert.deepEqual([hits.length, unindexed], [1, 0]);
  });

  it('answers with fifty, says that there are more, and is gone through page by page to its end', async (t) => {
    const posts = Array.from({ length: 60 }, (_, n) =>
      post(n + 1, n % 2 === 0 ? `zeppelin ${n}` : 'A zeppelin'),
    );
    const { ids, search } = await shelfOf(t, [...posts, post(61, 'Something else')]);
    for (const text of ['zeppelin', 'zepp*', 'a zeppelin']) {
      const first = await search.find(text);
      const all = await search.ids(text);
      const rest = await search.find(text, { offset: 50 });
      assert.equal(first.hits.length, Math.min(50, all.ids.length), text);
      assert.deepEqual([first.isMore, rest.isMore, all.isMore], [all.ids.length > 50, false, false], text);
      assert.deepEqual(
        [...first.hits, ...rest.hits].map(({ id }) => id),
        all.ids,
        text,
      );
    }
    assert.equal((await ids('zeppelin', { limit: 1000 })).length, 60);
  });

  it('counts all that it finds, also posts found by a comment, and while a short word is typed', async (t) => {
    const posts = Array.from({ length: 60 }, (_, n) => post(n + 1, 'A zeppelin'));
    const comments = [
      aComment(1, { post: { id: 61, title: 'Something else', url: '/p/61/' }, content: 'Like a zeppelin' }),
    ];
    const { search } = await shelfOf(t, [...posts, post(61, 'Something else')], { comments });
    const total = async (text: string, options = {}) =>
      (await search.find(text, { isCounted: true, typing: true, ...options })).total;
    for (const text of ['zeppelin', 'zeppelin ', 'zepp', 'z'])
      assert.deepEqual(await total(text), { posts: 61, isMore: false }, text);
    assert.deepEqual(await total('zeppelin', { offset: 50 }), { posts: 61, isMore: false });
    assert.deepEqual(await total('zeppelin', { isCounted: false }), { posts: 50, isMore: true });
  });

  it('takes any text at all', async (t) => {
    const { search } = await shelfOf(t, [post(1, 'and or not near title content'), post(2, 'x y z')]);
    const anything = anyText({ maxLength: 40 });
    const syntax = ['"', '*', ' AND ', ' NOT ', 'NEAR(', 'title:', '^', '-', '{a b}:', '\0', '\ud800', '’'];
    const mixed = fc.array(fc.oneof(anything, fc.constantFrom(...syntax)), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(mixed, fc.boolean(), async (parts, typing) => {
        for (const text of [parts.join(''), parts.join(' ')])
          assert.ok((await search.find(text, { typing })).hits.length <= 2);
      }),
      { numRuns: 40 },
    );
    for (const text of ['x'.repeat(10_000), 'x '.repeat(5_000), '"'.repeat(10_000)]) await search.find(text);
  });
});

describe('a search among many posts', () => {
  it('goes by the index alone: posts are looked up by id, and never gone through', async (t) => {
    const folder = temporaryFolder('search');
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'mirror.db');
    await makeMirror({ path, upstream: UPSTREAM, posts: 300, comments: 0, now: Date.now() });
    const { words } = zipfLanguage();
    const db = new Database(path, { readonly: true });
    const live = conditions(db)(EVERY_LIVE_POST).condition;
    for (const [name, sql] of [
      ['best', SEARCH_SQL.best(live)],
      ['newest', SEARCH_SQL.newest(live)],
    ] as const) {
      const plan = db
        .prepare<object, { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        .all({ match: `"${words[0]}"`, limit: 50, floor: 0 });
      const steps = plan.map(({ detail }) => detail).filter((step) => /\b(posts|posts_text|p)\b/.test(step));
      assert.match(steps[0] ?? '', /^SCAN posts_text VIRTUAL TABLE INDEX \d+:.*M/, name);
      for (const step of steps.slice(1))
        assert.match(
          step,
          /^SEARCH (p|posts) USING INTEGER PRIMARY KEY|USING COVERING INDEX posts_/,
          `${name}: ${step}`,
        );
    }
    db.close();
    const search = openSearchReads({ path, upstream: UPSTREAM });
    const { hits } = await search.find(`${words[0]} ${words[9]}`);
    await search.close();
    assert.equal(hits.length, 50);
    assert.ok(hits.every((hit, n) => n === 0 || hit.relevance >= (hits[n - 1]?.relevance ?? 0)));
  });
});
