import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import { logAhead, openForWriting } from '../../src/db/open.ts';
import { UPSTREAM } from '../support/mirror.ts';
import { withPath } from './folder.ts';

it('a file that stays locked is given up after the time to wait, however long each try takes', () => {
  let tries = 0;
  const db = {
    pragma(): never {
      tries += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120);
      throw new Database.SqliteError('database is locked', 'SQLITE_BUSY');
    },
  };
  assert.throws(() => logAhead(db, 100), { code: 'SQLITE_BUSY' });
  assert.equal(tries, 1);
});

it('the write-ahead log of a mirror is emptied from 4 MB on, and gives back what one large transaction took', () =>
  withPath((path) => {
    const db = openForWriting({ path, upstream: UPSTREAM });
    const write = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
    const logSize = (): number => statSync(`${path}-wal`).size;
    const sizes: number[] = [];
    for (let n = 0; n < 400; n++) {
      write.run(`row ${n % 50}`, randomBytes(20_000).toString('hex'));
      sizes.push(logSize());
    }
    assert.ok(Math.max(...sizes) < 4.5e6, `${Math.max(...sizes)} bytes`);
    db.transaction(() => {
      for (let n = 0; n < 300; n++) write.run(`large ${n}`, randomBytes(20_000).toString('hex'));
    }).immediate();
    assert.ok(logSize() > 8e6);
    for (let n = 0; n < 2; n++) write.run('small', String(n));
    assert.ok(logSize() < 4.5e6, `${logSize()} bytes`);
    db.close();
  }));
