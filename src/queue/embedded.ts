import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Job, Queue, Worker } from 'bullmq';
import { createSqliteBackend, QueueFile } from 'bullmq-sqlite';
import { systemClock } from '../base/clock.ts';
import { AppError, messageOf, storageError } from '../base/errors.ts';
import { makeFolder } from '../base/files.ts';
import {
  type Connection,
  type Processor,
  type QueueOptions,
  type QueueTrouble,
  workerOptions,
} from './connection.ts';

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
    throw queueFileError(file.path, error);
  }
  const connection = { file: file.path };
  // BullMQ's default types stand for queues on Redis, and the program names only those. They differ in what `getBackend()` returns.
  return {
    kind: 'embedded',
    place: file.path,
    makeQueue: (name) => new Queue(name, { connection }, createSqliteBackend) as unknown as Queue,
    makeWorker: (name, run, settings) => makeWorker(name, run, { connection, ...workerOptions(settings) }),
    ping,
    upkeep: () => file.vacuum(),
    drop: async () => file.release(),
  };
}

type WorkerOptions = ReturnType<typeof workerOptions> & { connection: { file: string } };

const LOCK_MS = 30_000;
const STALLED_MS = 30_000;

/** BullMQ gives every worker two timers, also one without a job. Here the clock of the process renews locks and finds stalled jobs. */
function makeWorker(name: string, run: Processor, settings: WorkerOptions): Worker {
  const { lockDuration = LOCK_MS, stalledInterval = STALLED_MS } = settings;
  const active = new Map<Job, string>();
  const work: Processor = async (job, token = '', signal) => {
    active.set(job, token);
    try {
      return await run(job, token, signal);
    } finally {
      active.delete(job);
    }
  };
  const options = { ...settings, skipLockRenewal: true, skipStalledCheck: true };
  const worker = new Worker(
    name,
    (job, token, signal) => work(job, token, signal),
    options,
    createSqliteBackend,
  );
  const every = async (
    ms: number,
    end: 'closing' | 'closed',
    step: () => Promise<unknown>,
  ): Promise<void> => {
    const stop = new AbortController();
    worker.once(end, () => stop.abort());
    while (!stop.signal.aborted) {
      await step().catch((error) => worker.emit('error', error));
      await systemClock.sleep(ms, stop.signal).catch(() => undefined);
    }
  };
  const renew = (): Promise<unknown> =>
    Promise.all([...active].map(([job, token]) => job.extendLock(token, lockDuration)));
  void every(lockDuration / 2, 'closed', renew);
  void every(stalledInterval, 'closing', () => worker.getBackend().moveStalledJobsToWait());
  return worker as unknown as Worker;
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
export function queueFileError(path: string, error: unknown): AppError {
  const diskError = storageError(error instanceof Error ? error.cause : undefined, path);
  if (diskError) return diskError;
  return new AppError('storage', `the queue in ${path} could not be opened (${messageOf(error)})`, {
    cause: error,
    hint: 'See that its folder can be written to and that the disk has space.',
  });
}
