import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import { rowsMissing } from '../../src/restore/rebuild.ts';
import { folderFor } from '../support/folder.ts';

it('an old folder tells how many rows of its outbox the restored mirror does not know', (t) => {
  const folder = folderFor(t, 'missing');
  const file = (name: string, keys: readonly string[]): string => {
    const path = join(folder, name);
    const db = new Database(path);
    db.exec('CREATE TABLE outbox (source_key TEXT NOT NULL UNIQUE)');
    for (const key of keys) db.prepare('INSERT INTO outbox VALUES (?)').run(key);
    db.close();
    return path;
  };
  const old = file('old.db', ['a', 'b', 'c']);
  assert.equal(rowsMissing(old, file('new.db', ['a', 'd'])), 2);
  assert.equal(rowsMissing(old, file('same.db', ['c', 'b', 'a'])), 0);
  assert.equal(rowsMissing(old, join(folder, 'none.db')), 3);
});
