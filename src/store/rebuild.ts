import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Cell, PublishedTable } from '../base/postgres.ts';
import { canonicalJson, parseJson } from '../contract/json.ts';
import type { StoredChange } from './changes/change.ts';
import type { OpenOptions } from './db.ts';
import { migrate, migrations } from './migrate.ts';
import { publishedTables } from './publish-source.ts';
import { rowsOf, scalar, writeMeta } from './sql.ts';
import { keyFileOf } from './suppression/list.ts';

/** A mirror that is made again from a copy of its rows, in a file that nobody else knows yet. */
export interface Rebuild {
  readonly tables: readonly PublishedTable[];
  /** Takes rows of a table, their cells in the order of its columns. */
  taker(table: PublishedTable): (row: Cell[]) => void;
  /** Ends it: the file knows that it is an older copy, from when, and where the change feed goes on. */
  finish(state: { readAt: string; number: number; change: StoredChange | null; life: string }): Rebuilt;
  close(): void;
}

export interface Rebuilt {
  rows: ReturnType<typeof rowsOf>;
  /** People on the suppression list whom only its key could tell; the key is not in the copy. */
  unknownErased: number;
}

/** With the tables as they were in the copy: what newer versions of this program changed about them, the first opening does. */
export function rebuildMirror(path: string, version: number, options: OpenOptions): Rebuild {
  const db = new Database(path);
  // Nothing is lost with this file: it counts once it is whole, and is made again otherwise.
  for (const pragma of [
    'journal_mode = OFF',
    'synchronous = OFF',
    'foreign_keys = OFF',
    'cache_size = -64000',
  ])
    db.pragma(pragma);
  migrate(
    db,
    migrations().filter((migration) => migration.version <= version),
  );
  const tables = publishedTables(db);
  db.exec('BEGIN');
  for (const { name } of tables) if (name !== 'meta') db.exec(`DELETE FROM ${name}`);
  return {
    tables,
    taker({ name, columns }) {
      const insert = db.prepare(`
          INSERT OR REPLACE INTO ${name} (${columns.map((column) => column.name).join(', ')})
         VALUES (${columns.map(() => '?').join(', ')})`);
      const json = columns.flatMap(({ type }, i) => (type === 'jsonb' ? [i] : []));
      return (row) => {
        for (const i of json) if (typeof row[i] === 'string') row[i] = canonicalJson(parseJson(row[i]));
        insert.run(row);
      };
    },
    finish({ readAt, number, change, life }) {
      writeMeta(db, 'copied_at', readAt);
      writeMeta(db, 'publish_life', life);
      endFeed(db, number, change);
      db.prepare(`
        UPDATE sync_runs SET outcome = 'interrupted', finished_at = coalesce(finished_at, ?) WHERE outcome = 'running'`).run(
        readAt,
      );
      const unknownErased = existsSync(keyFileOf(options)) ? 0 : forgetHashes(db);
      db.exec('COMMIT');
      return { rows: rowsOf(db), unknownErased };
    },
    close: () => db.close(),
  };
}

export function newLife(): string {
  return randomUUID();
}

/** A consumer that had read as far as the copy finds the change it stands at, and goes on. */
function endFeed(db: Database.Database, number: number, change: StoredChange | null): void {
  db.exec('DELETE FROM changes');
  if (change)
    db.prepare(`
      INSERT INTO changes (n, at, type, id, version, detail) VALUES ($n, $at, $type, $id, $version, $detail)`).run(
      change,
    );
  else if (number > 0)
    db.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('changes', ?)").run(number);
}

/** Without their key the hashes say nothing, and a list without its key stops every sweep. People known by their number stay on it. */
function forgetHashes(db: Database.Database): number {
  const lost = scalar(db)<[], number>(`
    SELECT count(*) FROM suppressions WHERE hash NOT IN (SELECT hash FROM suppressed_users)`);
  const count = lost.get() ?? 0;
  db.exec("DELETE FROM suppressions; DELETE FROM meta WHERE key = 'suppression_check'");
  return count;
}
