/** What a cell holds, whatever the file's format makes of it. Times are ours: ISO 8601, UTC, milliseconds. */
export type CellType = 'integer' | 'boolean' | 'time' | 'text' | 'json';

/** How a cell identifies a person. A name belongs to the person whose e-mail is in the column `of`. */
export type Personal =
  | { kind: 'email' }
  | { kind: 'name'; of: string }
  | { kind: 'text' }
  | { kind: 'json'; names: boolean }
  | { kind: 'key' };

export interface ExportColumn {
  name: string;
  type: CellType;
  nullable: boolean;
  personal: Personal | null;
}

export const EXPORT_TABLES = [
  'posts',
  'comments',
  'users',
  'boards',
  'statuses',
  'post_history',
  'comment_history',
  'outbox',
] as const;
export type ExportTable = (typeof EXPORT_TABLES)[number];

interface TableDefinition {
  columns: readonly ExportColumn[];
  /** Whose ids are walked through; the rows of one window of ids are read at a time. */
  walk: string;
  /** The column with the person of a row. Null for rows without a person. */
  person: string | null;
  /** In the order of `columns`; takes $after, $upto, $since, $live and $people. */
  sql: string;
}

type Column = Omit<ExportColumn, 'name'>;

const plain = (type: CellType): Column => ({ type, nullable: false, personal: null });
const maybe = (column: Column): Column => ({ ...column, nullable: true });
const [integer, boolean, time] = [plain('integer'), plain('boolean'), plain('time')];
/** Words that the program itself chooses, and times as the upstream spelt them. */
const word = plain('text');
/** Every other text may hold an address, even the name of a board or a status. */
const text: Column = { ...word, personal: { kind: 'text' } };
const email: Column = { ...maybe(word), personal: { kind: 'email' } };
const nameOf = (of: string): Column => ({ ...maybe(word), personal: { kind: 'name', of } });
const jsonOf = (names: boolean): Column => ({
  ...maybe(plain('json')),
  personal: { kind: 'json', names },
});

function each(column: Column, names: string): Record<string, Column> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, column]));
}

/** What a column of that name holds, in every table unless the table says otherwise. A name that is not here is a `text`. */
const KINDS: Record<string, Column> = {
  ...each(
    integer,
    'id post_id comment_id creator_id board_id status_id votes_count comments_count likes_count attempts',
  ),
  ...each(maybe(integer), 'line duplicate_of'),
  ...each(boolean, 'highlighted internal deleted is_admin is_team'),
  ...each(time, 'created created_at observed_at first_seen_at changed_at'),
  ...each(maybe(time), 'registered not_before deleted_at erased_at'),
  ...each(word, 'batch state'),
  ...each(maybe(word), 'created_raw registered_raw matched'),
  last_error: maybe(text),
  creator: nameOf('creator_email'),
  full_name: nameOf('email'),
  ...each(email, 'email creator_email'),
  extra: jsonOf(true),
  source_key: { ...word, personal: { kind: 'key' } },
};
/** What a comment says about its post's status: `name` is the status's there, not a person's. */
const COMMENT_STATUS = { status: jsonOf(false) };

interface Definition {
  /** In the order of the file. */
  columns: string;
  kinds?: Record<string, Column>;
  walk?: string;
  /** Where the rows come from where that is more than the table; the table itself is called t. */
  from?: string;
  /** Columns that are another table's. */
  joined?: Record<string, string>;
  key?: string;
  order?: string;
  /** What holds for every row of which any exported column may have changed: also a joined name, or an erased text. */
  changed: string;
  live?: string;
  person?: string;
}

function definition(table: string, given: Definition): TableDefinition {
  const { from = `${table} t`, walk = table, kinds = {}, joined = {}, key = 't.id', order = key } = given;
  const { person = null } = given;
  const isTheirs =
    person === null ? '' : `AND ($people IS NULL OR ${person} IN (SELECT value FROM json_each($people)))`;
  const names = given.columns.split(/\s+/);
  const selected = names.map((name) => joined[name] ?? `t.${name}`);
  const isLive = given.live === undefined ? '' : `AND ($live = 0 OR ${given.live})`;
  return {
    walk,
    person,
    columns: names.map((name) => ({ name, ...(kinds[name] ?? KINDS[name] ?? text) })),
    sql: `SELECT ${selected.join(', ')} FROM ${from}
           WHERE ${key} > $after AND ${key} <= $upto ${isLive} AND ($since IS NULL OR ${given.changed}) ${isTheirs}
           ORDER BY ${order}`,
  };
}

const since = (...times: string[]): string => times.map((time) => `${time} >= $since`).join(' OR ');
const SEEN = since('t.changed_at', 't.first_seen_at');
const WRITTEN = since('t.changed_at', 't.first_seen_at', 't.deleted_at', 't.erased_at', 'u.changed_at');

/** A history changes with its row, and with versions whose texts were erased. */
function history(row: 'post' | 'comment', columns: string, isLatest: string, kinds = {}): TableDefinition {
  return definition(`${row}_history`, {
    columns,
    kinds,
    walk: `${row}s`,
    key: `t.${row}_id`,
    order: `t.${row}_id, t.observed_at`,
    changed: `t.observed_at >= $since OR (SELECT ${isLatest} FROM ${row}s r WHERE r.id = t.${row}_id)
              OR EXISTS (SELECT 1 FROM ${row}_versions v WHERE v.${row}_id = t.${row}_id AND v.erased_at >= $since)`,
    live: `(SELECT deleted_at IS NULL FROM ${row}s r WHERE r.id = t.${row}_id)`,
  });
}

/** Every table people may take along. Left out is what only the program's own bookkeeping needs. */
export const TABLES: Record<ExportTable, TableDefinition> = {
  posts: definition('posts', {
    columns: `id title content url creator_id creator creator_email board_id board status_id status votes_count comments_count
      created created_raw extra first_seen_at changed_at deleted_at erased_at`,
    joined: { creator: 'u.name', creator_email: 'u.email', board: 'b.name', status: 's.name' },
    // CROSS JOIN keeps the posts outermost, and so in the order of their ids without sorting.
    from: `posts t CROSS JOIN users u ON u.id = t.creator_id
           CROSS JOIN boards b ON b.id = t.board_id CROSS JOIN statuses s ON s.id = t.status_id`,
    changed: `${WRITTEN} OR ${since('b.changed_at', 's.changed_at')}`,
    live: 't.deleted_at IS NULL',
    person: 't.creator_id',
  }),
  comments: definition('comments', {
    columns: `id post_id post_title creator_id creator creator_email kind status likes_count highlighted internal content
      created created_raw extra first_seen_at changed_at deleted_at erased_at`,
    kinds: COMMENT_STATUS,
    joined: {
      post_title: 'coalesce(CASE WHEN p.deleted_at IS NULL THEN p.title END, r.title)',
      creator: 'u.name',
      creator_email: 'u.email',
    },
    from: `comments t CROSS JOIN users u ON u.id = t.creator_id
           CROSS JOIN commented_posts r ON r.id = t.post_id LEFT JOIN posts p ON p.id = t.post_id`,
    changed: `${WRITTEN} OR ${since('p.changed_at', 'r.changed_at')}`,
    live: 't.deleted_at IS NULL',
    person: 't.creator_id',
  }),
  users: definition('users', {
    columns: 'id email name alias registered registered_raw is_admin is_team extra first_seen_at changed_at',
    kinds: { name: nameOf('email'), alias: nameOf('email') },
    person: 't.id',
    changed: SEEN,
  }),
  boards: definition('boards', {
    columns: 'id name url slug extra first_seen_at changed_at',
    changed: SEEN,
  }),
  statuses: definition('statuses', {
    columns: 'id name color extra first_seen_at changed_at',
    changed: SEEN,
  }),
  post_history: history(
    'post',
    'post_id observed_at title content board_id status_id votes_count comments_count deleted',
    'r.changed_at >= $since AND r.version_at = t.observed_at',
  ),
  comment_history: history(
    'comment',
    'comment_id observed_at content likes_count highlighted internal status deleted post_id creator_id kind',
    'r.changed_at >= $since',
    COMMENT_STATUS,
  ),
  outbox: definition('outbox', {
    columns: `id batch source_key line kind board title content email full_name state attempts not_before
      post_id url matched last_error duplicate_of created_at changed_at erased_at`,
    kinds: { post_id: maybe(integer), url: maybe(text) },
    changed: since('t.changed_at', 't.created_at', 't.erased_at'),
  }),
};
