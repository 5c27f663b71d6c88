import assert from 'node:assert/strict';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import { logAhead } from '../../src/store/db.ts';

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
