import type { Db, OpenOptions } from './db.ts';
import { openMirrorReadOnly } from './open.ts';
import { peopleByEmail } from './people.ts';

/** What reports ask of the mirror, from a handle that cannot change it. */
export interface ReportReader {
  /** The rows of one SELECT with parameters by name. */
  rows(sql: string, parameters: Readonly<Record<string, Bound>>): Promise<Record<string, Bound>[]>;
  /** The same as lists of values: half the work where rows are many. */
  tuples(sql: string, parameters: Readonly<Record<string, Bound>>): Promise<Bound[][]>;
  boards(): Promise<KnownBoard[]>;
  statuses(): Promise<KnownStatus[]>;
  /** Deleted or not. */
  hasPost(id: number): Promise<boolean>;
  watched(): Promise<Watched>;
  /** The users with this address, however it is spelt. */
  usersWith(email: string): Promise<number[]>;
  close(): Promise<void>;
}

export type Bound = string | number | null;

export interface KnownBoard {
  id: number;
  name: string;
  slug: string;
}

export interface KnownStatus {
  id: number;
  name: string;
  color: string;
}

/** When every post had been seen for the first time, and when the posts were last looked at after that. */
export interface Watched {
  first: string | null;
  last: string | null;
}

/** A report reads a good part of the mirror once: enough for its narrow indexes, whatever the size of the whole. */
const CACHE_KB = 128_000;

export function openReportReader(options: OpenOptions): ReportReader {
  const db = openMirrorReadOnly(options);
  db.pragma(`cache_size = -${options.cacheKb ?? CACHE_KB}`);
  // Sorting in memory: what is sorted has been cut down to numbers before.
  db.pragma('temp_store = MEMORY');
  const boards = db.prepare<[], KnownBoard>('SELECT id, name, slug FROM boards ORDER BY name, id');
  const statuses = db.prepare<[], KnownStatus>('SELECT id, name, color FROM statuses ORDER BY id');
  const post = db.prepare<[number]>('SELECT 1 FROM posts WHERE id = ?');
  const usersWith = peopleByEmail(db);
  return {
    rows: async (sql, parameters) => db.prepare<object, Record<string, Bound>>(sql).all(parameters),
    tuples: async (sql, parameters) => db.prepare<object, Bound[]>(sql).raw().all(parameters),
    boards: async () => boards.all(),
    statuses: async () => statuses.all(),
    hasPost: async (id) => post.get(id) !== undefined,
    watched: async () => watched(db),
    usersWith: async (email) => usersWith(email),
    async close() {
      db.close();
    },
  };
}

function watched(db: Db): Watched {
  const row = db
    .prepare<[], Watched>(
      `WITH first AS (
         SELECT id, finished_at FROM sync_runs
          WHERE resource = 'posts' AND mode = 'sweep' AND outcome = 'complete' ORDER BY id LIMIT 1)
       SELECT (SELECT finished_at FROM first) AS first,
              (SELECT max(finished_at) FROM sync_runs
                WHERE resource = 'posts' AND outcome = 'complete' AND id > (SELECT id FROM first)) AS last`,
    )
    .get();
  return row ?? { first: null, last: null };
}
