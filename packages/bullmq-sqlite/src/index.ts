import { EventEmitter } from 'node:events';
import type { BackendFactory, IQueueBackend, KeysMap } from 'bullmq';
import { adding } from './add.ts';
import { deduplication } from './dedup.ts';
import { events, Waits } from './events.ts';
import { fetching } from './fetch.ts';
import { finishing } from './finish.ts';
import type { QueueScope } from './job.ts';
import { changing, moving } from './moves.ts';
import { flows } from './parents.ts';
import { QueueFile } from './queue-file.ts';
import { reading } from './reads.ts';
import { removing } from './remove.ts';
import { scheduling } from './schedulers.ts';

export { QueueFile } from './queue-file.ts';

interface SqliteConnectionOptions {
  /** Made where it is missing, with its folder; several processes may share it. */
  file: string;
}

/** BullMQ on a SQLite file: `new Queue(name, { connection: { file } }, createSqliteBackend)`. */
export const createSqliteBackend: BackendFactory<IQueueBackend, SqliteConnectionOptions> = (
  queue,
  opts,
  { blocking = false, withBlockingConnection = false } = {},
) => {
  const file = QueueFile.at(opts.connection.file);
  const scope: QueueScope = { file, queue, opts: opts as QueueScope['opts'] };
  const backend = backendOf(scope);
  if (withBlockingConnection) void backend.setName(scope.opts.name ? `${queue}:w:${scope.opts.name}` : queue);
  else if (blocking) void backend.setName(`${queue}:qe`);
  return backend;
};

function backendOf(scope: QueueScope, isOwner = true): IQueueBackend {
  const waits = new Waits(scope.file);
  const operations: Omit<IQueueBackend, keyof Lifecycle> = {
    ...adding(scope),
    ...deduplication(scope),
    ...events(scope, waits),
    ...fetching(scope, waits),
    ...finishing(scope),
    ...flows(scope),
    ...moving(scope),
    ...changing(scope),
    ...reading(scope),
    ...removing(scope),
    ...scheduling(scope),
  };
  return Object.assign(new Lifecycle(scope, waits, isOwner), operations);
}

/** What a backend is besides its operations: a name, a connection, and an end. */
class Lifecycle extends EventEmitter {
  /** Nothing is blocked while a worker waits, so it may look as often as it likes. */
  readonly minimumBlockTimeout = 0.001;
  readonly keys: KeysMap = {};
  readonly qualifiedName: string;
  closing: Promise<void> | undefined;
  readonly #scope: QueueScope;
  readonly #waits: Waits;
  readonly #isOwner: boolean;
  #isReady = false;

  constructor(scope: QueueScope, waits: Waits, isOwner: boolean) {
    super();
    this.qualifiedName = scope.queue;
    this.#scope = scope;
    this.#waits = waits;
    this.#isOwner = isOwner;
  }

  /** BullMQ asks before every job. */
  async waitUntilReady(): Promise<void> {
    if (!this.#isReady) await this.#scope.file.read(() => this.#scope.file.get('SELECT 1'));
    this.#isReady = true;
  }

  close(): Promise<void> {
    this.closing ??= this.#end();
    return this.closing;
  }

  async #end(): Promise<void> {
    this.#waits.interrupt();
    if (!this.#isOwner) return;
    this.#scope.file.clients.delete(this);
    this.#scope.file.release();
    this.emit('close');
  }

  async disconnect(): Promise<void> {
    this.#waits.interrupt();
  }

  async disconnectBlocking(): Promise<void> {
    this.#waits.interrupt();
  }

  async reconnectBlocking(): Promise<void> {
    this.#waits.isInterrupted = false;
  }

  async setName(name: string): Promise<void> {
    this.#scope.file.clients.set(this, name);
  }

  /** Those of this process: SQLite does not know who else has the file open. */
  async getClientList(): Promise<string[]> {
    return [[...this.#scope.file.clients.values()].map((name) => `name=${name}`).join('\n')];
  }

  /** For flows, which span queues: on the same file, and closed with the first. */
  forQueue(queue: string): IQueueBackend {
    return backendOf({ ...this.#scope, queue }, false);
  }

  toKey(type: string): string {
    return `${this.qualifiedName}:${type}`;
  }

  parseNodeKey(key: string): { prefix: string; queueName: string; id: string } {
    const at = key.indexOf(':');
    return { prefix: '', queueName: key.slice(0, at), id: key.slice(at + 1) };
  }

  clientName(suffix = ''): string {
    return `${this.qualifiedName}${suffix}`;
  }
}
