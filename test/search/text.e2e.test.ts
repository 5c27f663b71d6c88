import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe } from 'node:test';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { compact } from '../../src/db/open.ts';
import { textIndex } from '../../src/mirror/index/text-index.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { wellFormedText } from '../support/any-wire.ts';
import { story } from '../support/mirror.ts';
import { aPost, range } from '../support/rows.ts';
import { apply, begin, conclude, finish, sweep } from '../support/steps.ts';

const titled = (id: number, title: string, content = 'text') => aPost(id, { title, content });

describe('the text index', () => {
  story('an index made after the first sweep finds titles and contents', async ({ store, read }) => {
    await sweep(store, 'posts', [titled(1, 'Dark mode'), titled(2, 'Héllo', 'a DARK night')], 1);
    assert.deepEqual(read.search('dark'), []);
    await indexAll(store);
    assert.deepEqual(read.search('dark'), [1, 2]);
    assert.deepEqual(read.search('hello'), [2]);
    read.checkTextIndex();
  });

  story('an edit marks the old words, which leave the file when it is next rewritten', async (mirror) => {
    const { store, path, read } = mirror;
    sweep(store, 'posts', [titled(5, 'zqleaving words')], 1);
    await indexAll(store);
    sweep(store, 'posts', [titled(5, 'other words')], 2);
    assert.deepEqual(read.search('zqleaving'), []);
    const db = new Database(path);
    // The history of the post keeps its old title by itself, and is not what this is about.
    db.exec('DELETE FROM post_versions');
    const left = db.prepare("SELECT value FROM meta WHERE key = 'left_words'").pluck();
    assert.equal(left.get(), '1');
    compact(db);
    assert.equal(left.get(), undefined);
    db.close();
    assert.equal(readFileSync(path).includes('zqleaving'), false);
    read.checkTextIndex();
  });

  story(
    'a page that could not be written leaves no word of its rows, and is not counted',
    async ({ store, read }) => {
      sweep(store, 'posts', [titled(1, 'first')], 1);
      await indexAll(store);
      const pass = begin(store, 'posts', 2);
      const broken = { ...aPost(3), votes_count: 'many' as unknown as number };
      const before = { ...pass.counts };
      assert.throws(() => apply(store, pass, [titled(2, 'second'), broken], 2), /votes_count/);
      assert.deepEqual(pass.counts, before);
      apply(store, pass, [titled(4, 'fourth')], 2);
      finish(store, pass, 2);
      assert.deepEqual(read.search('fourth'), [4]);
      read.checkTextIndex();
    },
  );

  story(
    'an erasure takes the old words out of the index itself, where no edit makes it be merged',
    async (mirror) => {
      const { store, path, read } = mirror;
      sweep(store, 'posts', [titled(5, 'zqleaving words')], 1);
      await indexAll(store);
      const db = new Database(path);
      db.exec("UPDATE posts SET title = 'other words' WHERE id = 5");
      textIndex(db).posts.erased(5, ['zqleaving words', 'text'], ['other words', 'text']);
      assert.equal(db.prepare("SELECT 1 FROM meta WHERE key = 'left_words'").get(), undefined);
      compact(db);
      db.close();
      assert.equal(readFileSync(path).includes('zqleaving'), false);
      assert.deepEqual(read.search('other'), [5]);
      read.checkTextIndex();
    },
  );

  story('once everything is indexed, new and changed texts are found at once', async ({ store, read }) => {
    await sweep(store, 'posts', [titled(5, 'old words')], 1);
    await indexAll(store);
    await sweep(store, 'posts', [titled(5, 'new words'), titled(3, 'third'), titled(9, 'ninth')], 2);
    assert.deepEqual(read.search('words'), [5]);
    assert.deepEqual(read.search('old'), []);
    assert.deepEqual(read.search('third OR ninth'), [3, 9]);
    assert.equal(await store.index(), false);
    read.checkTextIndex();
  });

  story(
    'a deleted post is not found, and is found again when it lives again, changed',
    async ({ store, read }) => {
      await sweep(store, 'posts', [titled(1, 'stays'), titled(2, 'leaves')], 1);
      await indexAll(store);
      await sweep(store, 'posts', [titled(1, 'stays')], 2);
      assert.deepEqual(read.search('leaves'), []);
      read.checkTextIndex();
      await sweep(store, 'posts', [titled(1, 'stays'), titled(2, 'returns')], 3);
      assert.deepEqual([read.search('leaves'), read.search('returns')], [[], [2]]);
      read.checkTextIndex();
    },
  );

  story('rows may come, change and go while the index is being made', async ({ store, read }) => {
    const ids = range(1, 8500).map((n) => n * 2);
    const pass = await begin(store, 'posts', 1);
    await apply(
      store,
      pass,
      ids.map((id) => titled(id, `number${id}`)),
      1,
    );
    await finish(store, pass, 1);
    assert.equal(await store.index(), true);
    assert.deepEqual(read.search('number2'), [2]);
    assert.deepEqual(read.search('number17000'), []);

    // Below and above where the index has come to: new, changed, gone and back.
    const later = await begin(store, 'posts', 2);
    const changed = [
      titled(2, 'low'),
      titled(3, 'low new'),
      titled(17000, 'high'),
      titled(17001, 'high new'),
    ];
    const all = [2, 3, ...ids.slice(1), 17001];
    apply(store, later, changed, 2, { shown: all });
    conclude(store, later, 2);
    for (let sweeps = 0; sweeps < 2; sweeps++) {
      const without = begin(store, 'posts', 2);
      apply(store, without, changed, 2, { shown: all.filter((id) => id !== 4 && id !== 16998) });
      conclude(store, without, 2);
    }
    assert.deepEqual([read.search('low'), read.search('high')], [[2, 3], []]);

    await indexAll(store);
    assert.deepEqual(
      [read.search('low'), read.search('high')],
      [
        [2, 3],
        [17000, 17001],
      ],
    );
    for (const gone of ['number2', 'number4', 'number16998', 'number17000'])
      assert.deepEqual(read.search(gone), []);
    assert.deepEqual(read.search('number6 OR number16996'), [6, 16996]);
    read.checkTextIndex();
  });

  story('an index that was interrupted is continued, by this process or another', async (mirror) => {
    await sweep(
      mirror.store,
      'posts',
      range(1, 8500).map((id) => titled(id, `number${id}`)),
      1,
    );
    await mirror.store.index();
    await mirror.reopen();
    const other = mirror.another();
    assert.equal(await other.index(), true);
    await sweep(mirror.store, 'posts', [titled(1, 'first'), ...rest(mirror.read.table('posts').length)], 2);
    await indexAll(mirror.store);
    assert.equal(await other.index(), false);
    await other.close();
    assert.deepEqual(mirror.read.search('first OR number1 OR number8500'), [1, 8500]);
    mirror.read.checkTextIndex();
  });

  story('any text can be indexed, changed and taken out again', async ({ store, read }) => {
    await indexAll(store);
    let at = 0;
    const rewritten = fc.asyncProperty(wellFormedText, wellFormedText, async (title, content) => {
      await sweep(store, 'posts', [titled(1, title, content)], ++at);
      read.checkTextIndex();
    });
    await fc.assert(rewritten, { numRuns: 25 });
  });
});

const rest = (last: number) => range(2, last).map((id) => titled(id, `number${id}`));

async function indexAll(store: MirrorStore): Promise<void> {
  while (await store.index());
}
