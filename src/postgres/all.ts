import type { PublishedTable } from '../base/postgres.ts';
import { quoted, tableName } from './schema.ts';
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
 * Notes that this schema is the copy of the source, and makes the views over all of them. A user who may not make the schema goes without: the
 * copy of the source does not depend on it. Returns whether the views are there.
 */
export async function viewsOfAll(
  session: Session,
  { source, schema }: Member,
  tables: readonly PublishedTable[],
): Promise<boolean> {
  return await session.transaction(async () => {
    await session.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    if (!(await mayMake(session))) return false;
    const members = tableName(SCHEMA_OF_ALL, 'sources');
    await session.query(`CREATE SCHEMA IF NOT EXISTS ${quoted(SCHEMA_OF_ALL)}`);
    await session.query(
      `CREATE TABLE IF NOT EXISTS ${members} (source text PRIMARY KEY, schema text NOT NULL)`,
    );
    await session.query(
      `INSERT INTO ${members} VALUES ($1, $2) ON CONFLICT (source) DO UPDATE SET schema = excluded.schema`,
      [source, schema],
    );
    const all = await session.query<Member>(`
      SELECT source, schema FROM ${members}
       WHERE to_regclass(format('%I.mirror_position', schema)) IS NOT NULL AND has_schema_privilege(schema, 'USAGE')
       ORDER BY source`);
    for (const name of [...tables.map(({ name }) => name), ...VIEWS])
      await session.query(await viewOf(session, name, schema, all));
    return true;
  });
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

/** The columns of this schema, which has those of the newest version; a copy that lacks one shows nothing there. */
async function viewOf(
  session: Session,
  name: string,
  schema: string,
  members: readonly Member[],
): Promise<string> {
  const columns = await columnsOf(session, tableName(schema, name));
  const parts: string[] = [];
  for (const member of members) {
    const relation = tableName(member.schema, name);
    const own = new Set((await columnsOf(session, relation)).map(({ column }) => column));
    if (own.size === 0) continue;
    const shown = columns.map(({ column, type }) =>
      own.has(column) ? quoted(column) : `NULL::${type} AS ${quoted(column)}`,
    );
    parts.push(`SELECT '${member.source}'::text AS source, ${shown.join(', ')} FROM ${relation}`);
  }
  return `CREATE OR REPLACE VIEW ${tableName(SCHEMA_OF_ALL, name)} AS ${parts.join(' UNION ALL ')}`;
}

async function columnsOf(session: Session, relation: string): Promise<{ column: string; type: string }[]> {
  return await session.query<{ column: string; type: string }>(
    `SELECT attname AS column, format_type(atttypid, atttypmod) AS type FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [relation],
  );
}
