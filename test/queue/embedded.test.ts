import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { ConnectionClosedError } from 'bullmq';
import { queueFileError } from '../../src/queue/embedded.ts';

describe('a queue in a file that cannot be opened', () => {
  const told = (code: string): { code: string; message: string } => {
    const cause = new Database.SqliteError('as SQLite says it', code);
    return queueFileError('/data/queue.db', new ConnectionClosedError('cannot be used', cause));
  };

  it('says so where another program has locked it', () => {
    const { code, message } = told('SQLITE_BUSY');
    assert.equal(code, 'busy');
    assert.match(message, /^\/data\/queue\.db: another program has locked/);
  });

  it('is a matter of storage otherwise', () => {
    assert.equal(told('SQLITE_FULL').code, 'storage');
    assert.equal(queueFileError('/data/queue.db', new Error('something else')).code, 'storage');
  });
});
