import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { erasePerson } from '../../src/erasure/erase.ts';
import { openErasureStore } from '../../src/store/erasure/store.ts';
import { openMirrorStore } from '../../src/store/mirror/store.ts';
import { openSavedQueries } from '../../src/store/saved-queries.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { aComment, aPost, minute } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

const EMAIL = 'zoe@planted.example';

/** Every column in which somebody else may have written the address, but for the outbox and the quarantine. */
const WORDS = {
  posts: ['title', 'content', 'url'],
  post_versions: ['title', 'content'],
  comments: ['content'],
  comment_versions: ['content'],
  commented_posts: ['title', 'url'],
  users: ['name', 'alias'],
  saved_queries: ['name', 'sql'],
  sync_runs: ['error'],
};
const JSON_WORDS = {
  posts: ['extra'],
  comments: ['extra', 'status'],
  comment_versions: ['status'],
  commented_posts: ['extra'],
  users: ['extra'],
};

describe('an address in what others wrote', () => {
  it('is taken out of every column that can hold it, and nothing else of the text is', async (t) => {
    const options = {
      path: join(folderFor(t, 'mentions'), 'mirror.db'),
      upstream: 'http://u.test',
      holder: 't',
    };
    const store = openMirrorStore(options);
    for (const [votes_count, likes_count] of [
      [1, 1],
      [2, 2],
    ]) {
      await sweep(store, 'posts', [aPost(1, { votes_count, title: `Title ${votes_count}` })]);
      await sweep(store, 'comments', [aComment(1, { likes_count, content: `Text ${likes_count}` })]);
    }
    const saved = openSavedQueries(options);
    saved.save({ name: 'mine', sql: 'SELECT 1' }, minute(0));
    const db = new Database(options.path);
    t.after(() => [saved, store, db].map((open) => open.close()));
    const each = (tables: Record<string, string[]>, use: (table: string, column: string) => void): void => {
      for (const [table, columns] of Object.entries(tables)) for (const column of columns) use(table, column);
    };
    each(WORDS, (table, column) =>
      assert.ok(db.prepare(`UPDATE ${table} SET ${column} = 'ask ' || ?`).run(EMAIL).changes > 0, table),
    );
    each(JSON_WORDS, (table, column) =>
      db.prepare(`UPDATE ${table} SET ${column} = ?`).run(JSON.stringify({ by: `ask ${EMAIL}` })),
    );
    const erasure = openErasureStore(options);
    t.after(() => erasure.close());
    const { signal } = new AbortController();
    await erasePerson(
      { store: erasure, clock: fakeClock(minute(9)), signal, compact: async () => true },
      EMAIL,
    );
    const found = (table: string, column: string): unknown[] =>
      db.prepare(`SELECT DISTINCT ${column} FROM ${table}`).pluck().all();
    each(WORDS, (table, column) =>
      assert.deepEqual(found(table, column), ['ask [erased]'], `${table}.${column}`),
    );
    each(JSON_WORDS, (table, column) =>
      assert.deepEqual(found(table, column), ['{"by":"ask [erased]"}'], `${table}.${column}`),
    );
  });
});
