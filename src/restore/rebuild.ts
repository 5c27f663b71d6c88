import Database from 'better-sqlite3';
import { AppError, messageOf } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { parseJson } from '../base/json.ts';
import type { PublishedCell, PublishedTable } from '../base/postgres.ts';
import type { StoredChange } from '../changes/change.ts';
import { canonicalJson } from '../contract/json.ts';
import { migrate, migrations, refuseOlder, versionOf } from '../db/migrate.ts';
import { type OpenOptions, openAsItIs } from '../db/open.ts';
import { closeAfter, countRows, damageIn, dropMeta, rowsOf, scalar, writeMeta } from '../db/sql.ts';
import type { UnreadableList } from '../mirror/decide/types.ts';
import { markPutBack } from '../mirror/file/older-copy.ts';
import { unreadableList } from '../mirror/suppression/list.ts';
import { publishedTables } from '../publish/source.ts';
import { counted } from '../text/text.ts';

/** A mirror that is made again from a copy of its rows, in a file that no other process knows yet. */
export interface Rebuild {
  readonly tables: readonly PublishedTable[];
  /** Takes rows of a table, their cells in the order of its columns. */
  taker(table: PublishedTable): (row: PublishedCell[]) => void;
  /** Ends it: the file knows that it is an older copy, from when, and where the change feed goes on. */
  finish(state: CopyState): Rebuilt;
  close(): void;
}

interface CopyState {
  readAt: string;
  number: number;
  change: StoredChange | null;
  life: string;
  /** Nothing was sent or accepted since: the file is the newest, on another machine. */
  isWhole?: boolean;
}

export interface Rebuilt {
  rows: ReturnType<typeof rowsOf>;
  /** The suppression list where its key, which is not in the copy, is not in the data folder either. */
  unreadableList: UnreadableList | null;
}

interface RebuildOptions extends OpenOptions {
  /** Also where the key of the suppression list is not in the data folder. */
  withoutKey: boolean;
}

/** With the tables as they were in the copy: what newer versions of this program changed about them, the first opening does. */
export function rebuildMirror(path: string, version: number, options: RebuildOptions): Rebuild {
  refuseOlder('the copy', version);
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
    finish({ readAt, number, change, life, isWhole }) {
      if (isWhole) dropMeta(db, 'claim_head', 'claim_head_before', 'copied_at');
      else writeMeta(db, 'copied_at', readAt);
      writeMeta(db, 'publish_life', life);
      endFeed(db, number, change);
      db.prepare(`
        UPDATE sync_runs SET outcome = 'interrupted', finished_at = coalesce(finished_at, ?) WHERE outcome = 'running'`).run(
        readAt,
      );
      const list = checkedList(db, options);
      db.exec('COMMIT');
      return { rows: rowsOf(db), unreadableList: list };
    },
    close: () => db.close(),
  };
}

/** The same from a file: a whole, checked copy of it under another name. The file itself is not changed, whatever its schema. */
export function copyBackup(
  file: string,
  to: string,
  options: RebuildOptions,
): Rebuilt & { readAt: string | null } {
  try {
    closeAfter(openAsItIs({ ...options, path: file }), (db) => db.prepare('VACUUM INTO ?').run(to));
    return closeAfter(new Database(to), (db) => {
      const how = damageIn(db);
      if (how !== null) throw damagedBackup(file, how);
      takeOwnProgram(db);
      const list = checkedList(db, options);
      return { rows: rowsOf(db), unreadableList: list, readAt: markPutBack(db) };
    });
  } catch (error) {
    throw ofBackup(error, file);
  }
}

/** In words about the file that was given: the usual ones send people to the mirror in DATA_DIR, which is sound. */
function ofBackup(error: unknown, file: string): unknown {
  const cause = error instanceof AppError ? error.cause : error;
  const code = String(Reflect.get(Object(cause), 'code'));
  // SQLITE_ERROR: a table of the mirror is not in the file.
  if (/^SQLITE_(CORRUPT|ERROR)/.test(code)) return damagedBackup(file, messageOf(cause));
  if (code !== 'SQLITE_NOTADB') return error;
  return new AppError('usage', `${file} is not an SQLite database`, {
    hint: 'Give the path of a backup.',
    cause,
  });
}

function damagedBackup(file: string, how: string): AppError {
  return new AppError('storage', `${file} is damaged: ${how}; nothing was restored`, {
    hint: 'Take an earlier copy.',
  });
}

/** Triggers and views are statements that run later. The file may come from anyone, so those of this program take their place. */
function takeOwnProgram(db: Database.Database): void {
  const own = new Database(':memory:');
  migrate(
    own,
    migrations().filter(({ version }) => version <= versionOf(db)),
  );
  const statements = closeAfter(own, programIn);
  for (const { type, name } of programIn(db))
    db.exec(`DROP ${type} IF EXISTS "${name.replaceAll('"', '""')}"`);
  for (const { sql } of statements) db.exec(sql);
}

interface SchemaEntry {
  type: string;
  name: string;
  sql: string;
}

function programIn(db: Database.Database): SchemaEntry[] {
  return db
    .prepare<[], SchemaEntry>(
      "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY rowid",
    )
    .all();
}

/** Rows of the outbox in a mirror that is no longer used which the mirror in its place does not know. */
export function rowsMissing(old: string, path: string): number {
  return closeAfter(new Database(old), (db) => {
    if (!isThere(path)) return countRows(db, 'outbox');
    db.prepare('ATTACH ? AS now').run(path);
    const known = 'SELECT 1 FROM now.outbox known WHERE known.source_key = o.source_key';
    const missing = `SELECT count(*) FROM main.outbox o WHERE NOT EXISTS (${known})`;
    return scalar(db)<[], number>(missing).get() ?? 0;
  });
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

/** Refuses a list of erased people that cannot be read without its key, unless the caller wants the mirror without it. */
function checkedList(db: Database.Database, options: RebuildOptions): UnreadableList | null {
  const list = unreadableList(db, options);
  if (list && !options.withoutKey) throw withoutKey(list);
  return list;
}

/** The mirror is the only one to have the list from here on, so its reader decides with open eyes. */
function withoutKey({ erasures, keyFile, fault }: UnreadableList): AppError {
  const people = counted(erasures, 'erased person', 'erased people');
  return new AppError(
    'usage',
    `the copy has a list of ${people}, and its key, ${keyFile}, ${fault}: they could not be recognised; nothing was restored`,
    {
      hint: 'Put suppression.key of the lost machine there first. With --without-key the list is kept, and nothing is read from upstream until the key is back.',
    },
  );
}
