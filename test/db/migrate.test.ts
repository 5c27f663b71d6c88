import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { type Migration, migrate, migrations, versionOf } from '../../src/db/migrate.ts';

const step = (version: number, sql: string): Migration => ({ version, name: `000${version}_test.sql`, sql });
const ONE = step(1, 'CREATE TABLE one (a); INSERT INTO one VALUES (1);');

describe('migrations', () => {
  it('are numbered without a gap from 26 on, in the names of their files', () => {
    assert.deepEqual(
      migrations().map(({ version }) => version),
      migrations().map((_, i) => 26 + i),
    );
    for (const { name } of migrations()) assert.match(name, /^\d{4}_[a-z-]+\.sql$/);
  });

  it('run in order, each once', () => {
    const db = new Database(':memory:');
    migrate(db, [ONE]);
    migrate(db, [ONE, step(2, 'INSERT INTO one VALUES (2)'), step(3, 'INSERT INTO one VALUES (3)')]);
    migrate(db, [ONE, step(2, 'INSERT INTO one VALUES (2)'), step(3, 'INSERT INTO one VALUES (3)')]);
    assert.deepEqual(db.prepare('SELECT a FROM one').pluck().all(), [1, 2, 3]);
    assert.equal(versionOf(db), 3);
  });

  it('that fail half-way leave the version before them whole', () => {
    const db = new Database(':memory:');
    const broken = step(
      2,
      'CREATE TABLE two (a); INSERT INTO one VALUES (2); INSERT INTO nowhere VALUES (1);',
    );
    assert.throws(
      () => migrate(db, [ONE, broken, step(3, 'CREATE TABLE three (a)')]),
      /no such table: nowhere/,
    );
    assert.equal(versionOf(db), 1);
    assert.deepEqual(db.prepare('SELECT name FROM sqlite_schema').pluck().all(), ['one']);
    assert.deepEqual(db.prepare('SELECT a FROM one').pluck().all(), [1]);
    migrate(db, [ONE, step(2, 'CREATE TABLE two (a)')]);
    assert.equal(versionOf(db), 2);
  });

  it('refuse a database from before the first of them', () => {
    const db = new Database(':memory:');
    migrate(db, [ONE]);
    assert.throws(
      () => migrate(db, [step(2, 'CREATE TABLE two (a)')]),
      /schema 1, .* opens schema 2 and newer/,
    );
    assert.equal(versionOf(db), 1);
  });

  it('that this program does not know are left alone', () => {
    const db = new Database(':memory:');
    migrate(db, [ONE, step(2, 'CREATE TABLE two (a)')]);
    assert.throws(() => migrate(db, [ONE]), /newer version \(schema 2, this program knows 1\)/);
    assert.equal(versionOf(db), 2);
  });
});
