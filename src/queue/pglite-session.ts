import { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import { AppError } from '../base/errors.ts';

export interface ThreadOptions {
  folder: string;
}

export interface Question {
  id: number;
  /** Null to close. */
  text: string | null;
  params?: unknown[];
}

export type Answer =
  | { id: number; rows: unknown[]; rowCount: number }
  | { id: number; message: string; facts: object }
  | { channel: string; payload: string };

type Ask = <R>(text: string, params?: readonly unknown[]) => Promise<PgQueryResult<R>>;

/** PGlite in the shape of a pool. */
export interface PgliteSession extends PgPool {
  close(): Promise<void>;
}

interface Waiting {
  resolve(answer: { rows: unknown[]; rowCount: number }): void;
  reject(error: Error): void;
}

/**
 * PGlite in a thread of its own, in the shape of a pool: it has one session, which all clients share. In the thread of the service it
 * would hold up everything else, for seconds when its folder is made and for some milliseconds at every job.
 */
export async function openPglite(options: ThreadOptions): Promise<PgliteSession> {
  const thread = new Worker(new URL('./pglite-thread.ts', import.meta.url), { workerData: options });
  const waiting = new Map<number, Waiting>();
  const clients = new Set<Client>();
  let [lastId, isClosed] = [0, false];

  const end = (error: Error): void => {
    isClosed = true;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  thread.on('error', end).on('exit', () => end(gone()));
  thread.on('message', (answer: Answer) => {
    if ('channel' in answer) for (const client of clients) client.emit('notification', answer);
    else settle(waiting, answer);
  });

  const answerTo = (id: number, send: () => void) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ rows: unknown[]; rowCount: number }>();
    if (isClosed) reject(gone());
    else waiting.set(id, { resolve, reject });
    if (!isClosed) send();
    return promise;
  };
  const post = (text: string | null, params?: readonly unknown[]) => {
    const id = ++lastId;
    const question: Question = { id, text, ...(params ? { params: [...params] } : {}) };
    return answerTo(id, () => thread.postMessage(question));
  };
  const query: Ask = async <R>(text: string, params?: readonly unknown[]) =>
    (await post(text, params)) as PgQueryResult<R>;

  // The thread's first word, under the number that no question has: the database stands.
  await answerTo(0, () => undefined);
  return Object.assign(new EventEmitter().setMaxListeners(0), {
    query,
    connect: async (): Promise<PgPoolClient> => new Client(query, clients),
    end: async () => {},
    async close() {
      await post(null).finally(() => thread.terminate());
    },
  });
}

function settle(waiting: Map<number, Waiting>, answer: Exclude<Answer, { channel: string }>): void {
  const asked = waiting.get(answer.id);
  waiting.delete(answer.id);
  if ('rows' in answer) asked?.resolve(answer);
  else asked?.reject(Object.assign(new Error(answer.message), answer.facts));
}

function gone(): AppError {
  return new AppError('unreachable', 'the embedded queue is closed');
}

/**
 * Every notification goes to every client, and they look at channel and payload themselves. PGlite's own `listen` would have to be
 * called instead of the LISTEN in the statement, which stands behind comments where a look at its first word misses it.
 */
class Client extends EventEmitter implements PgPoolClient {
  readonly query: Ask;
  readonly #all: Set<Client>;

  constructor(query: Ask, all: Set<Client>) {
    super();
    this.setMaxListeners(0);
    this.query = query;
    this.#all = all.add(this);
  }

  release(): void {
    this.#all.delete(this);
  }
}
