import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { schemaOf } from '../../src/query/schema.ts';
import { HIDDEN_TABLES, INSIDE_TABLES, PUBLIC_TABLES } from '../../src/query/schema-words.ts';
import { makeMirror } from './mirror.ts';

describe('the words about the schema', () => {
  let mirror: ReturnType<typeof makeMirror>;
  let db: Database.Database;
  before(() => {
    mirror = makeMirror();
    db = new Database(mirror.path, { readonly: true });
  });
  after(() => {
    db.close();
    mirror.remove();
  });

  it('name every table of the mirror: for people, inside, or hidden', () => {
    const actual = db
      .prepare<[], string>(
        `SELECT name FROM pragma_table_list
          WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite_%'`,
      )
      .pluck()
      .all();
    const worded = [
      ...PUBLIC_TABLES.map(({ name }) => name),
      ...Object.keys(INSIDE_TABLES),
      ...Object.keys(HIDDEN_TABLES),
    ];
    assert.deepEqual(new Set(worded), new Set(actual));
  });

  it('name the type that the values of each readable table have', () => {
    for (const { name, types } of schemaOf(null))
      for (const [column, type] of Object.entries(types)) {
        const sql = `SELECT DISTINCT upper(typeof("${column}")) FROM "${name}" WHERE "${column}" IS NOT NULL`;
        for (const found of db.prepare<[], string>(sql).pluck().all())
          assert.equal(type, found, `${name}.${column}`);
      }
  });

  for (const { name, line, columns } of PUBLIC_TABLES)
    it(`say of ${name} and of each of its columns what it is`, () => {
      const actual = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(name);
      assert.deepEqual(new Set(Object.keys(columns)), new Set(actual));
      for (const words of [line, ...Object.values(columns)]) assert.match(words, /^\S.{2,110}\S$/);
    });
});
