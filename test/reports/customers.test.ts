import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { pick, table, tell, write } from './story.ts';

describe('reports about customers', () => {
  it('customers ranks by posts and comments, without the team', async (t) => {
    const story = await tell(t);
    const report = await story.ask('customers');
    assert.deepEqual(table(report), [
      // 102 and 105, and comment 202.
      ['Bob', 'bob@example.com', 2, 1, 3, '2026-01-05T00:00:00.000Z'],
      // 101 and 106; 103 is deleted.
      ['Ann', 'ann@example.com', 2, 0, 2, '2025-12-22T00:00:00.000Z'],
      ['Cleo', 'cleo@example.com', 0, 1, 1, '2026-01-20T00:00:00.000Z'],
    ]);
    assert.match(report.notes.join(), /Votes carry no names/);
    assert.deepEqual(pick(await story.ask('customers', { board: 'bugs' }), 'customer', 'wrote'), [
      ['Ann', 1],
    ]);
  });

  it('requests ranks by the votes on what each asked for', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('requests')), [
      ['Ann', 'ann@example.com', 2, 24, 1, 101, 'Dark mode for the editor'],
      ['Bob', 'bob@example.com', 2, 14, 0, 102, '=Export to PDF'],
    ]);
  });

  it('duplicates finds titles that say much the same, each pair once', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('duplicates')), [
      // Only small words differ.
      [1, 105, 'Dark mode in the editor', 101, 'Dark mode for the editor', 20, 'Done'],
    ]);
    const young = await story.ask('duplicates', { since: '2026-01-10' });
    assert.deepEqual(young.rows, [], 'only posts of the period are compared');
  });

  it('duplicates leaves out titles that name another thing in the same sentence, and posts whose status says duplicate', async (t) => {
    const titles = ['Translate to Polish', 'Translate to Finnish', 'Dark mode', 'Dark mode', 'A dark mode'];
    const merged = { id: 9, name: 'Duplicate', color: '#000000' };
    const posts = titles.map((title, i) => aPost(i + 1, { title, ...(i === 3 && { status: merged }) }));
    const story = await write(t, async (store) => void (await sweep(store, 'posts', posts, 1)));
    const { rows } = await story.ask('duplicates');
    assert.deepEqual(
      rows.map(({ post, other }) => [post, other]),
      [[5, 3]],
    );
  });

  it('duplicates leaves out what was deleted', async (t) => {
    const posts = [1, 2].map((id) => aPost(id, { title: 'Dark mode for the editor' }));
    const gone = await write(t, async (store) => {
      await sweep(store, 'posts', posts, 1);
      await sweep(store, 'posts', posts.slice(1), 2);
    });
    const both = await write(t, async (store) => void (await sweep(store, 'posts', posts, 1)));
    assert.deepEqual(
      [(await gone.ask('duplicates')).rows.length, (await both.ask('duplicates')).rows.length],
      [0, 1],
    );
  });
});
