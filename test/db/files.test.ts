import assert from 'node:assert/strict';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { openForReading, openForWriting } from '../../src/db/open.ts';
import { openMirrorStore, readMirrorStatus } from '../../src/mirror/store/store.ts';
import { UPSTREAM } from '../support/mirror.ts';
import { posts } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { withPath } from './folder.ts';

const upstream = UPSTREAM;

describe('the files of a mirror', () => {
  it('are for their owner alone: folder, database, write-ahead log, shared memory and locks', () =>
    withPath(async (base) => {
      const path = join(dirname(base), 'data', 'deep', 'mirror.db');
      const store = openMirrorStore({ path, upstream, holder: 'a test' });
      await sweep(store, 'posts', posts(1));
      const lock = await store.lock('posts');
      const names = readdirSync(dirname(path));
      for (const suffix of ['', '-shm', '-wal', '.posts.lock', '.posts.lock.holder'])
        assert.ok(names.includes(`mirror.db${suffix}`), suffix);
      for (const name of names) assert.equal(modeOf(join(dirname(path), name)), 0o600, name);
      assert.equal(modeOf(dirname(path)), 0o700);
      assert.equal(modeOf(dirname(dirname(path))), 0o700);
      assert.ok(lock.ok);
      lock.release();
      await store.close();
    }));

  it('an empty file becomes a mirror', () =>
    withPath(async (path) => {
      writeFileSync(path, '');
      const db = openForWriting({ path, upstream });
      assert.equal(db.prepare('SELECT count(*) FROM posts').pluck().get(), 0);
      db.close();
    }));

  it('a store can be closed while another process is writing', () =>
    withPath(async (path) => {
      const store = openMirrorStore({ path, upstream, holder: 'a test' });
      await sweep(store, 'posts', posts(1));
      const writer = openForWriting({ path, upstream });
      writer.exec('BEGIN IMMEDIATE');
      await store.close();
      writer.exec('ROLLBACK');
      writer.close();
    }));
});

describe('the handle for writing', () => {
  it('logs ahead, keeps foreign keys, waits for others, and leaves nothing of what is deleted', () =>
    withPath(async (path) => {
      const db = openForWriting({ path, upstream });
      assert.equal(db.pragma('journal_mode', { simple: true }), 'wal');
      assert.equal(db.pragma('foreign_keys', { simple: true }), 1);
      assert.equal(db.pragma('busy_timeout', { simple: true }), 5000);
      assert.equal(db.pragma('synchronous', { simple: true }), 1);
      assert.equal(db.pragma('secure_delete', { simple: true }), 1);
      db.close();
    }));
});

describe('the handle for reading', () => {
  it('refuses every statement that writes', () =>
    withPath(async (path) => {
      openForWriting({ path, upstream }).close();
      const db = openForReading({ path, upstream });
      for (const sql of ["INSERT INTO meta VALUES ('a', 'b')", 'DROP TABLE posts', 'PRAGMA user_version = 9'])
        assert.throws(() => db.exec(sql), /readonly/);
      db.close();
    }));

  it('reads on while another writes', () =>
    withPath(async (path) => {
      const store = openMirrorStore({ path, upstream, holder: 'a test' });
      await sweep(store, 'posts', posts(1, 2));
      const writer = openForWriting({ path, upstream });
      writer.exec('BEGIN IMMEDIATE; DELETE FROM absences');
      assert.equal(readMirrorStatus({ path, upstream }).resources[0]?.live, 2);
      writer.exec('ROLLBACK');
      writer.close();
      await store.close();
    }));
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}
