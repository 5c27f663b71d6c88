import pg from 'pg';
import { AppError, messageOf } from '../base/errors.ts';
import {
  type ColumnType,
  isAway,
  LOCK_CLASS,
  type PublishedCell,
  postgresRefusal,
} from '../base/postgres.ts';
import type { Secret } from '../base/secret.ts';
import { within } from '../base/timeout.ts';
import { copyIn, copyOut } from './copy.ts';

export interface SessionOptions {
  url: Secret;
  schema: string;
  /** The name of the setting that has the URL, for messages. */
  setting: string;
  /** What to do where the server is away; by default what a service says, which tries again. */
  whenAway?: string;
}

/** One session of a PostgreSQL server, for as long as it lasts: a lock and a transaction both end with it. */
export interface Session {
  readonly place: string;
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  transaction<T>(work: () => Promise<T>, mode?: string): Promise<T>;
  copyIn(
    table: string,
    types: readonly ColumnType[],
    rows: Iterable<readonly PublishedCell[]>,
  ): Promise<number>;
  copyOut(query: string, types: readonly ColumnType[], take: (row: PublishedCell[]) => void): Promise<void>;
  /** Who may write this copy: one session at a time. False where another one has the lock. */
  lock(): Promise<boolean>;
  isOver(): boolean;
  close(): Promise<void>;
}

const CONNECT_MS = 5000;
const CLOSE_MS = 1000;

/**
 * Whatever a role or a database has set: times in UTC, no time limits that would end a long copy, and a machine that was lost is noticed
 * within a minute, so that its lock does not outlive it by the two hours of the system's own keep-alive.
 */
const SETTINGS = `
  SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET client_encoding = 'UTF8'; SET standard_conforming_strings = on;
  SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '60s';
  SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;
  SET client_min_messages = warning`;

export async function openSession(options: SessionOptions): Promise<Session> {
  const { url, schema, setting, whenAway = RETRIED } = options;
  const config = {
    connectionString: url.reveal(),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 20_000,
    application_name: 'feedback-mirror',
  };
  const client = new pg.Client(config);
  const place = `${client.host}:${client.port}`;
  const use = { setting, schema, allowedBy: `CREATE SCHEMA ${schema} AUTHORIZATION user` };
  let isOver = false;
  client.on('error', () => {
    isOver = true;
  });
  client.on('end', () => {
    isOver = true;
  });
  const reported = (error: unknown): unknown => {
    if (!(error instanceof Error) || error instanceof AppError) return error;
    return isAway(error) ? away(place, error, whenAway) : postgresRefusal(error, place, use);
  };
  const tried = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw reported(error);
    }
  };
  const close = async (): Promise<void> => {
    const ended = client.end().catch(() => undefined);
    await within(CLOSE_MS, ended, () => undefined);
  };
  const session: Session = {
    place,
    isOver: () => isOver,
    query: async (text, values) => (await tried(client.query(text, values))).rows,
    transaction: (work, mode = '') => transaction(session, work, mode),
    copyIn: (table, types, rows) => tried(copyIn(client, table, types, rows)),
    copyOut: (query, types, take) => tried(copyOut(client, query, types, take)),
    lock: () => takeLock(session, schema),
    close,
  };
  try {
    await tried(client.connect());
    await session.query(SETTINGS);
    await tried(refusePooler(session, client, config, place));
    return session;
  } catch (error) {
    await close();
    throw error;
  }
}

const RETRIED = 'The service tries again by itself; nothing is lost meanwhile.';

function away(place: string, error: Error, hint: string): AppError {
  const why = (error as NodeJS.ErrnoException).code ?? error.message;
  return new AppError('unreachable', `the PostgreSQL at ${place} could not be reached (${why})`, {
    cause: error,
    hint,
  });
}

async function transaction<T>(session: Session, work: () => Promise<T>, mode: string): Promise<T> {
  await session.query(`BEGIN ${mode}`);
  try {
    const result = await work();
    await session.query('COMMIT');
    return result;
  } catch (error) {
    // Where the session is gone so is the transaction.
    if (!session.isOver()) await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** The session holds the lock until it ends. PostgreSQL counts locks by database, so the key contains the schema. */
async function takeLock(session: Session, schema: string): Promise<boolean> {
  const [row] = await session.query<{ ok: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS ok', [
    LOCK_CLASS,
    schema,
  ]);
  return row?.ok === true;
}

/** Tries whether the server behind a pooler stays the same: each gives another client the chance to take it away. */
const POOLER_TRIES = 3;

/**
 * A pooler that hands out servers by the transaction lets two clients hold the same session's lock. A pooler shows itself by a key for
 * cancelling that is not the server's own number; one that pools sessions is harmless, and told apart by trying: while a second client
 * keeps a server busy, the first one must still have its own.
 */
async function refusePooler(
  session: Session,
  client: pg.Client,
  config: pg.ClientConfig,
  place: string,
): Promise<void> {
  const pid = await backendOf(session);
  if (pid === (client as unknown as { processID: number | null }).processID) return;
  const other = new pg.Client(config);
  other.on('error', () => undefined);
  try {
    await other.connect();
    for (let i = 0; i < POOLER_TRIES; i++) {
      const begun = other.query('BEGIN; SELECT 1').then(
        () => true,
        (error) => {
          throw NO_TRANSACTIONS.test(messageOf(error)) ? pooled(place, 'statement') : error;
        },
      );
      // A pool of sessions with no server left to give keeps ours for us.
      if (!(await within(CONNECT_MS, begun, () => false))) return;
      const now = await within<number | null>(CONNECT_MS, backendOf(session), () => null);
      await other.query('ROLLBACK');
      if (now !== pid) throw pooled(place, 'transaction');
    }
  } finally {
    await within(
      CLOSE_MS,
      other.end().catch(() => undefined),
      () => undefined,
    );
  }
}

async function backendOf(session: Session): Promise<number> {
  const [row] = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return row?.pid ?? 0;
}

/** How a pooler of statements refuses the first BEGIN. */
const NO_TRANSACTIONS = /statement pooling mode/i;

function pooled(place: string, unit: 'transaction' | 'statement'): AppError {
  return new AppError(
    'usage',
    `what answers at ${place} is a pooler that shares sessions by the ${unit}: a lock there keeps no other service out`,
    { hint: 'Give the address of the PostgreSQL server itself, or of a pool in session mode.' },
  );
}
