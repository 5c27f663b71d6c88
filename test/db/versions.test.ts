import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { openTestMirror } from '../support/mirror.ts';
import { aComment, aPost, range } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

describe('versions', () => {
  it('are not written by a first sweep, and keep a text once however often the numbers beside it change', async () => {
    const mirror = await openTestMirror();
    const [title, content] = ['t'.repeat(1000), 'c'.repeat(1000)];
    await sweep(mirror.store, 'posts', [aPost(1, { title, content })]);
    await sweep(mirror.store, 'comments', [aComment(1, { content })]);
    assert.deepEqual(versionsIn(mirror.path), [0, 0, 0]);
    for (const at of range(1, 20)) {
      await sweep(mirror.store, 'posts', [aPost(1, { title, content, votes_count: 100 + at })], at);
      await sweep(mirror.store, 'comments', [aComment(1, { content, likes_count: 100 + at })], at);
    }
    assert.deepEqual(versionsIn(mirror.path), [20, 20, 0]);
    assert.ok(mirror.read.postHistory(1).every((row) => row.title === title && row.content === content));
    await mirror.dispose();
  });

  it('are never observed before the one they follow, also where the clock was set back', async () => {
    const mirror = await openTestMirror();
    for (const at of [9, 7, 5]) {
      await sweep(mirror.store, 'posts', [aPost(1, { votes_count: at })], at);
      await sweep(mirror.store, 'comments', [aComment(1, { likes_count: at })], at);
    }
    for (const [table, id, count] of [
      ['post', 'posts', 'votes_count'],
      ['comment', 'comments', 'likes_count'],
    ] as const) {
      const db = new Database(mirror.path, { readonly: true });
      const history = db.prepare(`SELECT ${count} FROM ${table}_history ORDER BY observed_at`).pluck().all();
      const isLast =
        db.prepare(`SELECT version_at = (SELECT max(observed_at) FROM ${table}_history) AND changed_at = version_at
                                   FROM ${id}`);
      assert.deepEqual([history, isLast.pluck().get()], [[9, 7, 5], 1], table);
      db.close();
    }
    await mirror.dispose();
  });
});

/** Versions of posts, versions of comments, and the length of all their texts. */
function versionsIn(path: string): (number | undefined)[] {
  const db = new Database(path, { readonly: true });
  const count = (sql: string) => db.prepare<[], number>(sql).pluck().get();
  const counts = [
    count('SELECT count(*) FROM post_versions'),
    count('SELECT count(*) FROM comment_versions'),
    count(`SELECT (SELECT total(length(title)) + total(length(content)) FROM post_versions)
                + (SELECT total(length(content)) FROM comment_versions)`),
  ];
  db.close();
  return counts;
}
