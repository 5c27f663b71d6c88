import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { openSaved } from '../../src/query/saved.ts';
import { openTestMirror } from '../support/mirror.ts';

function shelfFor(t: TestContext) {
  const mirror = openTestMirror();
  const saved = openSaved(mirror);
  t.after(() => {
    saved.close();
    mirror.dispose();
  });
  return { mirror, queries: saved.queries };
}

describe('saved queries', () => {
  it('are told apart by their names, whatever their case, and keep their own', (t) => {
    const { queries } = shelfFor(t);
    const { id } = queries.save({ name: ' Open ', sql: 'SELECT 1' }, 0);
    assert.throws(() => queries.save({ name: 'OPEN', sql: 'SELECT 2' }, 0), /"OPEN" already/);
    const other = queries.save({ name: 'Done', sql: 'SELECT 2' }, 0);
    assert.throws(() => queries.change(other.id, { name: 'open' }, 1), /already/);
    assert.partialDeepStrictEqual(queries.change(id, { name: 'OPEN' }, 1), {
      name: 'OPEN',
      sql: 'SELECT 1',
      created_at: new Date(0).toISOString(),
      changed_at: new Date(1).toISOString(),
    });
    assert.equal(queries.change(99, { name: 'None' }, 1), null);
    assert.deepEqual([queries.remove(id), queries.remove(id)], [true, false]);
    assert.deepEqual(
      queries.list().map(({ name }) => name),
      ['Done'],
    );
  });

  it('are five hundred at most, each with a name and a statement that can be written down', (t) => {
    const { mirror, queries } = shelfFor(t);
    const refused = (name: string, sql: string, message: RegExp) =>
      assert.throws(() => queries.save({ name, sql }, 0), { code: 'usage', message });
    refused(' ', 'SELECT 1', /needs a name/);
    refused('One', ' ', /needs a statement/);
    refused('x'.repeat(101), 'SELECT 1', /100 characters/);
    refused('One', 'x'.repeat(50_001), /50,000 characters/);
    refused('One', 'SELECT \0', /written down/);
    refused('\ud800', 'SELECT 1', /written down/);
    const many = new Database(mirror.path);
    many.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
      INSERT INTO saved_queries (name, sql, created_at, changed_at) SELECT 'x' || i, 'SELECT 1', '', '' FROM n`);
    many.close();
    queries.save({ name: 'x'.repeat(100), sql: 'x'.repeat(50_000) }, 0);
    refused('One', 'SELECT 1', /there are 500 of them already/);
    assert.equal(queries.list().length, 500);
  });
});
