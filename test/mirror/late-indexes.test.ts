import assert from 'node:assert/strict';
import { describe } from 'node:test';
import Database from 'better-sqlite3';
import { migrate } from '../../src/db/migrate.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { story } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { apply, begin, sweep } from '../support/steps.ts';

const BY_MIGRATION = ['posts_by_created', 'posts_by_votes', 'posts_by_url', 'users_by_email'];

describe('the indexes that are made in bulk', () => {
  story(
    'stand when the first sweep is indexed, as the migrations would have made them',
    async ({ store, path }) => {
      const pass = begin(store, 'posts', 1);
      apply(store, pass, [aPost(2), aPost(1)], 1);
      assert.deepEqual(lateIndexes(path), []);
      indexAll(store);
      const meant = new Database(':memory:');
      migrate(meant);
      const [facts, ...others] = lateIndexes(path);
      assert.match(facts ?? '', /^CREATE INDEX posts_facts ON posts \(board_id, status_id, created, /);
      assert.deepEqual(others, indexesOf(meant, BY_MIGRATION));
    },
  );

  story('stay where they are in every later sweep, also of a list without rows', async ({ store, path }) => {
    sweep(store, 'posts', [], 1);
    indexAll(store);
    const before = schemaVersion(path);
    sweep(store, 'posts', [], 2);
    indexAll(store);
    begin(store, 'posts', 3);
    assert.equal(schemaVersion(path), before);
    assert.equal(lateIndexes(path).length, BY_MIGRATION.length + 1);
  });

  story('are left to the next sweep where the first one was stopped on its way', async ({ store, path }) => {
    apply(store, begin(store, 'posts', 1), [aPost(2)], 1);
    sweep(store, 'posts', [aPost(2), aPost(1)], 2);
    indexAll(store);
    assert.equal(lateIndexes(path).length, BY_MIGRATION.length + 1);
  });
});

function indexAll(store: MirrorStore): void {
  while (store.index());
}

function lateIndexes(path: string): string[] {
  const db = new Database(path, { readonly: true });
  const found = indexesOf(db, ['posts_facts', ...BY_MIGRATION]);
  db.close();
  return found;
}

function indexesOf(db: Database.Database, names: readonly string[]): string[] {
  const sql = db.prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?').pluck();
  return names.flatMap((name) => sql.get(name) ?? []);
}

function schemaVersion(path: string): number {
  const db = new Database(path, { readonly: true });
  const version = db.pragma('schema_version', { simple: true }) as number;
  db.close();
  return version;
}
