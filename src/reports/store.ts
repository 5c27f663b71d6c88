import type { Db, OpenOptions } from '../db/open.ts';
import { keptUntilWritten, scalar } from '../db/sql.ts';
import { ENDED } from '../mirror/decide/types.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { type ColumnOf, type ColumnReader, columnReader, type Packed } from '../mirror/index/columns.ts';
import { boardFinder, type MirroredBoard } from '../mirror/store/boards.ts';
import { peopleByEmail } from '../mirror/store/people.ts';
import { segmentReader } from '../segments/filter.ts';
import { customersBy, type KnownCustomers, peopleOf } from '../segments/people.ts';

/** What reports ask of the mirror, from a handle that cannot change it. */
export interface ReportReader {
  /** The rows of one SELECT with parameters by name. */
  rows(sql: string, parameters: Readonly<Record<string, Bound>>): Promise<Record<string, Bound>[]>;
  /** The same as lists of values: half the work where rows are many. */
  tuples(sql: string, parameters: Readonly<Record<string, Bound>>): Promise<Bound[][]>;
  /** The same, one row after the other: a million titles at once take 300 MB. */
  each(sql: string, parameters: Readonly<Record<string, Bound>>): Iterable<Bound[]>;
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
  /** The users of the customers that a person means, such as `plan=Pro`. */
  peopleIn(segment: string): Promise<number[]>;
  /** The customers that were imported, by a column of their file. */
  customers(by: string | undefined): Promise<KnownCustomers>;
  /** How much of the report is done, 0 to 1. */
  tell(share: number): void;
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
  /** When the comments were last looked at. */
  comments: string | null;
  /** When each sweep of the posts ended, in order. */
  looks: Float64Array;
}

/** A report reads what it adds up once. */
const CACHE_KB = 2000;

/** `onProgress` is told of reports that take seconds: how much of them is done, 0 to 1. */
export function openReportReader(options: OpenOptions, onProgress?: (share: number) => void): ReportReader {
  const db = openMirrorReadOnly(options);
  db.pragma(`cache_size = -${CACHE_KB}`);
  // Sorting in memory: what is sorted has been cut down to numbers before.
  db.pragma('temp_store = MEMORY');
  const boards = db.prepare<[], MirroredBoard>('SELECT id, name, slug FROM boards ORDER BY name, id');
  const named = boardFinder(db);
  const statuses = db.prepare<[], KnownStatus>('SELECT id, name, color FROM statuses ORDER BY id');
  const post = db.prepare<[number]>('SELECT 1 FROM posts WHERE id = ?');
  const usersWith = peopleByEmail(db);
  const kept = columnReader(db);
  const choiceOf = segmentReader(db);
  const looked = keptUntilWritten(db, () => watched(db));
  return {
    rows: async (sql, parameters) => db.prepare<object, Record<string, Bound>>(sql).all(parameters),
    tuples: async (sql, parameters) => db.prepare<object, Bound[]>(sql).raw().all(parameters),
    each: (sql, parameters) => db.prepare<object, Bound[]>(sql).raw().iterate(parameters),
    columns: async (wanted) => readAll(db, kept, wanted),
    boards: async () => boards.all(),
    board: async (text) => named(text),
    statuses: async () => statuses.all(),
    hasPost: async (id) => post.get(id) !== undefined,
    watched: async () => looked(),
    usersWith: async (email) => usersWith(email),
    peopleIn: async (segment) => peopleOf(db, choiceOf(segment)),
    customers: async (by) => customersBy(db, by),
    tell: progressTeller(onProgress),
    async close() {
      db.close();
    },
  };
}

/** Each percent once. */
function progressTeller(onProgress?: (share: number) => void): (share: number) => void {
  let told = -1;
  return (share) => {
    const percent = Math.floor(share * 100);
    if (percent !== told) onProgress?.(percent / 100);
    told = percent;
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

const LAST = `
  SELECT max(finished_at) FROM sync_runs WHERE resource = ? AND ${ENDED} AND id > ?`;
const LOOKS = `
  SELECT id, finished_at AS at FROM sync_runs WHERE resource = 'posts' AND mode = 'sweep' AND ${ENDED} ORDER BY id`;

function watched(db: Db): Watched {
  const sweeps = db.prepare<[], { id: number; at: string }>(LOOKS).all();
  const last = scalar(db)<[string, number], string | null>(LAST);
  const [first] = sweeps;
  return {
    first: first?.at ?? null,
    last: first ? (last.get('posts', first.id) ?? null) : null,
    comments: last.get('comments', 0) ?? null,
    looks: Float64Array.from(sweeps, ({ at }) => Date.parse(at)).sort(),
  };
}
