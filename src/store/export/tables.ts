/** What a cell holds, whatever the file's format makes of it. Times are ours: ISO 8601, UTC, milliseconds. */
export type CellType = 'integer' | 'boolean' | 'time' | 'text' | 'json';

/** How a cell can tell who somebody is. A name belongs to the person whose e-mail stands in the column `of`. */
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

export interface TableDefinition {
  columns: readonly ExportColumn[];
  /** Whose ids are walked through; the rows of one window of ids are read at a time. */
  walk: 'posts' | 'comments' | 'users' | 'boards' | 'statuses' | 'outbox';
  /**
   * In the order of `columns`; takes $after, $upto, $since and $live. With $since, every row of which any exported column may have
   * changed since then: also a joined name, and a history of which the texts were erased.
   */
  sql: string;
}

type Column = Omit<ExportColumn, 'name'>;

const integer: Column = { type: 'integer', nullable: false, personal: null };
const boolean: Column = { type: 'boolean', nullable: false, personal: null };
const time: Column = { type: 'time', nullable: false, personal: null };
/** Words that only the program or an administrator chooses. */
const word: Column = { type: 'text', nullable: false, personal: null };
/** What anybody may have written. */
const text: Column = { type: 'text', nullable: false, personal: { kind: 'text' } };
const email: Column = { type: 'text', nullable: true, personal: { kind: 'email' } };
const json: Column = { type: 'json', nullable: true, personal: { kind: 'json', names: true } };
/** What a comment says about its post's status: `name` is the status's there, not a person's. */
const statusJson: Column = { type: 'json', nullable: true, personal: { kind: 'json', names: false } };

function nameOf(of: string): Column {
  return { type: 'text', nullable: true, personal: { kind: 'name', of } };
}

function maybe(column: Column): Column {
  return { ...column, nullable: true };
}

function named(columns: Record<string, Column>): ExportColumn[] {
  return Object.entries(columns).map(([name, column]) => ({ name, ...column }));
}

const SEEN = { first_seen_at: time, changed_at: time };

/** Every table people may take along. Left out is what only the program's own bookkeeping needs. */
export const TABLES: Record<ExportTable, TableDefinition> = {
  posts: {
    walk: 'posts',
    columns: named({
      id: integer,
      title: text,
      content: text,
      url: text,
      creator_id: integer,
      creator: nameOf('creator_email'),
      creator_email: email,
      board_id: integer,
      board: word,
      status_id: integer,
      status: word,
      votes_count: integer,
      comments_count: integer,
      created: time,
      created_raw: maybe(word),
      extra: json,
      ...SEEN,
      deleted_at: maybe(time),
      erased_at: maybe(time),
    }),
    // CROSS JOIN keeps the posts outermost, and so in the order of their ids without sorting.
    sql: `
      SELECT p.id, p.title, p.content, p.url, p.creator_id, u.name, u.email, p.board_id, b.name, p.status_id, s.name,
             p.votes_count, p.comments_count, p.created, p.created_raw, p.extra,
             p.first_seen_at, p.changed_at, p.deleted_at, p.erased_at
        FROM posts p CROSS JOIN users u ON u.id = p.creator_id
             CROSS JOIN boards b ON b.id = p.board_id CROSS JOIN statuses s ON s.id = p.status_id
       WHERE p.id > $after AND p.id <= $upto AND ($live = 0 OR p.deleted_at IS NULL)
         AND ($since IS NULL OR p.changed_at >= $since OR p.first_seen_at >= $since
              OR p.deleted_at >= $since OR p.erased_at >= $since
              OR u.changed_at >= $since OR b.changed_at >= $since OR s.changed_at >= $since)
       ORDER BY p.id`,
  },
  comments: {
    walk: 'comments',
    columns: named({
      id: integer,
      post_id: integer,
      post_title: text,
      creator_id: integer,
      creator: nameOf('creator_email'),
      creator_email: email,
      kind: word,
      status: statusJson,
      likes_count: integer,
      highlighted: boolean,
      internal: boolean,
      content: text,
      created: time,
      created_raw: maybe(word),
      extra: json,
      ...SEEN,
      deleted_at: maybe(time),
      erased_at: maybe(time),
    }),
    sql: `
      SELECT c.id, c.post_id, coalesce(p.title, r.title), c.creator_id, u.name, u.email, c.kind, c.status,
             c.likes_count, c.highlighted, c.internal, c.content, c.created, c.created_raw, c.extra,
             c.first_seen_at, c.changed_at, c.deleted_at, c.erased_at
        FROM comments c CROSS JOIN users u ON u.id = c.creator_id
             CROSS JOIN commented_posts r ON r.id = c.post_id LEFT JOIN posts p ON p.id = c.post_id
       WHERE c.id > $after AND c.id <= $upto AND ($live = 0 OR c.deleted_at IS NULL)
         AND ($since IS NULL OR c.changed_at >= $since OR c.first_seen_at >= $since
              OR c.deleted_at >= $since OR c.erased_at >= $since OR u.changed_at >= $since
              OR p.changed_at >= $since OR r.changed_at >= $since)
       ORDER BY c.id`,
  },
  users: {
    walk: 'users',
    columns: named({
      id: integer,
      email,
      name: nameOf('email'),
      alias: nameOf('email'),
      registered: maybe(time),
      registered_raw: maybe(word),
      is_admin: boolean,
      is_team: boolean,
      extra: json,
      ...SEEN,
    }),
    sql: `
      SELECT id, email, name, alias, registered, registered_raw, is_admin, is_team, extra, first_seen_at, changed_at
        FROM users
       WHERE id > $after AND id <= $upto
         AND ($since IS NULL OR changed_at >= $since OR first_seen_at >= $since)
       ORDER BY id`,
  },
  boards: {
    walk: 'boards',
    columns: named({ id: integer, name: word, url: word, slug: word, extra: json, ...SEEN }),
    sql: `
      SELECT id, name, url, slug, extra, first_seen_at, changed_at
        FROM boards
       WHERE id > $after AND id <= $upto
         AND ($since IS NULL OR changed_at >= $since OR first_seen_at >= $since)
       ORDER BY id`,
  },
  statuses: {
    walk: 'statuses',
    columns: named({ id: integer, name: word, color: word, extra: json, ...SEEN }),
    sql: `
      SELECT id, name, color, extra, first_seen_at, changed_at
        FROM statuses
       WHERE id > $after AND id <= $upto
         AND ($since IS NULL OR changed_at >= $since OR first_seen_at >= $since)
       ORDER BY id`,
  },
  post_history: {
    walk: 'posts',
    columns: named({
      post_id: integer,
      observed_at: time,
      title: text,
      content: text,
      board_id: integer,
      status_id: integer,
      votes_count: integer,
      comments_count: integer,
      deleted: boolean,
    }),
    sql: `
      SELECT post_id, observed_at, title, content, board_id, status_id, votes_count, comments_count, deleted
        FROM post_history h
       WHERE post_id > $after AND post_id <= $upto
         AND ($since IS NULL OR observed_at >= $since
              OR (SELECT p.changed_at >= $since AND p.version_at = h.observed_at FROM posts p WHERE p.id = h.post_id)
              OR EXISTS (SELECT 1 FROM post_versions v WHERE v.post_id = h.post_id AND v.erased_at >= $since))
         AND ($live = 0 OR (SELECT deleted_at IS NULL FROM posts WHERE id = post_id))
       ORDER BY post_id, observed_at`,
  },
  comment_history: {
    walk: 'comments',
    columns: named({
      comment_id: integer,
      observed_at: time,
      content: text,
      likes_count: integer,
      highlighted: boolean,
      internal: boolean,
      status: statusJson,
      deleted: boolean,
      post_id: integer,
      creator_id: integer,
      kind: word,
    }),
    sql: `
      SELECT comment_id, observed_at, content, likes_count, highlighted, internal, status, deleted, post_id, creator_id, kind
        FROM comment_history h
       WHERE comment_id > $after AND comment_id <= $upto
         AND ($since IS NULL OR observed_at >= $since
              OR (SELECT c.changed_at >= $since FROM comments c WHERE c.id = h.comment_id)
              OR EXISTS (SELECT 1 FROM comment_versions v WHERE v.comment_id = h.comment_id AND v.erased_at >= $since))
         AND ($live = 0 OR (SELECT deleted_at IS NULL FROM comments WHERE id = comment_id))
       ORDER BY comment_id, observed_at`,
  },
  outbox: {
    walk: 'outbox',
    columns: named({
      id: integer,
      batch: word,
      source_key: { type: 'text', nullable: false, personal: { kind: 'key' } },
      line: maybe(integer),
      kind: word,
      board: word,
      title: text,
      content: text,
      email,
      full_name: nameOf('email'),
      state: word,
      attempts: integer,
      not_before: maybe(time),
      post_id: maybe(integer),
      url: maybe(text),
      matched: maybe(word),
      last_error: maybe(text),
      duplicate_of: maybe(integer),
      created_at: time,
      changed_at: time,
      erased_at: maybe(time),
    }),
    sql: `
      SELECT id, batch, source_key, line, kind, board, title, content, email, full_name, state, attempts, not_before,
             post_id, url, matched, last_error, duplicate_of, created_at, changed_at, erased_at
        FROM outbox
       WHERE id > $after AND id <= $upto
         AND ($since IS NULL OR changed_at >= $since OR created_at >= $since OR erased_at >= $since)
       ORDER BY id`,
  },
};
