import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { migrate, migrations } from '../../src/db/migrate.ts';
import { migratedSchema, writtenSchema } from './write-schema.ts';

/** What people's own SQL relies on. */
const PROMISED = {
  users: 'id email name alias registered is_admin is_team extra first_seen_at changed_at',
  boards: 'id name url slug first_seen_at changed_at',
  statuses: 'id name color first_seen_at changed_at',
  posts:
    'id title content url creator_id board_id status_id votes_count comments_count created extra first_seen_at ' +
    'changed_at deleted_at',
  comments:
    'id post_id creator_id kind status likes_count highlighted internal content created extra first_seen_at ' +
    'changed_at deleted_at',
  post_history: 'post_id observed_at title content board_id status_id votes_count comments_count deleted',
  comment_history:
    'comment_id observed_at content likes_count highlighted internal status deleted post_id creator_id kind',
  sync_runs:
    'id resource mode started_at finished_at outcome pages rows inserted updated unchanged deleted suspects ' +
    'quarantined error',
  quarantine: 'id resource seen_at reason body',
  outbox:
    'id batch source_key line kind board title content email full_name state attempts not_before post_id url ' +
    'last_error created_at changed_at',
  outbox_attempts: 'outbox_id n started_at ended_at outcome http_status post_id error',
  live_posts: 'id title content url board status creator votes_count comments_count created',
  live_comments: 'id post_id kind status likes_count highlighted internal content creator board created',
};

describe('the schema', () => {
  it('gives every migration a number of its own, because a mirror notes only the number', () => {
    const numbers = migrations().map(({ version }) => version);
    assert.deepEqual(numbers, [...new Set(numbers)]);
  });

  it('equals test/db/schema.sql, which "npm run schema" writes after a new migration', () => {
    assert.equal(writtenSchema(), migratedSchema(), 'run "npm run schema" and look at what changed');
  });

  for (const [table, columns] of Object.entries(PROMISED))
    it(`has in ${table} every column that is promised`, () => {
      const db = new Database(':memory:');
      migrate(db);
      const there = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);
      assert.deepEqual(
        columns.split(' ').filter((column) => !there.includes(column)),
        [],
      );
    });
});
