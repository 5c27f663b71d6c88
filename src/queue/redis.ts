import { Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from '../base/log.ts';
import type { Secret } from '../base/secret.ts';
import { within } from '../base/timeout.ts';
import { checkServer, refusal } from './redis-check.ts';
import { awayAtStart, PATIENCE_MS } from './refusals.ts';
import type { Connection, Trouble } from './seam.ts';
import { workerOptions } from './worker-options.ts';

/** Commands wait for a server that is away, however long: nothing is lost, and nothing has to be tried again by the caller. */
const WAITING = {
  maxRetriesPerRequest: null,
  lazyConnect: true,
  connectTimeout: 5000,
  retryStrategy: (times: number) => Math.min(50 * 2 ** times, 2000),
} satisfies RedisOptions;

/** One connection for all queues and workers, and one for each worker to wait on. */
export async function connectRedis(url: Secret, log: Logger, trouble: Trouble): Promise<Connection> {
  const { client, copies, place } = openClient(url, trouble);
  let canTellVersion: boolean;
  try {
    await firstConnection(client, place);
    canTellVersion = await checkServer(client, url, log);
  } catch (error) {
    endNow(client);
    throw error;
  }
  client.on('ready', trouble.over);
  const shared = { connection: client, skipVersionCheck: !canTellVersion };
  return {
    kind: 'redis',
    place,
    makeQueue: (name) => new Queue(name, shared),
    makeWorker: (name, run, options) => new Worker(name, run, { ...shared, ...workerOptions(options) }),
    async ping() {
      await client.ping();
    },
    upkeep: async () => {},
    async drop() {
      for (const each of [...copies, client]) endNow(each);
    },
  };
}

/**
 * BullMQ makes the connections on which workers wait by itself; they are kept in sight so that closing ends them too. A lazy one that
 * fails to connect the first time would leave its worker dead for good.
 */
function openClient(url: Secret, trouble: Trouble): { client: Redis; copies: Redis[]; place: string } {
  const client = new Redis(url.reveal(), WAITING);
  client.on('error', trouble.away);
  const copies: Redis[] = [];
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (changes) => {
    const copy = duplicate({ ...changes, lazyConnect: false });
    copies.push(copy);
    return copy;
  };
  return { client, copies, place: `${client.options.host}:${client.options.port}` };
}

/** Resolves when the server takes commands; gives up at once when it will never take ours. */
async function firstConnection(client: Redis, place: string): Promise<void> {
  let last: Error | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    client.once('ready', resolve);
    client.on('error', (error) => {
      last = error;
      const final = refusal(error, place);
      if (final) reject(final);
    });
    client.connect().catch(() => undefined);
  });
  await within(PATIENCE_MS, ready, () => awayAtStart(place, last));
}

/** A client that waits to connect again would keep its commands for ever: only one that is connecting gives them back. */
function endNow(client: Redis): void {
  if (client.status === 'reconnecting') client.connect().catch(() => undefined);
  client.disconnect();
}
