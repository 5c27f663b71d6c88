import { hash } from 'node:crypto';
import type { PublishedTable } from '../base/postgres.ts';
import { identifier, tableName } from './schema.ts';
import type { Session } from './session.ts';

/** Views over the copies of all sources, each with the name of the source in front. */
export const SCHEMA_OF_ALL = 'feedback_all';

const VIEWS = ['live_posts', 'live_comments', 'post_history', 'comment_history'];
/** The lock of the process that makes these views. No other lock of the program has this number. */
const LOCK = 4_701_248;

/** A copy of a source, by its schema. */
interface Member {
  source: string;
  schema: string;
}

/**
 * Notes that this schema is the copy of the source, and makes the views over all of them. If the user may not make the
 * schema, there are no such views. No source waits for another one: when nine sources did, their copies were 80 seconds old.
 * Returns false where another source is making the views just now: then this one comes again.
 */
export async function viewsOfAll(
  session: Session,
  { source, schema }: Member,
  tables: readonly PublishedTable[],
): Promise<boolean> {
  return await session.transaction(async () => {
    const [lock] = await session.query<{ ok: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS ok', [LOCK]);
    if (!lock?.ok) return false;
    if (!(await mayMake(session))) return true;
    const members = tableName(SCHEMA_OF_ALL, 'sources');
    await session.query(`
      CREATE SCHEMA IF NOT EXISTS ${identifier(SCHEMA_OF_ALL)};
      CREATE TABLE IF NOT EXISTS ${members} (source text PRIMARY KEY, schema text NOT NULL)`);
    await session.query(
      `INSERT INTO ${members} VALUES ($1, $2) ON CONFLICT (source) DO UPDATE SET schema = excluded.schema`,
      [source, schema],
    );
    const all = await session.query<Member>(`
      SELECT source, schema FROM ${members}
       WHERE to_regclass(format('%I.mirror_position', schema)) IS NOT NULL AND has_schema_privilege(schema, 'USAGE')
       ORDER BY source`);
    const names = [...tables.map(({ name }) => name), ...VIEWS];
    await makeViews(
      session,
      viewTexts({ names, schema, all, columns: await columnsOf(session, all, names) }),
    );
    return true;
  });
}

/** Views that are as they should be are left alone: to replace one locks out its readers. */
async function makeViews(session: Session, texts: readonly string[]): Promise<void> {
  const text = texts.join(';\n');
  const digest = hash('sha256', text);
  const [known] = await session.query<{ digest: string | null }>(
    `SELECT obj_description(to_regnamespace($1), 'pg_namespace') AS digest`,
    [SCHEMA_OF_ALL],
  );
  if (known?.digest === digest) return;
  await session.query(`${text};\nCOMMENT ON SCHEMA ${identifier(SCHEMA_OF_ALL)} IS '${digest}'`);
}

/** In a schema of ours, or one that can be made. A source that is called "all" has its own copy there. */
async function mayMake(session: Session): Promise<boolean> {
  const [found] = await session.query<{ ok: boolean }>(
    `SELECT CASE WHEN to_regnamespace($1) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
                 ELSE to_regclass($1 || '.sources') IS NOT NULL AND has_schema_privilege($1, 'CREATE') END AS ok`,
    [SCHEMA_OF_ALL],
  );
  return found?.ok === true;
}

interface Column {
  schema: string;
  relation: string;
  name: string;
  type: string;
}

interface Parts {
  names: readonly string[];
  schema: string;
  all: readonly Member[];
  columns: readonly Column[];
}

/** The columns of this schema, which has those of the newest version; a copy that lacks one shows nothing there. */
function viewTexts({ names, schema, all, columns }: Parts): string[] {
  const byRelation = Map.groupBy(columns, (column) => `${column.schema}.${column.relation}`);
  return names.map((relation) => {
    const shown = byRelation.get(`${schema}.${relation}`) ?? [];
    const parts = all.flatMap((member) => {
      const own = new Set(byRelation.get(`${member.schema}.${relation}`)?.map(({ name }) => name));
      if (own.size === 0) return [];
      const cells = shown.map(({ name, type }) =>
        own.has(name) ? identifier(name) : `NULL::${type} AS ${identifier(name)}`,
      );
      const from = tableName(member.schema, relation);
      return [`SELECT '${member.source}'::text AS source, ${cells.join(', ')} FROM ${from}`];
    });
    return `CREATE OR REPLACE VIEW ${tableName(SCHEMA_OF_ALL, relation)} AS ${parts.join(' UNION ALL ')}`;
  });
}

/** Of all copies in one question: one for each of their tables took seconds on a busy server. */
async function columnsOf(
  session: Session,
  members: readonly Member[],
  relations: readonly string[],
): Promise<Column[]> {
  return await session.query<Column>(
    `SELECT nspname AS schema, relname AS relation, attname AS name, format_type(atttypid, atttypmod) AS type
       FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = ANY ($1) AND relname = ANY ($2) AND attnum > 0 AND NOT attisdropped
      ORDER BY nspname, relname, attnum`,
    [members.map(({ schema }) => schema), relations],
  );
}
