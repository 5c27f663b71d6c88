import type { Queue, Worker } from 'bullmq';
import { AppError } from '../base/errors.ts';
import { missingPackage } from '../base/program.ts';
import { within } from '../base/timeout.ts';
import {
  type Connection,
  type QueueBackend,
  type QueueOptions,
  type QueueTrouble,
  watchTrouble,
} from './connection.ts';

export type { BackendKind, Processor, QueueBackend, QueueOptions, WorkerSettings } from './connection.ts';

/** The queues of this mirror, on the server of the URL, or in a file of the data folder where there is none. */
export async function openQueueBackend(options: QueueOptions): Promise<QueueBackend> {
  const trouble = watchTrouble(options.log);
  return assemble(await connect(options, trouble), options.mirrorId, trouble);
}

/** Only the driver that is needed gets loaded. */
async function connect(options: QueueOptions, trouble: QueueTrouble): Promise<Connection> {
  if (options.url === null) {
    const { openEmbedded } = await import('./embedded.ts');
    return openEmbedded(options, trouble);
  }
  if (/^rediss?:/i.test(options.url.reveal())) {
    const { connectRedis } = await import('./redis.ts');
    return connectRedis(options.url, options.log, trouble);
  }
  const { connectPostgres } = await import('./postgres.ts').catch((error) => {
    throw missingPackage(error) ?? error;
  });
  return connectPostgres(options.url, trouble);
}

/** A service has ten seconds to stop, and most of them belong to a create under way. */
const CLOSE_MS = 1000;

/** What all backends do alike: names, listeners, the order of closing. */
function assemble(connection: Connection, mirrorId: string, trouble: QueueTrouble): QueueBackend {
  const queues = new Map<string, Queue>();
  const workers = new Set<Worker>();
  let pinging: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  return {
    kind: connection.kind,
    queue(name) {
      const known = queues.get(name);
      if (known) return known;
      const queue = connection.makeQueue(nameOf(mirrorId, name));
      queue.on('error', trouble.report);
      queues.set(name, queue);
      return queue;
    },
    worker(name, run, options = {}) {
      // BullMQ hands over the signal to functions that declare three parameters, and counts only those without a default.
      const worker = connection.makeWorker(
        nameOf(mirrorId, name),
        (job, token, signal) => run(job, token, signal),
        options,
      );
      worker.on('error', trouble.report);
      worker.once('closed', () => workers.delete(worker));
      workers.add(worker);
      return worker;
    },
    ping(withinMs) {
      // One question at a time: a server that is away would find all of them waiting when it comes back.
      pinging ??= connection.ping().finally(() => {
        pinging = undefined;
      });
      return within(withinMs, pinging, () => silent(connection.place, withinMs));
    },
    upkeep: () => connection.upkeep(),
    close() {
      closed ??= closeAll(connection, workers, queues);
      return closed;
    },
  };
}

async function closeAll(
  connection: Connection,
  workers: ReadonlySet<Worker>,
  queues: ReadonlyMap<string, Queue>,
): Promise<void> {
  for (const worker of workers) worker.cancelAllJobs('the queue is closing');
  const gently = async (): Promise<void> => {
    await Promise.allSettled([...workers].map(closeWorker));
    await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
  };
  await within(2 * CLOSE_MS, gently(), () => undefined);
  await connection.drop();
}

/** A close that waits for a job cannot be hurried any more, and its timers would keep the process alive: so a pause waits instead. */
async function closeWorker(worker: Worker): Promise<void> {
  const isIdle = await within(
    CLOSE_MS,
    worker.pause().then(() => true),
    () => false,
  );
  await worker.close(!isIdle);
}

/** No dot in the id, so that no two mirrors and queues share a name. A colon is forbidden by BullMQ. */
function nameOf(mirrorId: string, name: string): string {
  if (!/^[\w-]{1,64}$/.test(mirrorId) || !/^[\w-]+$/.test(name))
    throw new AppError('internal', `a queue cannot be called ${JSON.stringify(`${mirrorId}.${name}`)}`);
  return `${mirrorId}.${name}`;
}

function silent(place: string, ms: number): AppError {
  return new AppError('unreachable', `the queue at ${place} did not answer within ${ms / 1000} s`, {
    hint: 'See whether that server runs and can be reached from here; jobs continue by themselves once it is back.',
  });
}
