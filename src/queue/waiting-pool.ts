import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import pg from 'pg';
import { AppError } from '../base/errors.ts';
import { codeIn, isAway } from '../base/postgres.ts';
import { within } from '../base/timeout.ts';
import type { QueueTrouble } from './connection.ts';

interface WaitingPool extends PgPool {
  /** Ends every session now; what still waits for the server fails. */
  abandon(): Promise<void>;
}

/**
 * Sessions of a PostgreSQL server whose queries wait while it is away, as those to Redis do: pg's own pool fails them, and BullMQ would
 * then count a job that was done as failed. A query that was under way when the connection broke is sent again, for nobody can
 * know what became of it: a job may be enqueued twice. `repair` fails as long as the server is of no use, and makes the schema anew
 * where somebody dropped it.
 */
export function waitingPool(
  config: pg.PoolConfig,
  trouble: QueueTrouble,
  repair: () => Promise<void>,
): WaitingPool {
  const closing = new AbortController();
  const pool = new pg.Pool(config);
  pool.on('error', trouble.away);
  const listeners = new Set<pg.Client>();
  const retry = retrying(trouble, closing.signal, repair);

  // Not from the pool: a worker keeps its session for good.
  const connect = async (): Promise<PgPoolClient> => {
    const client = await retry(() => connected(config, trouble));
    listeners.add(client);
    const release = (): void => {
      listeners.delete(client);
      void end(client);
    };
    // A pg client is what BullMQ means here, but the two say it in types that do not meet.
    return Object.assign(client, { release }) as pg.Client & PgPoolClient;
  };
  const query = <R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> =>
    retry(() => pool.query<R & pg.QueryResultRow>(text, params && [...params]));
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

/** However many queries wait, the server is asked by one of them alone, less and less often: each on its own made 50 calls a second. */
function retrying(trouble: QueueTrouble, closing: AbortSignal, repair: () => Promise<void>) {
  let repairing: Promise<void> | null = null;
  const repaired = async (): Promise<void> => {
    for (let failures = 0; !closing.aborted; failures++) {
      try {
        return await repair();
      } catch (error) {
        if (!closing.aborted) trouble.away(error instanceof Error ? error : new Error(String(error)));
        await pauseAfter(failures, closing);
      }
    }
  };
  const recover = async (error: Error, failures: number): Promise<void> => {
    if (isAway(error) || isSchemaGone(error)) {
      if (!closing.aborted) trouble.away(error);
      repairing ??= repaired().finally(() => {
        repairing = null;
      });
      await repairing;
    } else trouble.report(error);
    if (failures > 0) await pauseAfter(failures, closing, LONGEST_PAUSE_MS);
  };
  return async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (let failures = 0; ; failures++) {
      if (closing.aborted) throw new AppError('interrupted', 'the queue is closed');
      try {
        const result = await attempt();
        trouble.over();
        return result;
      } catch (error) {
        if (!canBeRepeated(error) || (isSchemaGone(error) && failures === MOST_REPAIRS)) throw error;
        await recover(error, failures);
      }
    }
  };
}

/** Of one query that fails although the server answers others: on a full disk, say. */
const LONGEST_PAUSE_MS = 15_000;
/** A query that misses a table after so many repairs asks for one that the schema never had. */
const MOST_REPAIRS = 5;

async function connected(config: pg.ClientConfig, trouble: QueueTrouble): Promise<pg.Client> {
  const client = new pg.Client(config);
  client.on('error', trouble.away);
  await client.connect();
  return client;
}

/** BullMQ removes all listeners before it releases a client. An error event without a listener ends the process. */
async function end(client: pg.Client): Promise<void> {
  client.on('error', () => undefined);
  await client.end().catch(() => undefined);
}

/**
 * Rolled back as a whole, and free to be tried again: no space, no memory, read-only, and a deadlock. Two workers that promote the same
 * delayed jobs deadlock in BullMQ's own statement that completes a job; without this it counts a job that is done as failed.
 */
const ROLLED_BACK = /^(53[12]00|25006|40P01|40001)$/;

function canBeRepeated(error: unknown): error is Error {
  return (
    isAway(error) || (error instanceof Error && (ROLLED_BACK.test(codeIn(error)) || isSchemaGone(error)))
  );
}

/** PostgreSQL's codes for a missing schema, table or function. */
function isSchemaGone(error: unknown): boolean {
  return error instanceof Error && /^(3F000|42P01|42883)$/.test(codeIn(error));
}

/** The longest pause between two attempts to reach what is away. */
const PAUSE_MS = 1000;

/** The wait doubles with every failure, and ends when the queue is closed. */
async function pauseAfter(failures: number, closing: AbortSignal, most = PAUSE_MS): Promise<void> {
  const ms = Math.min(50 * 2 ** failures, most);
  await delay(ms, undefined, { signal: closing }).catch(() => undefined);
}
