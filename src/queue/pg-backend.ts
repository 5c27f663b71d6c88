import {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  type PgQueryable,
  PostgresConnection,
  PostgresQueueBackend,
  Queue,
  runMigrations,
  SchemaMigrationRequiredError,
  Worker,
} from 'bullmq';
import type { Processor, WorkerSettings } from './seam.ts';
import { workerOptions } from './worker-options.ts';

/** A schema of its own: whatever else lives in that database, also another program's BullMQ, is not touched. */
export const SCHEMA = 'feedback_mirror_queue';

/** For every session, before anything else: BullMQ's statements name no schema. */
export const USE_SCHEMA = `SET search_path TO ${SCHEMA}`;

/**
 * One transaction under an advisory lock: two services that start at the same moment do it one after the other. Where all is done
 * already nothing is tried, so that a user without the right to make schemas can start again.
 */
export async function migrate(session: PgQueryable): Promise<void> {
  if ((await schemaVersion(session)) < LATEST_SCHEMA_VERSION) await runMigrations(session, SCHEMA);
}

async function schemaVersion(session: PgQueryable): Promise<number> {
  try {
    return await assertSchemaCompatibility(session, SCHEMA);
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return 0;
    throw error;
  }
}

/**
 * BullMQ's connection, on our schema and without its own check before the first query: that one is remembered even when it fails,
 * so a queue made while the server is away would stay dead for good. We migrate before there is any queue.
 */
class SchemaConnection extends PostgresConnection {
  override readonly schema = SCHEMA;

  override async waitUntilReady(): Promise<void> {}
}

/**
 * Queues and workers on anything that looks like a pool of PostgreSQL sessions. By default BullMQ's types stand for those on Redis,
 * and the queue board takes no others. They differ in what `getBackend()` returns, which nobody here asks for.
 */
export function pgMakers(pool: PgPool) {
  const backend = (name: string, listenAs?: string) => (_: string, options: { connection: PgPool }) =>
    new PostgresQueueBackend(new SchemaConnection(pool), name, options, true, listenAs);
  return {
    makeQueue: (name: string): Queue =>
      new Queue(name, { connection: pool }, backend(name)) as unknown as Queue,
    makeWorker: (name: string, run: Processor, settings: WorkerSettings): Worker => {
      const options = { connection: pool, ...workerOptions(settings) };
      return new Worker(name, run, options, backend(name, name)) as unknown as Worker;
    },
  };
}
