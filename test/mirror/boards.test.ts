import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { boardFinder } from '../../src/mirror/store/boards.ts';
import { story } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

story('of boards that are called alike, the one with posts that are still there is meant', async (mirror) => {
  const on = (id: number, board: number) =>
    aPost(id, { board: { id: board, name: 'Ideas', url: '/b/ideas' } });
  const db = new Database(mirror.path, { readonly: true });
  try {
    const find = boardFinder(db);
    sweep(mirror.store, 'posts', [on(1, 1), on(2, 2), on(3, 3)], 1);
    assert.throws(() => find('ideas'), {
      message: '3 boards are called "ideas"',
      hint: /1 \(Ideas, ideas\), 2/,
    });
    assert.equal(find('2').id, 2);
    sweep(mirror.store, 'posts', [on(2, 2)], 2);
    assert.equal(find(' IDEAS ').id, 2);
    assert.throws(() => find('bugs'), { code: 'usage', hint: /The boards are ideas \(Ideas\)/ });
  } finally {
    db.close();
  }
});
