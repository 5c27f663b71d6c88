import { setTimeout as delay } from 'node:timers/promises';
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
import pg from 'pg';
import { isAway, postgresRefusal } from '../base/postgres.ts';
import type { Secret } from '../base/secret.ts';
import {
  awayAtStart,
  type Connection,
  type Processor,
  type QueueTrouble,
  START_TIMEOUT_MS,
  type WorkerSettings,
  workerOptions,
} from './connection.ts';
import { waitingPool } from './waiting-pool.ts';

/** A schema of its own: whatever else lives in that database, also another program's BullMQ, is not touched. */
const SCHEMA = 'feedback_mirror_queue';

/** For every session, before anything else: BullMQ's statements name no schema. */
const USE_SCHEMA = `SET search_path TO ${SCHEMA}`;

/** Four sessions for the queries of all queues and workers, and one for each worker to listen on. */
const POOL = { max: 4, onConnect: async (client: pg.ClientBase) => void (await client.query(USE_SCHEMA)) };

const USE = { setting: 'QUEUE_URL', schema: SCHEMA, allowedBy: 'GRANT CREATE ON DATABASE name TO user' };

/** The queues in a PostgreSQL server, in a schema of their own. */
export async function connectPostgres(url: Secret, trouble: QueueTrouble): Promise<Connection> {
  const config = { connectionString: url.reveal(), connectionTimeoutMillis: 5000, keepAlive: true };
  const { host, port } = new pg.Client(config);
  const place = `${host}:${port}`;
  await prepare(config, place);
  const pool = waitingPool({ ...config, ...POOL }, trouble, () => migrateOnce(config));
  return {
    kind: 'postgres',
    place,
    ...pgMakers(pool),
    async ping() {
      await pool.query('SELECT 1');
    },
    // The server vacuums by itself, and the pool creates a dropped schema again.
    upkeep: async () => {},
    drop: () => pool.abandon(),
  };
}

/** The schema as BullMQ needs it; waits for a server that is just coming up, and says clearly what will not change by waiting. */
async function prepare(config: pg.ClientConfig, place: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      return await migrateOnce(config);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!isAway(error)) throw postgresRefusal(error, place, USE);
      if (performance.now() > deadline) throw awayAtStart(place, error);
      await delay(200);
    }
  }
}

async function migrateOnce(config: pg.ClientConfig): Promise<void> {
  const session = new pg.Client(config);
  session.on('error', () => undefined);
  await session.connect();
  try {
    await migrate(session);
  } finally {
    await session.end().catch(() => undefined);
  }
}

/**
 * One transaction under an advisory lock: two services that start at the same moment do it one after the other. Where all is done
 * already nothing is tried, so that a user without the right to make schemas can start again.
 */
async function migrate(session: PgQueryable): Promise<void> {
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
 * and the program names only those. They differ in what `getBackend()` returns, which nobody here asks for.
 */
function pgMakers(pool: PgPool) {
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
