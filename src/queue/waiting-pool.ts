import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import pg from 'pg';
import { within } from '../base/within.ts';
import { pauseAfter, refuseIfClosed } from './patience.ts';
import type { Trouble } from './seam.ts';

export interface WaitingPool extends PgPool {
  /** Ends every session now; what still waits for the server fails. */
  abandon(): Promise<void>;
}

/**
 * Sessions of a PostgreSQL server whose queries wait while it is away, as those to Redis do: pg's own pool fails them, and BullMQ would
 * then count a job that was done as failed. A query that was under way when the connection broke is sent again, for nobody can
 * know what became of it: a bell may ring twice.
 */
export function waitingPool(config: pg.PoolConfig, trouble: Trouble): WaitingPool {
  const closing = new AbortController();
  const pool = new pg.Pool(config);
  pool.on('error', trouble.away);
  const listeners = new Set<pg.Client>();
  const patiently = patience(trouble, closing.signal);

  // Not from the pool: a worker keeps its session for good.
  const connect = async (): Promise<PgPoolClient> => {
    const client = await patiently(() => connected(config, trouble));
    listeners.add(client);
    const release = (): void => {
      listeners.delete(client);
      void end(client);
    };
    // A pg client is what BullMQ means here, but the two say it in types that do not meet.
    return Object.assign(client, { release }) as pg.Client & PgPoolClient;
  };
  const query = <R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> =>
    patiently(() => pool.query<R & pg.QueryResultRow>(text, params && [...params]));
  const abandon = async (): Promise<void> => {
    closing.abort();
    const ended = Promise.allSettled([pool.end(), ...[...listeners].map(end)]);
    await within(
      500,
      ended.then(() => undefined),
      () => undefined,
    );
  };
  return Object.assign(new EventEmitter().setMaxListeners(0), {
    query,
    connect,
    end: async () => {},
    abandon,
  });
}

function patience(trouble: Trouble, closing: AbortSignal) {
  return async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (let failures = 0; ; failures++) {
      refuseIfClosed(closing);
      try {
        const result = await attempt();
        trouble.over();
        return result;
      } catch (error) {
        if (!isAway(error)) throw error;
        if (!closing.aborted) trouble.away(error);
        await pauseAfter(failures, closing);
      }
    }
  };
}

async function connected(config: pg.ClientConfig, trouble: Trouble): Promise<pg.Client> {
  const client = new pg.Client(config);
  client.on('error', trouble.away);
  await client.connect();
  return client;
}

/** BullMQ takes all listeners off before it lets go, and an error that nobody listens to ends the process. */
async function end(client: pg.Client): Promise<void> {
  client.on('error', () => undefined);
  await client.end().catch(() => undefined);
}

const AWAY_CODES =
  /^(E(CONN(REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|HOST(UNREACH|DOWN)|NETUNREACH|NOTFOUND|AI_AGAIN)|08...|57P0[123]|53300)$/;
const AWAY_TEXTS =
  /Connection terminated|timeout exceeded when trying to connect|not queryable|Connection ended/i;

/** Whether the server may answer the same question a moment later. */
export function isAway(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isAway);
  return AWAY_CODES.test((error as NodeJS.ErrnoException).code ?? '') || AWAY_TEXTS.test(error.message);
}
