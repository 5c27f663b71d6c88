import { hash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { PublishedCell, PublishedTable } from '../base/postgres.ts';
import type { TouchedRows } from '../changes/feed.ts';
import { viewsOfAll } from '../postgres/all.ts';
import {
  type CopyPosition,
  createRest,
  createTables,
  identifier,
  type PublishedWords,
  readCopyPosition,
  refuseForeignTables,
  tableName,
  writePosition,
} from '../postgres/schema.ts';
import type { Session } from '../postgres/session.ts';
import { type PublishSource, type Rows, SMALL_TABLES, type Snapshot } from './source.ts';

export interface CopyWriter {
  /** Updates the copy to the present mirror, in one transaction with the position. Returns rows written. */
  publish(): Promise<number>;
  number(): number;
}

export interface CopyDeps {
  session: Session;
  source: PublishSource;
  schema: string;
  words: readonly PublishedWords[];
  /** The name of the source where there are several; its copy is then also in the views over all. */
  sourceName?: string | null | undefined;
}

/** What a session remembers of what it wrote. Another session knows nothing, and so writes it once more. */
interface Known {
  position: CopyPosition | null;
  digests: Map<string, string>;
  /** The last versions that are in the copy. */
  versions: { post: number; comment: number };
  /** Passes that could still change, and how many there were in all. */
  runs: { open: number[]; count: number } | null;
}

/** Begins to write a copy. The caller holds the lock of the schema. */
export async function openCopy(deps: CopyDeps): Promise<CopyWriter> {
  const { session, source, schema } = deps;
  const position = await refuseOtherCopy(deps);
  if (!position) await refuseForeignTables(session, schema);
  const known: Known = { position, digests: new Map(), versions: { post: 0, comment: 0 }, runs: null };
  if (position) known.versions = await lastVersions(deps);
  let isAmongAll = false;
  return {
    number: () => known.position?.number ?? 0,
    async publish() {
      const written = await source.snapshot((snapshot) => publish(deps, known, snapshot));
      if (!isAmongAll) isAmongAll = await isPutAmongAll(deps);
      return written;
    },
  };
}

/** Called once a session. The copy does not depend on these views, so a refusal counts as done. False where it must be called again. */
async function isPutAmongAll({ session, source, schema, sourceName }: CopyDeps): Promise<boolean> {
  if (sourceName == null) return true;
  return await viewsOfAll(session, { source: sourceName, schema }, source.tables).catch(() => true);
}

/** The position of the copy of this mirror. Null if the schema holds none. */
export async function refuseOtherCopy({
  session,
  source,
  schema,
}: Omit<CopyDeps, 'words' | 'sourceName'>): Promise<CopyPosition | null> {
  const position = await readCopyPosition(session, schema);
  if (position) refuseOther(position, source, schema);
  return position;
}

function refuseOther(
  { mirror_id, life, upstream, version, read_at }: CopyPosition,
  source: PublishSource,
  schema: string,
) {
  if (mirror_id !== source.mirrorId)
    throw new AppError('usage', `the schema ${schema} holds the copy of another mirror, of ${upstream}`, {
      hint: 'Set PUBLISH_SCHEMA to a name of its own for each mirror. If that mirror is gone for good, drop the schema.',
    });
  if (life !== source.life)
    throw new AppError(
      'usage',
      `the schema ${schema} was taken over: a mirror was restored from it, from the state of ${read_at}, and publishes there`,
      {
        hint: 'Stop this service if it is the one that was replaced. To publish from here all the same, set another PUBLISH_SCHEMA.',
      },
    );
  if (version > source.schemaVersion)
    throw new AppError(
      'usage',
      `the schema ${schema} was written by a newer version of this program (tables ${version}, this one knows ${source.schemaVersion})`,
      { hint: 'Install that version, or a newer one.' },
    );
}

async function lastVersions({ session, schema }: CopyDeps): Promise<Known['versions']> {
  const last = async (table: string): Promise<number> => {
    const [row] = await session.query<{ n: string | null }>(
      `SELECT max(n) AS n FROM ${tableName(schema, table)}`,
    );
    return Number(row?.n ?? 0);
  };
  return { post: await last('post_versions'), comment: await last('comment_versions') };
}

async function publish(deps: CopyDeps, known: Known, snapshot: Snapshot): Promise<number> {
  const { session, source, schema } = deps;
  const { position: before } = known;
  const isCurrent = before?.version === source.schemaVersion;
  const touched = isCurrent ? snapshot.touched(before.position) : null;
  const next: Known = touched ? { ...known, digests: new Map(known.digests) } : startAnew();
  const after: CopyPosition = {
    mirror_id: source.mirrorId,
    life: source.life,
    upstream: source.upstream,
    position: snapshot.position,
    number: snapshot.number,
    change: snapshot.change,
    version: source.schemaVersion,
    read_at: snapshot.at,
  };
  const rows = await session.transaction(async () => {
    if (!isCurrent) await createTables(session, schema, source.tables);
    const written = touched
      ? await writeChanges(deps, next, snapshot, touched)
      : await writeAll(deps, next, snapshot);
    if (!isCurrent) await createRest(session, schema, source.tables, deps.words);
    const isSame = before?.position === after.position && written === 0;
    if (!isSame) await writePosition(session, schema, { before: before?.position ?? null, after });
    return written;
  });
  Object.assign(known, next, { position: after });
  // Statistics for the query planner. PostgreSQL's own come minutes later.
  if (!touched)
    await session.query(source.tables.map(({ name }) => `ANALYZE ${tableName(schema, name)}`).join(';'));
  return rows;
}

function startAnew(): Known {
  return { position: null, digests: new Map(), versions: { post: 0, comment: 0 }, runs: null };
}

/** Readers see the old rows until the new ones are all there: that rules out TRUNCATE, which empties a table for everybody at once. */
async function writeAll(deps: CopyDeps, known: Known, snapshot: Snapshot): Promise<number> {
  let written = 0;
  for (const { name } of deps.source.tables) {
    if (isSmall(name)) continue;
    written += await replace(deps, snapshot, name, 'all');
  }
  known.versions = lastOf(snapshot, deps);
  known.runs = runsOf(snapshot);
  return written + (await writeSmall(deps, known, snapshot)).rows;
}

function isSmall(name: string): boolean {
  return SMALL_TABLES.some((small) => small === name);
}

async function writeChanges(
  deps: CopyDeps,
  known: Known,
  snapshot: Snapshot,
  { ids, erased, mirrored }: TouchedRows,
): Promise<number> {
  const isWhole = (list: 'posts' | 'comments'): boolean => mirrored.includes(list);
  const some = async (table: string, column: string, values: readonly number[]): Promise<number> =>
    values.length === 0 ? 0 : await replace(deps, snapshot, table, { column, values });
  const all = (table: string): Promise<number> => replace(deps, snapshot, table, 'all');
  let written = 0;
  written += mirrored.length > 0 ? await all('users') : await some('users', 'id', ids.user);
  written += isWhole('posts') ? await all('posts') : await some('posts', 'id', ids.post);
  written += isWhole('comments') ? await all('comments') : await some('comments', 'id', ids.comment);
  written += isWhole('comments')
    ? await all('commented_posts')
    : await some('commented_posts', 'id', ids.post);
  written += await some('commented_posts', 'id', postsOf(deps, snapshot, ids.comment));
  written += isWhole('posts')
    ? await all('post_versions')
    : await writeVersions(deps, snapshot, 'post', known, erased.post);
  written += isWhole('comments')
    ? await all('comment_versions')
    : await writeVersions(deps, snapshot, 'comment', known, erased.comment);
  known.versions = lastOf(snapshot, deps);
  written += await some('outbox', 'id', ids.outbox);
  for (const table of ['outbox_attempts', 'outbox_edits'])
    written += await some(table, 'outbox_id', ids.outbox);
  const small = await writeSmall(deps, known, snapshot);
  const isErasure =
    erased.post.length + erased.comment.length > 0 || small.tables.includes('suppressed_users');
  return written + small.rows + (await writeRuns(deps, known, snapshot, isErasure));
}

/** The posts below which comments stand, of which the mirror may have no more than the title. */
function postsOf({ source }: CopyDeps, snapshot: Snapshot, comments: readonly number[]): number[] {
  const table = tableOf(source, 'comments');
  const at = table.columns.findIndex(({ name }) => name === 'post_id');
  const found = new Set<number>();
  for (const row of snapshot.rows(table, { column: 'id', values: comments })) found.add(Number(row[at]));
  return [...found];
}

/** A version is written once and for all, except where an erasure takes its words away. */
async function writeVersions(
  deps: CopyDeps,
  snapshot: Snapshot,
  of: 'post' | 'comment',
  known: Known,
  erased: readonly number[],
): Promise<number> {
  const [name, above] = [`${of}_versions`, known.versions[of]];
  const added = await append(deps, snapshot, name, { column: 'n', above });
  if (erased.length === 0) return added;
  return added + (await replace(deps, snapshot, name, { column: `${of}_id`, values: erased }));
}

function lastOf(snapshot: Snapshot, { source }: CopyDeps): Known['versions'] {
  const last = (name: string): number => snapshot.last(tableOf(source, name).name);
  return { post: last('post_versions'), comment: last('comment_versions') };
}

function runsOf(snapshot: Snapshot): NonNullable<Known['runs']> {
  return { open: snapshot.openRuns(), count: snapshot.count('sync_runs') };
}

/** Passes end, and are resumed; old ones are removed at night, and then the whole table is written. */
async function writeRuns(
  deps: CopyDeps,
  known: Known,
  snapshot: Snapshot,
  isErasure: boolean,
): Promise<number> {
  const before = known.runs;
  const now = runsOf(snapshot);
  known.runs = now;
  const newest = Math.max(0, ...(before?.open ?? []));
  const added = now.open.filter((id) => id > newest).length;
  if (!before || isErasure || before.count + added !== now.count) {
    known.digests.delete('sync_runs');
    return await replace(deps, snapshot, 'sync_runs', 'all');
  }
  const values = [...new Set([...before.open, ...now.open])];
  const table = tableOf(deps.source, 'sync_runs');
  const digest = digestOf([...snapshot.rows(table, { column: 'id', values })]);
  if (known.digests.get('sync_runs') === digest) return 0;
  known.digests.set('sync_runs', digest);
  return await replace(deps, snapshot, 'sync_runs', { column: 'id', values });
}

async function writeSmall(
  deps: CopyDeps,
  known: Known,
  snapshot: Snapshot,
): Promise<{ tables: string[]; rows: number }> {
  const done = { tables: [] as string[], rows: 0 };
  for (const name of SMALL_TABLES) {
    const digest = digestOf([...snapshot.rows(tableOf(deps.source, name), 'all')]);
    if (known.digests.get(name) === digest) continue;
    known.digests.set(name, digest);
    done.tables.push(name);
    done.rows += await replace(deps, snapshot, name, 'all');
  }
  return done;
}

function digestOf(rows: readonly PublishedCell[][]): string {
  return hash('sha256', JSON.stringify(rows));
}

function tableOf({ tables }: PublishSource, name: string): PublishedTable {
  const table = tables.find((one) => one.name === name);
  if (!table) throw new Error(`no table ${name} is published`);
  return table;
}

async function replace(deps: CopyDeps, snapshot: Snapshot, name: string, which: Rows): Promise<number> {
  const table = tableName(deps.schema, name);
  if (which === 'all') await deps.session.query(`DELETE FROM ${table}`);
  else if ('values' in which)
    await deps.session.query(`DELETE FROM ${table} WHERE ${identifier(which.column)} = ANY($1::bigint[])`, [
      which.values,
    ]);
  return await append(deps, snapshot, name, which);
}

async function append(
  { session, source, schema }: CopyDeps,
  snapshot: Snapshot,
  name: string,
  which: Rows,
): Promise<number> {
  const table = tableOf(source, name);
  const target = `${tableName(schema, name)} (${table.columns.map((column) => identifier(column.name)).join(', ')})`;
  return await session.copyIn(
    target,
    table.columns.map(({ type }) => type),
    snapshot.rows(table, which),
  );
}
