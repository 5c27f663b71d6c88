import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { openDuplicateSearch } from '../../src/outbox/import/duplicates.ts';
import { openComparison } from '../../src/outbox/import/duplicates-thread.ts';
import { folderFor } from '../support/folder.ts';
import { queryFile } from '../support/mirror.ts';
import { type Bench, benchFor } from './bench.ts';

type Text = [title: string, content?: string];

async function mirrorOf(t: TestContext, posts: readonly Text[]): Promise<Bench> {
  const bench = benchFor(t);
  for (const [title, content = ''] of posts) bench.upstream.publish({ title, content });
  await bench.sweep();
  return bench;
}

/** What the thread finds of each row, without the thread: starting one takes longer than all of these tests. */
async function found(t: TestContext, rows: readonly Text[], posts: readonly Text[]) {
  const { path } = await mirrorOf(t, posts);
  const compare = openComparison({ path, upstream: 'http://upstream.test' });
  return rows
    .map(([title, content = ''], i) => compare({ line: i + 2, title, content }))
    .filter((duplicate) => duplicate !== null);
}

async function foundByThread(t: TestContext, rows: readonly Text[], posts: readonly Text[]) {
  const bench = await mirrorOf(t, posts);
  const search = openDuplicateSearch({ mirror: { path: bench.path, upstream: 'http://upstream.test' } });
  t.after(() => search.close());
  await search.look(rows.map(([title, content = ''], i) => ({ line: i + 2, title, content })));
  return await search.result();
}

const TEXT = 'When I export the whole board to a spreadsheet, the file stops after the first hundred rows.';

describe('looking for posts that a row may already be', () => {
  it('finds the same title in other words of the same kind', async (t) => {
    const duplicates = await found(
      t,
      [['Dark mode'], ['Add dark mode'], ['Expört in Café']],
      [['Export'], ['dark MODE!'], ['export in cafe']],
    );
    assert.deepEqual(
      duplicates.map(({ line, kind, postTitle }) => [line, kind, postTitle]),
      [
        [2, 'same', 'dark MODE!'],
        [3, 'title', 'dark MODE!'],
        [4, 'same', 'export in cafe'],
      ],
    );
  });

  it('does not take titles for the same that differ in a sign, a mark or a small word', async (t) => {
    const pairs: [string, string][] = [
      ['Show C# code', 'Show C++ code'],
      ['パスを追加してください', 'バスを追加してください'],
      ['ขอ ข่าว ในเมนู', 'ขอ ข้าว ในเมนู'],
      ['Open level -1', 'Open level 1'],
      ['Do not sort names', 'Do sort names'],
    ];
    const duplicates = await found(
      t,
      pairs.map(([row]) => [row, TEXT]),
      pairs.map(([, post]) => [post, TEXT]),
    );
    assert.deepEqual(
      duplicates.map(({ kind, postTitle }) => [kind, postTitle]),
      pairs.map(([, post]) => ['title', post]),
    );
  });

  it('finds the same text under another title', async (t) => {
    const duplicates = await found(
      t,
      [['Export is broken', TEXT]],
      [['Only a part of the file', `${TEXT.toUpperCase()}!`]],
    );
    assert.deepEqual(
      duplicates.map(({ line, kind }) => [line, kind]),
      [[2, 'content']],
    );
  });

  it('does not take titles for each other that share only what all titles share', async (t) => {
    const rows: Text[] = [['Export dashboards in the mobile app'], ['!!!'], ['Please', 'please!']];
    const posts: Text[] = [['Export invoices in the mobile app'], ['Dark mode', 'please!']];
    assert.deepEqual(await found(t, rows, posts), []);
  });

  it('finds an exact copy also where each of its words is in very many posts', async (t) => {
    const titleOf = (n: number): string =>
      [...'abcdefghijkl'].map((letter, i) => `${(n >> i) & 1 ? 'with' : 'sans'}${letter}`).join(' ');
    const posts = Array.from({ length: 3000 }, (_, n): Text => [titleOf(n), 'please']);
    const rows: Text[] = [
      [titleOf(2900), 'please'],
      [titleOf(2345), 'other'],
    ];
    const duplicates = await found(t, rows, posts);
    assert.deepEqual(
      duplicates.map(({ kind, score, postTitle }) => [kind, score, postTitle]),
      [
        ['same', 1, titleOf(2900)],
        ['title', 1, titleOf(2345)],
      ],
    );
  });

  it('compares every row, shows the first ten and counts all', async (t) => {
    const result = await foundByThread(
      t,
      Array.from({ length: 2500 }, (): Text => ['Dark mode']),
      [['Dark mode', 'x']],
    );
    assert.deepEqual([result.checked, result.found, result.examples.length], [2500, 2500, 10]);
  });

  it('says of a damaged mirror that it is damaged', async (t) => {
    const { path } = await mirrorOf(t, [['Dark mode']]);
    const copy = join(folderFor(t, 'damaged'), 'mirror.db');
    new Database(path).exec(`VACUUM INTO '${copy}'`).close();
    const [root] = queryFile<{ at: number; bytes: number }>(
      copy,
      `SELECT rootpage AS at, page_size AS bytes FROM sqlite_schema, pragma_page_size WHERE name = 'posts'`,
    );
    assert.ok(root);
    const damaged = readFileSync(copy).fill(0xa5, (root.at - 1) * root.bytes, root.at * root.bytes);
    writeFileSync(copy, damaged);
    const search = openDuplicateSearch({ mirror: { path: copy, upstream: 'http://upstream.test' } });
    t.after(() => search.close());
    await search.look([{ line: 2, title: 'Dark mode', content: '' }]);
    await assert.rejects(search.result(), { code: 'storage', message: /a database in DATA_DIR is damaged/ });
  });

  it('keeps what it found for a person who decides, one by one or all of a kind', async (t) => {
    const { store } = await mirrorOf(t, [['Dark mode']]);
    const [post] = [1001];
    const duplicate = { score: 0.9, post_id: post };
    store.duplicates.keep('file', [
      { line: 2, kind: 'same', ...duplicate },
      { line: 3, kind: 'title', ...duplicate },
      { line: 4, kind: 'title', ...duplicate },
    ]);
    assert.equal(store.duplicates.skip('file', { kind: 'title' }, true), 2);
    assert.equal(store.duplicates.skip('file', { line: 4 }, false), 1);
    assert.deepEqual(store.duplicates.skippedLines('file'), new Set([3]));
    const [first] = store.duplicates.page('file', { kind: null, after: 0, limit: 1 });
    assert.deepEqual([first?.line, first?.post_title], [2, 'Dark mode']);
    store.duplicates.forget('file');
    assert.deepEqual(store.duplicates.counts('file'), []);
  });
});
