import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';

/** PGlite in the shape of a pool: it has one session, which all clients share. */
export function pglitePool(db: PGlite): PgPool {
  const ask: Ask = (text, params) => answer(db, text, params);
  const connect = async (): Promise<PgPoolClient> => new Client(db, ask);
  return Object.assign(new EventEmitter().setMaxListeners(0), { query: ask, connect, end: async () => {} });
}

type Ask = <R>(text: string, params?: readonly unknown[]) => Promise<PgQueryResult<R>>;

/**
 * PGlite answers through microtasks alone: without a turn of the event loop after each query no timer fires and no socket is read
 * while jobs are being processed.
 */
async function answer<R>(db: PGlite, text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
  try {
    // Migrations are many statements in one text, which only the simple protocol takes.
    const result = params ? await db.query<R>(text, [...params]) : (await db.exec(text)).at(-1);
    return { rows: (result?.rows ?? []) as R[], rowCount: result?.affectedRows ?? 0 };
  } finally {
    await setImmediate();
  }
}

/**
 * Every notification goes to every client, and they look at channel and payload themselves. PGlite's own `listen` would have to be
 * called instead of the LISTEN in the statement, which stands behind comments where a look at its first word misses it.
 */
class Client extends EventEmitter implements PgPoolClient {
  readonly query: Ask;
  readonly #stopListening: () => void;

  constructor(db: PGlite, ask: Ask) {
    super();
    this.setMaxListeners(0);
    this.query = ask;
    this.#stopListening = db.onNotification((channel, payload) => {
      this.emit('notification', { channel, payload });
    });
  }

  release(): void {
    this.#stopListening();
  }
}
