import { readSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import type { DatabaseSync as Database, StatementSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { ownFile } from '../base/program.ts';
import { createSqlGuard, DatabaseSync, firstStatementOf } from './guard.ts';
import { HIDDEN_TABLES } from './schema-words.ts';
import { createShownViews, namesInternalTables, type ShownViews } from './shown.ts';
import { attachSources, schemaNameOf } from './together.ts';
import {
  bodyLength,
  decodeTask,
  encodeFrame,
  FRAMES_FD,
  type Frame,
  type More,
  type QueryRefusal,
  type SqlValue,
  type Task,
} from './wire.ts';

/**
 * The process in which one statement runs. A task comes in on stdin, frames go out on a pipe of their own; writing blocks while nobody reads,
 * which is all the flow control there is. Whoever asked ends this process, and so does the thread beside it.
 */
const MAX_VALUE_BYTES = 32 * 1024 * 1024;
const BUSY_MS = 5000;
const BATCH_ROWS = 500;
const BATCH_BYTES = 64 * 1024;
/** Rows that come slowly are shown as they come. */
const BATCH_MS = 100;

function main(): void {
  const task = readTask();
  new Worker(ownFile('./watch.ts', import.meta.url), { workerData: { maxMemoryBytes: task.maxMemoryBytes } });
  // Node keeps compiled code only for those who end in order, and this process is killed. Done once, it saves half of the start.
  flushCompileCache();
  const opened = open(task);
  if (opened === null) return;
  const { db, views } = opened;
  const guard = createSqlGuard(views);
  db.setAuthorizer(guard.authorize);
  send({ kind: 'started' });
  try {
    if (views && namesInternalTables(task.sql))
      throw new Error('the tables of SQLite itself are not for reading here');
    const statement = prepareOnly(db, task.sql);
    if (!views) refuseHidden(db, task);
    const columns = statement.columns().map(({ name }) => name);
    // VACUUM asks nobody before it runs.
    if (columns.length === 0) throw new Error(NO_ANSWER);
    send({ kind: 'columns', columns });
    send({ kind: 'end', more: sendRows(statement, task) });
  } catch (error) {
    refuse(refusalOf(error, guard.refused()));
  }
}

/** SQLite does not ask the guard for columns that a NATURAL or FULL JOIN compares. What a statement opens stands in its program all the same. */
function refuseHidden(db: Database, { mirror, sql }: Task): void {
  const hidden = hiddenRoots(db, mirror);
  for (const [, opcode, , root, database] of programOf(db, sql)) {
    if (!['OpenRead', 'ReopenIdx'].includes(opcode)) continue;
    const table = hidden.get(`${database}:${root}`);
    if (table !== undefined) throw new HiddenTable(`the table ${table} is not for reading here`);
  }
}

/** The name of each hidden table by the number of its file and its first page there. */
function hiddenRoots(db: Database, mirror: Task['mirror']): Map<string, string> {
  const names = Object.keys(HIDDEN_TABLES).map((name) => `'${name}'`);
  // SQLite numbers what is attached after the two that every connection has.
  const files =
    typeof mirror === 'string'
      ? [[0, 'main'] as const]
      : mirror.map(({ name }, i) => [i + 2, schemaNameOf(name)] as const);
  return new Map(
    files.flatMap(([n, file]) => {
      const roots = db.prepare(
        `SELECT rootpage, tbl_name FROM ${file}.sqlite_schema WHERE tbl_name IN (${names.join(', ')})`,
      );
      const found = roots.all() as unknown as [bigint, string][];
      return found.map(([root, table]) => [`${n}:${root}`, table] as const);
    }),
  );
}

type Instruction = [address: bigint, opcode: string, p1: bigint, root: bigint, database: bigint];

/** Empty for a statement that explains another one: it reads no table. */
function programOf(db: Database, sql: string): Instruction[] {
  try {
    return db.prepare(`EXPLAIN ${sql}`).all() as unknown as Instruction[];
  } catch {
    return [];
  }
}

class HiddenTable extends Error {}

const NO_ANSWER = 'only reading is allowed here, and this statement has no answer';

function readTask(): Task {
  return decodeTask(readExactly(bodyLength(readExactly(4))));
}

function readExactly(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let have = 0; have < length; ) {
    const got = readSync(0, bytes, have, length - have, null);
    if (got === 0) process.exit(1);
    have += got;
  }
  return bytes;
}

function send(frame: Frame): void {
  const bytes = encodeFrame(frame);
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(FRAMES_FD, bytes, sent);
}

function refuse(refusal: QueryRefusal): void {
  send({ kind: 'refused', refusal });
}

function prepareViews(db: Database, mirror: Task['mirror'], shown: Task['shown']): ShownViews | null {
  if (typeof mirror === 'string') return shown && createShownViews(db, mirror, shown);
  if (shown) throw new Error('an assistant is shown one source at a time');
  attachSources(db, mirror);
  return null;
}

interface Opened {
  db: Database;
  views: ShownViews | null;
}

/** Read-only for SQLite, for the connection and for the schema; what it must set aside stays in memory, where it is counted. */
function open({ mirror, shown }: Task): Opened | null {
  try {
    const isAlone = typeof mirror === 'string' && shown === null;
    const db = new DatabaseSync(isAlone ? mirror : ':memory:', {
      readOnly: isAlone,
      timeout: BUSY_MS,
      allowExtension: false,
      defensive: true,
      enableDoubleQuotedStringLiterals: false,
      readBigInts: true,
      returnArrays: true,
      limits: {
        length: MAX_VALUE_BYTES,
        attach: isAlone ? 0 : typeof mirror === 'string' ? 1 : mirror.length,
      },
    });
    db.exec('PRAGMA temp_store = MEMORY');
    const views = prepareViews(db, mirror, shown);
    db.exec('PRAGMA query_only = 1; PRAGMA trusted_schema = 0');
    return { db, views };
  } catch (error) {
    refuse({ reason: 'unreadable', message: String(error instanceof Error ? error.message : error) });
    return null;
  }
}

/** A statement that must be the only one: what SQLite itself did not take as part of it may hold nothing but comments. */
function prepareOnly(db: Database, sql: string): StatementSync {
  const statement = db.prepare(sql);
  const taken = firstStatementOf(statement);
  try {
    firstStatementOf(db.prepare(sql.slice(taken.length)));
  } catch (error) {
    if (isEmpty(error)) return statement;
  }
  throw new SeveralStatements();
}

class SeveralStatements extends Error {}

/** Nothing but spaces and comments: refused from Node 24.21 on, before that a statement of which nothing can be asked. */
function isEmpty(error: unknown): boolean {
  const codes: unknown[] = ['ERR_INVALID_ARG_VALUE', 'ERR_INVALID_STATE'];
  return error instanceof Error && 'code' in error && codes.includes(error.code);
}

function refusalOf(error: unknown, forbidden: string | null): QueryRefusal {
  if (error instanceof HiddenTable) return { reason: 'forbidden', message: error.message };
  if (error instanceof SeveralStatements) return { reason: 'several', message: '' };
  if (forbidden !== null) return { reason: 'forbidden', message: forbidden };
  if (isEmpty(error)) return { reason: 'empty', message: '' };
  const message = error instanceof Error ? error.message : String(error);
  return { reason: isStorage(error) ? 'storage' : 'sqlite', message };
}

/** SQLITE_IOERR, SQLITE_CORRUPT and SQLITE_NOTADB; the higher bits say more than anybody acts on. */
function isStorage(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  return [10, 11, 26].includes(code);
}

function sendRows(statement: StatementSync, { maxRows, maxBytes, maxText }: Task): More {
  let batch: SqlValue[][] = [];
  let [rows, bytes, batchBytes, sentAt] = [0, 0, 0, performance.now()];
  const flush = (): void => {
    if (batch.length > 0) send({ kind: 'rows', rows: batch });
    [batch, batchBytes, sentAt] = [[], 0, performance.now()];
  };
  for (const row of statement.iterate() as Iterable<unknown> as Iterable<SqlValue[]>) {
    const size = plain(row, maxText);
    if (rows === maxRows || bytes + size > maxBytes) {
      flush();
      return rows === maxRows ? 'rows' : 'bytes';
    }
    batch.push(row);
    [rows, bytes, batchBytes] = [rows + 1, bytes + size, batchBytes + size];
    if (batch.length === BATCH_ROWS || batchBytes > BATCH_BYTES || performance.now() - sentAt > BATCH_MS)
      flush();
  }
  flush();
  return null;
}

/** Makes integers numbers where that loses nothing, and cuts texts; returns about how many bytes the row takes. */
function plain(row: SqlValue[], maxText: number): number {
  let bytes = 0;
  for (let i = 0; i < row.length; i++) {
    const found = row[i] ?? null;
    const value = typeof found === 'string' && found.length > maxText ? found.slice(0, maxText) : found;
    row[i] = value;
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length + 8 : 8;
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[i] = number;
  }
  return bytes;
}

main();
