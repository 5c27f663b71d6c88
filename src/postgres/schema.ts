import { AppError } from '../base/errors.ts';
import type { PublishedTable } from '../base/postgres.ts';
import type { Session } from './session.ts';

export interface PublishedWords {
  name: string;
  line: string;
  columns: Readonly<Record<string, string>>;
}

/** What the copy says of itself, in its own table and in the transaction of the rows. */
export interface CopyPosition {
  mirror_id: string;
  /** Another one after a restore: the machine that was thought lost must not write here again. */
  life: string;
  upstream: string;
  /** The last change that is in the copy: its position in the feed, its number, and the change itself. */
  position: string;
  number: number;
  change: unknown;
  /** The version of the mirror's tables. */
  version: number;
  read_at: string;
}

const POSITION_WORDS: PublishedWords = {
  name: 'mirror_position',
  line: 'one row: which mirror this is a copy of, and how far it has come',
  columns: {
    mirror_id: 'tells the mirror from every other',
    life: 'another one after a restore from this copy',
    upstream: 'the feedback service',
    position: 'the last change of the feed that is in the copy',
    number: 'the number of that change',
    change: 'that change',
    version: "the version of the mirror's tables",
    read_at: 'when the rows were read, by the clock of the mirror',
    written_at: 'when they were written here, by the clock of this server',
  },
};

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function tableName(schema: string, table: string): string {
  return `${identifier(schema)}.${identifier(table)}`;
}

/** Null where there is no copy in the schema yet. */
export async function readCopyPosition(session: Session, schema: string): Promise<CopyPosition | null> {
  const [there] = await session.query<{ ok: boolean }>('SELECT to_regclass($1) IS NOT NULL AS ok', [
    tableName(schema, 'mirror_position'),
  ]);
  if (!there?.ok) return null;
  const [row] = await session.query<CopyPosition & { number: string }>(
    `SELECT mirror_id, life, upstream, position, number, change, version,
            to_char(read_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS read_at
       FROM ${tableName(schema, 'mirror_position')}`,
  );
  return row ? { ...row, number: Number(row.number) } : null;
}

/** The row must be as it was read: only the holder of the lock writes it. */
export async function writePosition(
  session: Session,
  schema: string,
  { before, after }: { before: string | null; after: CopyPosition },
): Promise<void> {
  const { mirror_id, life, upstream, position, number, change, version, read_at } = after;
  const values = [mirror_id, life, upstream, position, number, JSON.stringify(change), version, read_at];
  const table = tableName(schema, 'mirror_position');
  const written =
    before === null
      ? await session.query(
          `INSERT INTO ${table} (mirror_id, life, upstream, position, number, change, version, read_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING 1`,
          values,
        )
      : await session.query(
          `UPDATE ${table} SET life = $2, upstream = $3, position = $4, number = $5, change = $6, version = $7, read_at = $8,
                               written_at = now()
            WHERE mirror_id = $1 AND position = $9 RETURNING 1`,
          [...values, before],
        );
  if (written.length !== 1)
    throw new AppError('busy', `somebody else has written to the schema ${schema} meanwhile`, {
      hint: 'It is read again and continues from there.',
    });
}

/** Tables and columns that are not there yet; what is there stays, with whatever people have built on it. */
export async function createTables(
  session: Session,
  schema: string,
  tables: readonly PublishedTable[],
): Promise<void> {
  const [there] = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (!there) await session.query(`CREATE SCHEMA ${identifier(schema)}`);
  for (const { name, columns, key } of tables) {
    const table = tableName(schema, name);
    const defined = columns.map(
      ({ name: column, type, nullable }) => `${identifier(column)} ${type}${nullable ? '' : ' NOT NULL'}`,
    );
    await session.query(
      `CREATE TABLE IF NOT EXISTS ${table} (${defined.join(', ')}, PRIMARY KEY (${key.map(identifier).join(', ')}))`,
    );
    const added = columns.map(
      ({ name: column, type }) => `ADD COLUMN IF NOT EXISTS ${identifier(column)} ${type}`,
    );
    await session.query(`ALTER TABLE ${table} ${added.join(', ')}`);
  }
  await session.query(`
    CREATE TABLE IF NOT EXISTS ${tableName(schema, 'mirror_position')} (
      mirror_id text PRIMARY KEY, life text NOT NULL, upstream text NOT NULL, position text NOT NULL, number bigint NOT NULL,
      change jsonb, version integer NOT NULL, read_at timestamptz NOT NULL, written_at timestamptz NOT NULL DEFAULT now())`);
}

/** A schema with tables of another program stays unchanged. */
export async function refuseForeignTables(session: Session, schema: string): Promise<void> {
  const found = await session.query<{ relname: string }>(
    `SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1)
        AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname LIMIT 3`,
    [identifier(schema)],
  );
  if (found.length === 0) return;
  throw new AppError(
    'usage',
    `the schema ${schema} holds tables of something else: ${found.map(({ relname }) => relname).join(', ')}`,
    { hint: 'Set PUBLISH_SCHEMA to a schema that is empty, or not there yet.' },
  );
}

/** What is made once the rows are there, which is quicker than before: indexes, views, and what people read about them. */
export async function createRest(
  session: Session,
  schema: string,
  tables: readonly PublishedTable[],
  words: readonly PublishedWords[],
): Promise<void> {
  for (const { name, indexes } of tables)
    for (const columns of indexes)
      await session.query(
        `CREATE INDEX IF NOT EXISTS ${identifier(`${name}_by_${columns.join('_')}`)}
             ON ${tableName(schema, name)} (${columns.map(identifier).join(', ')})`,
      );
  for (const { name, hashed } of tables)
    if (hashed !== null)
      await session.query(
        `CREATE INDEX IF NOT EXISTS ${identifier(`${name}_by_hash_of_${hashed}`)}
             ON ${tableName(schema, name)} USING hash (${identifier(hashed)})`,
      );
  for (const [name, query] of Object.entries(views(schema)))
    await session.query(`CREATE OR REPLACE VIEW ${tableName(schema, name)} AS ${query}`);
  for (const { name, line, columns } of [...words, POSITION_WORDS])
    await comment(session, schema, name, line, columns);
}

async function comment(
  session: Session,
  schema: string,
  name: string,
  line: string,
  columns: PublishedWords['columns'],
): Promise<void> {
  const relation = tableName(schema, name);
  const there = await session.query<{ relkind: string; attname: string }>(
    `SELECT c.relkind, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.oid = to_regclass($1)`,
    [relation],
  );
  const kind = there[0]?.relkind === 'v' ? 'VIEW' : 'TABLE';
  if (there.length === 0) return;
  await session.query(`COMMENT ON ${kind} ${relation} IS ${literal(line)}`);
  for (const { attname } of there)
    if (columns[attname] !== undefined)
      await session.query(
        `COMMENT ON COLUMN ${relation}.${identifier(attname)} IS ${literal(inPostgres(columns[attname]))}`,
      );
}

/** Written for SQLite, which has no booleans. */
function inPostgres(words: string): string {
  return words
    .replace(/^1 (?=where|for)/, 'true ')
    .replace(/, UTC/, '')
    .replace(/ as JSON text/, ' as JSON');
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The same views as in the mirror. */
function views(schema: string): Record<string, string> {
  const t = (table: string): string => tableName(schema, table);
  const textOf = (table: string, key: string, column: string): string => `
    coalesce(v.${column}, (SELECT w.${column} FROM ${t(table)} w WHERE w.${key} = v.${key} AND w.n > v.n
                              AND w.${column} IS NOT NULL ORDER BY w.n LIMIT 1), r.${column}) AS ${column}`;
  return {
    live_posts: `
      SELECT p.id, p.title, p.content, p.url, p.board_id, b.name AS board, b.slug AS board_slug,
             p.status_id, s.name AS status, s.color AS status_color, p.creator_id, u.name AS creator, u.email AS creator_email,
             p.votes_count, p.comments_count, p.created, p.extra, p.first_seen_at, p.changed_at
        FROM ${t('posts')} p JOIN ${t('boards')} b ON b.id = p.board_id JOIN ${t('statuses')} s ON s.id = p.status_id
        JOIN ${t('users')} u ON u.id = p.creator_id WHERE p.deleted_at IS NULL`,
    live_comments: `
      SELECT c.id, c.post_id, coalesce(CASE WHEN p.deleted_at IS NULL THEN p.title END, r.title) AS post_title, b.name AS board,
             c.creator_id, u.name AS creator, u.email AS creator_email, u.is_team AS creator_is_team,
             c.kind, c.status, c.likes_count, c.highlighted, c.internal, c.content, c.created, c.extra,
             c.first_seen_at, c.changed_at
        FROM ${t('comments')} c JOIN ${t('users')} u ON u.id = c.creator_id JOIN ${t('commented_posts')} r ON r.id = c.post_id
        LEFT JOIN ${t('posts')} p ON p.id = c.post_id LEFT JOIN ${t('boards')} b ON b.id = p.board_id
       WHERE c.deleted_at IS NULL`,
    post_history: `
      SELECT v.post_id, v.observed_at, ${textOf('post_versions', 'post_id', 'title')}, ${textOf('post_versions', 'post_id', 'content')},
             v.board_id, v.status_id, v.votes_count, v.comments_count, v.deleted
        FROM ${t('post_versions')} v JOIN ${t('posts')} r ON r.id = v.post_id
      UNION ALL
      SELECT id, version_at, title, content, board_id, status_id, votes_count, comments_count, deleted_at IS NOT NULL
        FROM ${t('posts')}`,
    comment_history: `
      SELECT v.comment_id, v.observed_at, ${textOf('comment_versions', 'comment_id', 'content')},
             v.likes_count, v.highlighted, v.internal, v.status, v.deleted, v.post_id, v.creator_id, v.kind
        FROM ${t('comment_versions')} v JOIN ${t('comments')} r ON r.id = v.comment_id
      UNION ALL
      SELECT id, version_at, content, likes_count, highlighted, internal, status, deleted_at IS NOT NULL, post_id, creator_id, kind
        FROM ${t('comments')}`,
  };
}
