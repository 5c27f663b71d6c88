import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Queue, Worker } from 'bullmq';
import { createSqliteBackend, QueueFile } from 'bullmq-sqlite';
import { AppError, messageOf, storageError } from '../base/errors.ts';
import { makeFolder } from '../base/files.ts';
import { type Connection, type QueueOptions, type QueueTrouble, workerOptions } from './connection.ts';

/** The queues in a SQLite file of the data folder. Several processes may have it open, as they may share a server. */
export async function openEmbedded(
  { dataDir, log }: Pick<QueueOptions, 'dataDir' | 'log'>,
  trouble: QueueTrouble,
): Promise<Connection> {
  makeFolder(dataDir);
  const file = QueueFile.at(join(dataDir, 'queue.db'));
  file.on('trouble', trouble.away);
  file.on('over', trouble.over);
  file.on('replaced', (what: string) => log.warn({ event: 'queue.replaced' }, `queue: ${what}`));
  const ping = async (): Promise<void> => {
    if (file.trouble) throw file.trouble;
    await file.read(() => file.get('SELECT 1 FROM job'));
  };
  try {
    await ping();
  } catch (error) {
    file.release();
    throw unopened(file.path, error);
  }
  const connection = { file: file.path };
  // BullMQ's default types stand for queues on Redis, and the queue board takes no others. They differ in what `getBackend()` returns.
  return {
    kind: 'embedded',
    place: file.path,
    makeQueue: (name) => new Queue(name, { connection }, createSqliteBackend) as unknown as Queue,
    makeWorker: (name, run, settings) => {
      const options = { connection, ...workerOptions(settings) };
      return new Worker(name, run, options, createSqliteBackend) as unknown as Worker;
    },
    ping,
    upkeep: () => file.vacuum(),
    drop: async () => file.release(),
  };
}

/** Without making or changing anything; null where there is no file yet. Throws where it is damaged. */
export function countJobs(dataDir: string): number | null {
  const path = join(dataDir, 'queue.db');
  if (!existsSync(path)) return null;
  const db = new Database(path, { readonly: true });
  try {
    const found = String(db.pragma('quick_check(1)', { simple: true }));
    if (found !== 'ok') throw new Error(found);
    return Number(db.prepare('SELECT count(*) FROM job').pluck().get());
  } finally {
    db.close();
  }
}

/** What SQLite said is the cause of what BullMQ is told. */
export function unopened(path: string, error: unknown): AppError {
  const diskError = storageError(error instanceof Error ? error.cause : undefined, path);
  if (diskError) return diskError;
  return new AppError('storage', `the queue in ${path} could not be opened (${messageOf(error)})`, {
    cause: error,
    hint: 'See that its folder can be written to and that the disk has space.',
  });
}
