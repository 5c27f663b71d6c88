import { boardFinder, type MirroredBoard } from './boards.ts';
import type { Db, OpenOptions } from './db.ts';
import { type ColumnOf, type ColumnReader, columnReader, type Packed } from './index/columns.ts';
import { ENDED } from './mirror/types.ts';
import { openMirrorReadOnly } from './open.ts';
import { peopleByEmail } from './people.ts';
import { scalar } from './sql.ts';

/** What reports ask of the mirror, from a handle that cannot change it. */
export interface ReportReader {
  /** The rows of one SELECT with parameters by name. */
  rows(sql: string, parameters: Readonly<Record<string, Bound>>): Promise<Record<string, Bound>[]>;
  /** The same as lists of values: half the work where rows are many. */
  tuples(sql: string, parameters: Readonly<Record<string, Bound>>): Promise<Bound[][]>;
  /** The columns of one moment, with the boards and statuses as they are told apart, and who is of the team. */
  columns<
    P extends ColumnOf<'posts'> = never,
    C extends ColumnOf<'comments'> = never,
    V extends ColumnOf<'versions'> = never,
  >(wanted: Wanted<P, C, V>): Promise<Columns<P, C, V>>;
  boards(): Promise<MirroredBoard[]>;
  /** The one that a person means, by slug, name or id. */
  board(text: string): Promise<MirroredBoard>;
  statuses(): Promise<KnownStatus[]>;
  /** Deleted or not. */
  hasPost(id: number): Promise<boolean>;
  watched(): Promise<Watched>;
  /** The users with this address, however it is spelt. */
  usersWith(email: string): Promise<number[]>;
  close(): Promise<void>;
}

interface Wanted<P, C, V> {
  posts?: readonly P[];
  comments?: readonly C[];
  versions?: readonly V[];
}

interface Columns<P extends string, C extends string, V extends string> {
  posts: Packed<P>;
  comments: Packed<C>;
  versions: Packed<V>;
  /** In the order of their names; one that shares its name with another has its short name behind it. */
  boards: MirroredBoard[];
  /** In the order of their ids; the same with the id. */
  statuses: KnownStatus[];
  /** The ids of those who work for the company. */
  team: number[];
}

type Bound = string | number | null;

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

/** A report reads what it adds up once. */
const CACHE_KB = 16_000;

export function openReportReader(options: OpenOptions): ReportReader {
  const db = openMirrorReadOnly(options);
  db.pragma(`cache_size = -${options.cacheKb ?? CACHE_KB}`);
  // Sorting in memory: what is sorted has been cut down to numbers before.
  db.pragma('temp_store = MEMORY');
  const boards = db.prepare<[], MirroredBoard>('SELECT id, name, slug FROM boards ORDER BY name, id');
  const named = boardFinder(db);
  const statuses = db.prepare<[], KnownStatus>('SELECT id, name, color FROM statuses ORDER BY id');
  const post = db.prepare<[number]>('SELECT 1 FROM posts WHERE id = ?');
  const usersWith = peopleByEmail(db);
  const kept = columnReader(db);
  return {
    rows: async (sql, parameters) => db.prepare<object, Record<string, Bound>>(sql).all(parameters),
    tuples: async (sql, parameters) => db.prepare<object, Bound[]>(sql).raw().all(parameters),
    columns: async (wanted) => readAll(db, kept, wanted),
    boards: async () => boards.all(),
    board: async (text) => named(text),
    statuses: async () => statuses.all(),
    hasPost: async (id) => post.get(id) !== undefined,
    watched: async () => watched(db),
    usersWith: async (email) => usersWith(email),
    async close() {
      db.close();
    },
  };
}

const BOARDS = `
  SELECT id, name || iif(count(*) OVER (PARTITION BY name) > 1, ' (' || slug || ')', '') AS name, slug FROM boards ORDER BY 2, 1`;
const STATUSES = `
  SELECT id, name || iif(count(*) OVER (PARTITION BY name) > 1, ' (#' || id || ')', '') AS name, color FROM statuses ORDER BY 1`;
const TEAM = 'SELECT id FROM users WHERE is_team = 1 OR is_admin = 1';

function readAll<P extends ColumnOf<'posts'>, C extends ColumnOf<'comments'>, V extends ColumnOf<'versions'>>(
  db: Db,
  columns: ColumnReader,
  { posts = [], comments = [], versions = [] }: Wanted<P, C, V>,
): Columns<P, C, V> {
  return db.transaction(() => ({
    posts: columns.read('posts', posts),
    comments: columns.read('comments', comments),
    versions: columns.read('versions', versions),
    boards: db.prepare<[], MirroredBoard>(BOARDS).all(),
    statuses: db.prepare<[], KnownStatus>(STATUSES).all(),
    team: scalar(db)<[], number>(TEAM).all(),
  }))();
}

function watched(db: Db): Watched {
  const row = db
    .prepare<[], Watched>(`
        WITH first AS (
         SELECT id, finished_at FROM sync_runs
          WHERE resource = 'posts' AND mode = 'sweep' AND ${ENDED} ORDER BY id LIMIT 1)
       SELECT (SELECT finished_at FROM first) AS first,
              (SELECT max(finished_at) FROM sync_runs
                WHERE resource = 'posts' AND ${ENDED} AND id > (SELECT id FROM first)) AS last`)
    .get();
  return row ?? { first: null, last: null };
}
