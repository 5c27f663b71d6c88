import { randomUUID } from 'node:crypto';
import { codeOf } from '../base/errors.ts';
import type { ColumnType, PublishedCell, PublishedTable } from '../base/postgres.ts';
import { positionOf, type StoredChange } from '../changes/change.ts';
import { type TouchedRows, touchedRows } from '../changes/feed.ts';
import { versionOf } from '../db/migrate.ts';
import { type Db, type OpenOptions, openForReading } from '../db/open.ts';
import { closeAfter, countRows, dataVersion, readMeta, scalar } from '../db/sql.ts';
import { openMirror, openMirrorReadOnly } from '../mirror/file/open.ts';

interface Definition {
  /** What only the file itself can use: the place to resume a sweep, say. */
  left?: readonly string[];
  /** Rows that are published; all where it is left out. */
  where?: string;
  indexes?: readonly (readonly string[])[];
  /** A text from the service, looked up whole: a sorted index of PostgreSQL takes none of more than 2.7 KB, and the copy would stop there. */
  hashed?: string;
}

/**
 * Every table that another database holds a copy of: what people ask, and what it takes to make the mirror again. Left out is what a
 * sweep brings by itself (evidence of absences, quarantine, search indexes) and what belongs to one machine.
 */
const DEFINITIONS: Record<string, Definition> = {
  users: { hashed: 'email' },
  boards: {},
  former_board_slugs: {},
  statuses: {},
  posts: { indexes: [['board_id', 'status_id'], ['created'], ['creator_id']] },
  commented_posts: {},
  comments: { indexes: [['post_id'], ['created'], ['creator_id']] },
  post_versions: { indexes: [['post_id', 'n'], ['observed_at']] },
  comment_versions: { indexes: [['comment_id', 'n'], ['observed_at']] },
  outbox: { indexes: [['state'], ['batch']] },
  outbox_attempts: {},
  outbox_edits: {},
  sync_runs: { indexes: [['started_at']] },
  batches: {},
  sent_boards: {},
  same_posts: {},
  segments: { indexes: [['plan'], ['company']] },
  people_segments: { indexes: [['segment_id']] },
  told_people: {},
  saved_queries: {},
  saved_views: {},
  suppressions: {},
  suppressed_users: {},
  feed_lists: {},
  sync_state: { left: ['run_id', 'state'] },
  meta: {
    where:
      "key IN ('mirror_id', 'upstream', 'publish_life', 'push_paused', 'suppression_check', 'older_copy')",
  },
};

/** Small ones without changes of their own in the feed: they are compared as a whole. */
export const SMALL_TABLES = [
  ...[
    'boards',
    'former_board_slugs',
    'statuses',
    'batches',
    'sent_boards',
    'same_posts',
    'segments',
    'people_segments',
    'told_people',
    'saved_queries',
    'saved_views',
  ],
  ...['suppressions', 'suppressed_users', 'feed_lists', 'sync_state', 'meta'],
] as const;

/** What SQLite has no type for is told by the name of the column. */
const TIME = /_at$|^(created|registered|not_before|since)$/;
const BOOLEAN =
  /\.(is_admin|is_team|highlighted|internal|was_ambiguous|on_hold|failing)$|_versions\.deleted$/;
const JSON_TEXT = /^(extra|status|baseline|candidates|before)$/;

/** The tables as this file has them: a column that a migration adds is published without being listed anywhere. */
export function publishedTables(db: Db): PublishedTable[] {
  const info = db.prepare<[string], { name: string; type: string; notnull: number; pk: number }>(`
    SELECT name, type, "notnull", pk FROM pragma_table_info(?)`);
  return Object.entries(DEFINITIONS).map(([name, { left = [], indexes = [], hashed = null }]) => {
    const found = info.all(name).filter((column) => !left.includes(column.name));
    const key = found.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    return {
      name,
      columns: found.map((column) => ({
        name: column.name,
        type: typeOf(name, column),
        nullable: column.notnull === 0 && column.pk === 0,
      })),
      key: key.map((column) => column.name),
      indexes,
      hashed,
    };
  });
}

function typeOf(table: string, { name, type }: { name: string; type: string }): ColumnType {
  if (type === 'TEXT') return JSON_TEXT.test(name) ? 'jsonb' : TIME.test(name) ? 'timestamptz' : 'text';
  if (type === 'REAL') return 'double precision';
  return BOOLEAN.test(`${table}.${name}`) ? 'boolean' : 'bigint';
}

/** Which rows of a table: all, those whose column is one of the values, or those whose column is greater than one. */
export type Rows = 'all' | { column: string; values: readonly number[] } | { column: string; above: number };

export type Snapshot = ReturnType<ReturnType<typeof snapshotReader>>;

export type PublishSource = ReturnType<typeof openPublishSource>;

export function openPublishSource(options: OpenOptions) {
  const life = lifeOf(options);
  const db = openMirrorReadOnly(options);
  const mirrorId = readMeta(db, 'mirror_id') ?? '';
  const head = scalar(db)<[], number | null>('SELECT max(n) FROM changes');
  const nextAt = scalar(db)<[number], string>('SELECT at FROM changes WHERE n > ? ORDER BY n LIMIT 1');
  const firstAt = scalar(db)<[], string>('SELECT started_at FROM sync_runs ORDER BY id LIMIT 1');
  const reader = snapshotReader(db);
  return {
    mirrorId,
    /** Tells this life of the mirror from one that was rebuilt from the copy. */
    life,
    upstream: options.upstream,
    schemaVersion: versionOf(db),
    tables: publishedTables(db),
    /** Changes with every write of another connection. */
    version: dataVersion(db),
    /** The number of the last change. */
    head: (): number => head.get() ?? 0,
    /** When the first change after that number was made, or the mirror was begun; null where there is nothing yet. */
    changedAfter(number: number | null): number | null {
      const at = number === null ? firstAt.get() : nextAt.get(number);
      return at === undefined ? null : Date.parse(at);
    },
    /** Others go on writing meanwhile, and the write-ahead log grows by what they write. */
    async snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
      const at = new Date().toISOString();
      db.exec('BEGIN');
      try {
        return await work(reader(at));
      } finally {
        db.exec('ROLLBACK');
      }
    },
    close: (): void => void db.close(),
  };
}

/** What commands that only read compare the copy with. */
export function publishedState(options: OpenOptions): {
  mirrorId: string;
  life: string | null;
  head: number;
} {
  return closeAfter(openForReading(options), (db) => {
    const head = scalar(db)<[], number | null>('SELECT max(n) FROM changes').get() ?? 0;
    return { mirrorId: readMeta(db, 'mirror_id') ?? '', life: readMeta(db, 'publish_life') ?? null, head };
  });
}

/** Made when the mirror is first published. */
function lifeOf(options: OpenOptions): string {
  return closeAfter(openMirror(options), (db) => {
    const make = db.prepare(
      "INSERT INTO meta (key, value) VALUES ('publish_life', ?) ON CONFLICT DO NOTHING",
    );
    make.run(randomUUID());
    return readMeta(db, 'publish_life') ?? '';
  });
}

/** More changes than this cost as much as a copy of everything, and have to be held in memory. */
const MOST_CHANGES = 200_000;
/** Values asked for with one statement. */
const ASKED_AT_ONCE = 2000;
const LAST_RUNS = 50;

/** The mirror as it was in one moment. */
function snapshotReader(db: Db) {
  const last = db.prepare<[], StoredChange>('SELECT * FROM changes ORDER BY n DESC LIMIT 1');
  const sequence = scalar(db)<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'changes'");
  const touched = touchedRows(db);
  const openRuns = scalar(db)<[number], number>(`
      SELECT id FROM sync_runs WHERE id > (SELECT coalesce(max(id), 0) FROM sync_runs) - ? OR outcome = 'running'
          OR id IN (SELECT run_id FROM sync_state)`);
  return (at: string) => {
    const change = last.get() ?? null;
    return {
      /** When it was taken, by this machine's clock, or a moment before. */
      at,
      /** The last change of the mirror as it is stored. Null if there is none. */
      change,
      number: change?.n ?? sequence.get() ?? 0,
      position: change ? positionOf(change) : '0',
      /** What changed after a position; null where the feed does not tell any more, or where it is as much as everything. */
      touched(since: string): TouchedRows | null {
        const found = unlessGone(() => touched(since, MOST_CHANGES));
        return found?.isLast ? found : null;
      },
      rows: (table: PublishedTable, which: Rows): Iterable<PublishedCell[]> => rowsOf(db, table, which),
      count: (table: string): number => countRows(db, table),
      /** The highest `n` of a table of versions. */
      last: (table: string) => scalar(db)<[], number | null>(`SELECT max(n) FROM ${table}`).get() ?? 0,
      /** Passes that can still change: the last ones, and those that are not finished. */
      openRuns: (): number[] => openRuns.all(LAST_RUNS),
    };
  };
}

function unlessGone<T>(ask: () => T): T | null {
  try {
    return ask();
  } catch (error) {
    if (codeOf(error) === 'gone') return null;
    throw error;
  }
}

function* rowsOf(db: Db, { name, columns }: PublishedTable, which: Rows): Generator<PublishedCell[]> {
  const where = DEFINITIONS[name]?.where;
  const select = (condition: string) =>
    db
      .prepare<(string | number)[], PublishedCell[]>(`
          SELECT ${columns.map((column) => column.name).join(', ')} FROM ${name}
          WHERE ${[where ?? '1', condition].join(' AND ')}`)
      .raw();
  if (which === 'all') return yield* select('1').iterate();
  if ('above' in which) return yield* select(`${which.column} > ?`).iterate(which.above);
  const some = select(`${which.column} IN (SELECT value FROM json_each(?))`);
  for (let i = 0; i < which.values.length; i += ASKED_AT_ONCE)
    yield* some.iterate(JSON.stringify(which.values.slice(i, i + ASKED_AT_ONCE)));
}
