import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { AppError } from '../../src/base/errors.ts';
import { openForReading, openForWriting } from '../../src/db/open.ts';
import { withPath } from '../db/folder.ts';
import { UPSTREAM } from '../support/mirror.ts';

const upstream = UPSTREAM;
const HANDLES = [openForWriting, openForReading];

describe('a file that is not this mirror is refused, and left as it is:', () => {
  it('a mirror of another upstream', () =>
    refused(
      (path) => openForWriting({ path, upstream: 'https://elsewhere.test' }).close(),
      /belongs to https:\/\/elsewhere\.test, not to https:\/\/upstream\.test\/api; nothing was written/,
    ));

  it('a mirror written by a newer version', () =>
    refused(
      (path) => changed(path, 'user_version = 1000'),
      /newer version \(schema 1000, this program knows \d+\)/,
    ));

  it('a mirror of a newer version that keeps its upstream elsewhere and logs otherwise', () =>
    refused((path) => {
      changed(path, 'user_version = 1000');
      const db = new Database(path);
      db.pragma('journal_mode = DELETE');
      db.exec('DROP TABLE meta');
      db.close();
    }, /newer version/));

  it('a mirror in a folder that every user of the machine can write to, or with such a data folder', () =>
    withPath((path) => {
      openForWriting({ path, upstream }).close();
      const dataDir = join(dirname(path), 'data');
      mkdirSync(dataDir);
      for (const folder of [dataDir, dirname(path)]) {
        chmodSync(folder, 0o1777);
        for (const open of HANDLES)
          assert.throws(
            () => open({ path, upstream, dataDir }),
            isUsage(/every user of this machine can write to/),
          );
        chmodSync(folder, 0o770);
      }
      for (const open of HANDLES) open({ path, upstream, dataDir }).close();
    }));

  it('the database of another program', () =>
    refused((path) => {
      const db = new Database(path);
      db.exec('CREATE TABLE meta (key, value); CREATE TABLE posts (id)');
      db.close();
    }, /another program/));

  it('a text', () =>
    refused((path) => writeFileSync(path, 'Dear diary,\n'.repeat(1000)), /is not an SQLite database/));

  it('a text of one word', () => refused((path) => writeFileSync(path, 'word'), /is not an SQLite database/));

  it('a folder', () =>
    withPath((path) => {
      mkdirSync(path);
      for (const open of HANDLES) assert.throws(() => open({ path, upstream }), isUsage(/is a folder/));
    }));
});

describe('for reading alone', () => {
  it('there must be a mirror, and looking for it makes none', () =>
    withPath((path) => {
      assert.throws(() => openForReading({ path, upstream }), isUsage(/there is no mirror at .* yet/));
      assert.equal(existsSync(path), false);
    }));

  it('a mirror that was never filled is none yet', () =>
    withPath((path) => {
      writeFileSync(path, '');
      assert.throws(() => openForReading({ path, upstream }), isUsage(/there is no mirror at .* yet/));
    }));

  it('a mirror of an older version must be brought up to date first', () =>
    withPath((path) => {
      changed(path, 'user_version = 26');
      assert.throws(() => openForReading({ path, upstream }), isUsage(/older version/));
    }));
});

function refused(make: (path: string) => void, message: RegExp): Promise<void> {
  return withPath((path) => {
    make(path);
    const before = readFileSync(path);
    for (const open of HANDLES) assert.throws(() => open({ path, upstream }), isUsage(message));
    assert.ok(before.equals(readFileSync(path)));
    if (existsSync(`${path}-wal`)) assert.equal(readFileSync(`${path}-wal`).length, 0);
  });
}

/** Each refusal says what the person can do. */
function isUsage(message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, 'usage');
    assert.match(error.message, message);
    assert.ok(error.hint);
    return true;
  };
}

function changed(path: string, pragma: string): void {
  openForWriting({ path, upstream }).close();
  const db = new Database(path);
  db.pragma(pragma);
  db.close();
}
