import { EventEmitter } from 'node:events';
import { chmodSync, closeSync, globSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { ConnectionClosedError } from 'bullmq';
import { SCHEMA, SCHEMA_VERSION } from './schema.ts';

/** Tests of BullMQ replace the timers of the process; what reaches another process must keep the real ones. */
const { setImmediate, setTimeout, clearTimeout } = globalThis;

/** How soon a job that another process added is seen, and how soon a file that was deleted is missed. */
const POLL_MS = 75;
const MISSED_MS = 1000;

/** SQLite's own wait for a lock stops the event loop, so it is short, and the longer wait is ours. */
const LOCK_MS = 100;
const LOCK_ATTEMPTS = 50;

type SqliteError = InstanceType<typeof Database.SqliteError>;

/** Longer than workers wait before they try again. */
const TROUBLED_MS = 3000;

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;
const SCHEMA_GONE = /no such (table|column)/;

/** A worker or a listener that waits until something of a queue changes. */
interface Waiter {
  queue: string;
  /** When it stops waiting, by `performance.now()`. */
  until: number;
  isOver(): boolean;
  wake(): void;
}

/**
 * The queue's file, opened once a process however many queues and workers use it. Emits `trouble` (an error) when it cannot be
 * used, `over` when it can again, `replaced` (a text) when it was damaged or missing and a new one took its place.
 */
export class QueueFile extends EventEmitter {
  static readonly #known = new Map<string, QueueFile>();
  /** One timer for everything that waits in this process, however many files, queues and workers there are. */
  static #timer: NodeJS.Timeout | undefined;
  static #rings = Number.POSITIVE_INFINITY;

  /** Every call is to be followed by one `release`. */
  static at(path: string): QueueFile {
    const absolute = resolve(path);
    const file = QueueFile.#known.get(absolute) ?? new QueueFile(absolute);
    QueueFile.#known.set(absolute, file);
    file.#uses++;
    return file;
  }

  readonly path: string;
  /** Names of the workers and listeners of this process, for `getWorkers`. */
  readonly clients = new Map<object, string>();
  readonly #waiters = new Set<Waiter>();
  readonly #touched = new Set<string>();
  #uses = 0;
  #db: Database.Database | null = null;
  #statements = new Map<string, Database.Statement<unknown[]>>();
  #identity = '';
  #seenAt = 0;
  #version: unknown;
  #polledAt = 0;
  #trouble: { error: Error; at: number } | null = null;
  #latest = Number.POSITIVE_INFINITY;

  private constructor(path: string) {
    super();
    this.setMaxListeners(0);
    this.path = path;
  }

  release(): void {
    if (--this.#uses > 0) return;
    QueueFile.#known.delete(this.path);
    this.#close();
    if (QueueFile.#known.size === 0) QueueFile.#ringBy(Number.POSITIVE_INFINITY);
  }

  static #ringBy(at: number): void {
    if (at >= QueueFile.#rings && QueueFile.#known.size > 0) return;
    clearTimeout(QueueFile.#timer);
    QueueFile.#rings = at;
    if (at < Number.POSITIVE_INFINITY)
      QueueFile.#timer = setTimeout(QueueFile.#ring, Math.max(at - performance.now(), 0));
  }

  static #ring(): void {
    QueueFile.#rings = Number.POSITIVE_INFINITY;
    const now = performance.now();
    const next = [...QueueFile.#known.values()].map((file) => file.#look(now));
    QueueFile.#ringBy(Math.min(...next));
  }

  get<Row>(sql: string, ...params: unknown[]): Row | undefined {
    return this.#prepare(sql).get(...params) as Row | undefined;
  }

  all<Row>(sql: string, ...params: unknown[]): Row[] {
    return this.#prepare(sql).all(...params) as Row[];
  }

  /** What a statement counts as `n`. */
  count(sql: string, ...params: unknown[]): number {
    return this.get<{ n: number }>(sql, ...params)?.n ?? 0;
  }

  /** How many rows were changed. */
  run(sql: string, ...params: unknown[]): number {
    return this.#prepare(sql).run(...params).changes;
  }

  /** One IMMEDIATE transaction. */
  write<T>(work: () => T): Promise<T> {
    return this.#inTurn(() => this.#transact(work));
  }

  read<T>(work: () => T): Promise<T> {
    return this.#inTurn(work);
  }

  /**
   * Gives the result a turn of the event loop later, as a server would. A worker whose jobs do nothing would otherwise go from one to
   * the next in microtasks, and neither timers nor requests would ever get their turn.
   */
  async #inTurn<T>(work: () => T): Promise<T> {
    try {
      return await this.#retryLocked(work);
    } finally {
      await new Promise((next) => setImmediate(next));
    }
  }

  /**
   * Why the file could not be used a moment ago. On a full disk small changes still fit into the journal while those of jobs do not,
   * so one change that succeeds does not mean that it is over.
   */
  get trouble(): Error | null {
    return this.#trouble && performance.now() - this.#trouble.at < TROUBLED_MS ? this.#trouble.error : null;
  }

  /** What waits for this queue has a look after the commit of the present transaction. */
  touch(queue: string): void {
    this.#touched.add(queue);
  }

  /** Also true for the first time that is seen: the clock may have been set while no process ran. */
  clockWentBack(now: number): boolean {
    const isBack = now < this.#latest;
    this.#latest = now;
    return isBack;
  }

  /** Registers a waiter. The returned function removes it. */
  wait(waiter: Waiter): () => void {
    this.#waiters.add(waiter);
    QueueFile.#ringBy(Math.min(waiter.until, performance.now() + POLL_MS));
    return () => void this.#waiters.delete(waiter);
  }

  /** Moves what the journal holds into the file and gives back the space of jobs that are gone. */
  async vacuum(): Promise<void> {
    await this.read(() => {
      this.#open().pragma('incremental_vacuum');
      this.#open().pragma('wal_checkpoint(TRUNCATE)');
      this.#open().pragma('optimize');
    });
  }

  async #retryLocked<T>(work: () => T): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return this.#repaired(work);
      } catch (error) {
        if (!(error instanceof Database.SqliteError)) throw error;
        if (!error.code.startsWith('SQLITE_BUSY') || attempt === LOCK_ATTEMPTS) throw this.#unusable(error);
      }
      await new Promise((next) => setTimeout(next, LOCK_MS));
    }
  }

  #repaired<T>(work: () => T): T {
    try {
      return this.#noted(work);
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || !isDamage(error)) throw error;
      this.#moveAside(error.message);
      return this.#noted(work);
    }
  }

  #noted<T>(work: () => T): T {
    const result = work();
    if (this.#trouble && this.trouble === null) {
      this.#trouble = null;
      this.emit('over');
    }
    return result;
  }

  /** For BullMQ a lost connection, which its workers wait out; any other error would make a finished job a failed one. */
  #unusable(error: SqliteError): Error {
    if (/^SQLITE_(ERROR|CONSTRAINT|MISUSE|RANGE|MISMATCH)/.test(error.code)) return error;
    const trouble = new ConnectionClosedError(`${this.path} cannot be used: ${error.message}`, error);
    this.#trouble = { error: trouble, at: performance.now() };
    this.emit('trouble', trouble);
    return trouble;
  }

  #transact<T>(work: () => T): T {
    this.#touched.clear();
    this.run('BEGIN IMMEDIATE');
    let result: T;
    try {
      result = work();
      this.run('COMMIT');
    } catch (error) {
      // SQLite has rolled back by itself after a full disk.
      if (this.#db?.inTransaction) this.run('ROLLBACK');
      throw error;
    }
    this.#wake((waiter) => this.#touched.has(waiter.queue));
    return result;
  }

  #wake(isMeant: (waiter: Waiter) => boolean): void {
    for (const waiter of [...this.#waiters]) {
      if (!isMeant(waiter) || !isMet(waiter)) continue;
      this.#waiters.delete(waiter);
      waiter.wake();
    }
  }

  /** Ends waits whose time is up, and sees what others changed. Returns when the next look is due. */
  #look(now: number): number {
    for (const waiter of this.#waiters)
      if (waiter.until <= now) {
        this.#waiters.delete(waiter);
        waiter.wake();
      }
    if (this.#waiters.size === 0) return Number.POSITIVE_INFINITY;
    if (now - this.#polledAt >= POLL_MS) this.#seeOthers(now);
    return Math.min(this.#polledAt + POLL_MS, ...[...this.#waiters].map(({ until }) => until));
  }

  /** Other processes change the file without telling: its version is a read of shared memory, 10 microseconds. */
  #seeOthers(now: number): void {
    this.#polledAt = now;
    const version = this.#dataVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.#wake(() => true);
  }

  #dataVersion(): unknown {
    try {
      return this.get<{ data_version: number }>('PRAGMA data_version')?.data_version;
    } catch (error) {
      return error;
    }
  }

  #prepare(sql: string): Database.Statement<unknown[]> {
    const db = this.#open();
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = db.prepare<unknown[]>(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #open(): Database.Database {
    if (this.#uses <= 0) throw new ConnectionClosedError();
    const now = performance.now();
    if (this.#db && (this.#db.inTransaction || now - this.#seenAt < MISSED_MS)) return this.#db;
    this.#seenAt = now;
    if (this.#db && identityOf(this.path) === this.#identity) return this.#db;
    if (this.#db) {
      this.#close();
      this.emit('replaced', `${this.path} was deleted or replaced; it is opened again`);
    }
    makeFile(this.path);
    this.#identity = identityOf(this.path);
    this.#db = openDatabase(this.path);
    this.#version = undefined;
    return this.#db;
  }

  #close(): void {
    this.#statements.clear();
    this.#db?.close();
    this.#db = null;
  }

  /** Unless another process was quicker: then the file is a new one already. */
  #moveAside(reason: string): void {
    const isOurs = identityOf(this.path) === this.#identity;
    this.#close();
    this.#seenAt = 0;
    if (!isOurs) return;
    const aside = moveAside(this.path);
    this.emit(
      'replaced',
      `${this.path} is damaged (${reason}); it is now ${aside}, and a new one takes its place`,
    );
  }
}

/** A worker that is woken by an error meets it again, and reports it. */
export function isMet(waiter: Waiter): boolean {
  try {
    return waiter.isOver();
  } catch {
    return true;
  }
}

function isDamage({ code, message }: SqliteError): boolean {
  return DAMAGED.test(code) || (code === 'SQLITE_ERROR' && SCHEMA_GONE.test(message));
}

function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : 'missing';
}

/** Keeps the newest damaged file for a person to look at, and no more. */
function moveAside(path: string): string {
  for (const old of globSync(`${path}.broken-*`)) rmSync(old, { force: true });
  const aside = `${path}.broken-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  renameSync(path, aside);
  for (const journal of [`${path}-wal`, `${path}-shm`]) rmSync(journal, { force: true });
  return aside;
}

/** SQLite gives its journals the mode of the file. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}

function openDatabase(path: string): Database.Database {
  const db = new Database(path, { timeout: LOCK_MS });
  try {
    prepare(db);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** The queue is disposable, so a commit need not reach the disk at once: what a power cut takes is enqueued again. */
function prepare(db: Database.Database): void {
  db.pragma('auto_vacuum = INCREMENTAL');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  // 2 MB of journal. With 16 it is no faster that could be measured, and a small disk is full before it is emptied.
  db.pragma('wal_autocheckpoint = 500');
  db.pragma(`journal_size_limit = ${500 * 4096}`);
  const create = db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version === 0) db.exec(SCHEMA);
    else if (version !== SCHEMA_VERSION)
      throw new Database.SqliteError(`its schema is version ${version}`, 'SQLITE_NOTADB');
  });
  create.immediate();
}
