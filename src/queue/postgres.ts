import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isAway, postgresRefusal } from '../base/postgres.ts';
import type { Secret } from '../base/secret.ts';
import { migrate, pgMakers, SCHEMA, USE_SCHEMA } from './pg-backend.ts';
import { awayAtStart, PATIENCE_MS } from './refusals.ts';
import type { Connection, Trouble } from './seam.ts';
import { waitingPool } from './waiting-pool.ts';

/** Four sessions for the queries of all queues and workers, and one for each worker to listen on. */
const POOL = { max: 4, onConnect: async (client: pg.ClientBase) => void (await client.query(USE_SCHEMA)) };

const USE = { setting: 'QUEUE_URL', schema: SCHEMA, allowedBy: 'GRANT CREATE ON DATABASE name TO user' };

/** The queues in a PostgreSQL server, in a schema of their own. */
export async function connectPostgres(url: Secret, trouble: Trouble): Promise<Connection> {
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
    // The server vacuums by itself, and the pool makes a schema again that somebody dropped.
    upkeep: async () => {},
    drop: () => pool.abandon(),
  };
}

/** The schema as BullMQ needs it; waits for a server that is just coming up, and says clearly what will not change by waiting. */
async function prepare(config: pg.ClientConfig, place: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
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
