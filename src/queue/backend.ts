import { missingPackage } from '../base/program.ts';
import { assemble } from './assemble.ts';
import type { Connection, QueueBackend, QueueOptions, Trouble } from './seam.ts';
import { watchTrouble } from './trouble.ts';

export type { BackendKind, Processor, QueueBackend, QueueOptions, WorkerSettings } from './seam.ts';

/** The queues of this mirror, on the server of the URL, or in a file of the data folder where there is none. */
export async function openQueueBackend(options: QueueOptions): Promise<QueueBackend> {
  const trouble = watchTrouble(options.log);
  return assemble(await connect(options, trouble), options.mirrorId, trouble);
}

/** Only the driver that is needed gets loaded. */
async function connect(options: QueueOptions, trouble: Trouble): Promise<Connection> {
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
