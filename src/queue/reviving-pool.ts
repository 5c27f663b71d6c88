import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient } from 'bullmq';
import { AppError } from '../base/errors.ts';
import { SessionLost } from './breakdown.ts';
import { refuseIfClosed } from './patience.ts';
import type { PgliteSession } from './pglite-session.ts';
import type { Trouble } from './seam.ts';

type Ask = PgliteSession['query'];

/** PGlite in the shape of a pool, which lives on when PGlite does not. */
export interface RevivingPool extends PgPool {
  query: Ask;
  /** At any moment, also while there is no database: what still waits fails, and nobody uses the folder afterwards. */
  close(): Promise<void>;
}

export interface Revival {
  /** A session in the place of one that has ended: tries until it has one, and fails only once the signal is given. */
  reopen(closing: AbortSignal): Promise<PgliteSession>;
  trouble: Trouble;
}

/** A question that breaks the database each time must not do so for ever. */
const SENT_AGAIN = 2;

/**
 * Queries wait while the database is opened again, as those to a server do in waiting-pool.ts, and what was under way is sent again: a
 * bell may ring twice. Clients are told as they would be by a connection that broke: BullMQ then takes new ones and listens again.
 */
export function revivingPool(first: PgliteSession, revival: Revival): RevivingPool {
  const closing = new AbortController();
  const clients = new Set<Client>();
  const sessions = lineage(first, revival, clients, closing.signal);

  const usable = async (): Promise<PgliteSession> => {
    refuseIfClosed(closing.signal);
    const session = await sessions.current();
    refuseIfClosed(closing.signal);
    return session;
  };
  const query: Ask = async <R>(text: string, params?: readonly unknown[], patienceMs?: number) => {
    for (let breakdowns = 0; ; ) {
      const session = await usable();
      try {
        return await session.query<R>(text, params, patienceMs);
      } catch (error) {
        if (!(error instanceof SessionLost)) throw error;
        if (error.wasAnswering && ++breakdowns > SENT_AGAIN) throw givenUp(breakdowns, error);
        sessions.replace(session, error);
      }
    }
  };
  return Object.assign(new EventEmitter().setMaxListeners(0), {
    query,
    connect: async (): Promise<PgPoolClient> => new Client(await usable(), clients),
    end: async () => {},
    async close() {
      closing.abort();
      const session = await sessions.current().catch(() => undefined);
      await session?.close();
    },
  });
}

/** One session after the other: the next begins when the thread of the one before has ended. */
function lineage(
  first: PgliteSession,
  { reopen, trouble }: Revival,
  clients: Set<Client>,
  closing: AbortSignal,
) {
  let live: PgliteSession | null = null;
  const adopt = (session: PgliteSession): PgliteSession => {
    live = session;
    session.onNotification((notification) => {
      for (const client of clients) client.emit('notification', notification);
    });
    void session.lost.then((error) => replace(session, error));
    return session;
  };
  const replace = (broken: PgliteSession, error: SessionLost): void => {
    if (live !== broken || closing.aborted) return;
    live = null;
    current = succeed(broken, error);
    // Those who wait for it see the failure, and there may be nobody.
    current.catch(() => undefined);
  };
  const succeed = async (broken: PgliteSession, error: SessionLost): Promise<PgliteSession> => {
    trouble.away(error);
    for (const client of clients) client.fail(error);
    await broken.kill(error.message);
    const session = adopt(await reopen(closing));
    trouble.over();
    return session;
  };
  let current = Promise.resolve(adopt(first));
  return { current: () => current, replace };
}

function givenUp(times: number, error: SessionLost): AppError {
  return new AppError('unreachable', `the embedded database broke down ${times} times at one question`, {
    cause: error,
    hint: 'It is running again; what was asked for is asked again by the next round.',
  });
}

/**
 * Every notification goes to every client, and they look at channel and payload themselves. PGlite's own `listen` would have to be
 * called instead of the LISTEN in the statement, which stands behind comments where a look at its first word misses it.
 */
class Client extends EventEmitter implements PgPoolClient {
  readonly query: Ask;
  readonly #all: Set<Client>;

  constructor(session: PgliteSession, all: Set<Client>) {
    super();
    this.setMaxListeners(0);
    this.query = (...question) => session.query(...question);
    this.#all = all.add(this);
  }

  /** Its session is no more. An error that nobody listens to would end the process. */
  fail(error: Error): void {
    this.release();
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }

  release(): void {
    this.#all.delete(this);
  }
}
