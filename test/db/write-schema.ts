import { readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { migrate, versionOf } from '../../src/db/migrate.ts';

const SNAPSHOT = new URL('./schema.sql', import.meta.url);

/** The snapshot in the repository: the schema file with all migrations applied. Reviewers read it; nothing runs it. */
export function writtenSchema(): string {
  return readFileSync(SNAPSHOT, 'utf8');
}

/** What the migrations make of an empty database; the tables that the text index makes for itself are left out. */
export function migratedSchema(): string {
  const db = new Database(':memory:');
  migrate(db);
  const statements = db
    .prepare<[], string>(
      `SELECT sql FROM sqlite_schema
        WHERE sql IS NOT NULL AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
        ORDER BY rowid`,
    )
    .pluck()
    .all();
  const header = `-- Made by "npm run schema" from the migrations up to version ${versionOf(db)}; not to be edited.`;
  return [header, ...statements.map((sql) => `${sql};`)].join('\n\n').concat('\n');
}

if (process.argv[1] === import.meta.filename) writeFileSync(SNAPSHOT, migratedSchema());
