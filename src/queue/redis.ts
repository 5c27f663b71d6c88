import { Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { certificateTrouble } from '../base/postgres.ts';
import type { Secret } from '../base/secret.ts';
import { within } from '../base/timeout.ts';
import {
  awayAtStart,
  type Connection,
  type QueueTrouble,
  START_TIMEOUT_MS,
  workerOptions,
} from './connection.ts';

/** Commands wait for a server that is away, however long: nothing is lost, and nothing has to be tried again by the caller. */
const WAITING = {
  maxRetriesPerRequest: null,
  lazyConnect: true,
  connectTimeout: 5000,
  retryStrategy: (times: number) => Math.min(50 * 2 ** times, 2000),
} satisfies RedisOptions;

/** One connection for all queues and workers, and one for each worker to wait on. */
export async function connectRedis(url: Secret, log: Logger, trouble: QueueTrouble): Promise<Connection> {
  const { client, copies, place } = openClient(url, trouble);
  let canTellVersion: boolean;
  try {
    await firstConnection(client, place);
    canTellVersion = await checkServer(client, log);
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
function openClient(url: Secret, trouble: QueueTrouble): { client: Redis; copies: Redis[]; place: string } {
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

/** Resolves when the server takes commands. Rejects without waiting if the server refuses this client for good. */
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
  await within(START_TIMEOUT_MS, ready, () => awayAtStart(place, last));
}

/** A client that waits to connect again would keep its commands for ever: only one that is connecting gives them back. */
function endNow(client: Redis): void {
  if (client.status === 'reconnecting') client.connect().catch(() => undefined);
  client.disconnect();
}

/** Below it BullMQ's scripts lack commands. Valkey and Dragonfly tell the version they are compatible with here too. */
const OLDEST = [6, 2];

/** Refuses a server on which jobs could vanish or not run; tells whether it lets us see its version at all. */
async function checkServer(client: Redis, log: Logger): Promise<boolean> {
  const info = await client.info().catch(() => null);
  const trouble = serverTrouble(info ?? '', (await evictionPolicy(client, info)) ?? null);
  if (trouble instanceof AppError) throw trouble;
  if (trouble) log.warn({ event: 'queue.redis.settings' }, `queue: ${trouble}`);
  return info !== null;
}

/** Managed services often forbid CONFIG, but most of them tell it in INFO. */
async function evictionPolicy(client: Redis, info: string | null): Promise<string | null> {
  const policy = field(info ?? '', 'maxmemory_policy');
  if (policy !== null) return policy;
  const answer = await client.config('GET', 'maxmemory-policy').catch(() => null);
  return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : null;
}

/** What is wrong with a server that says this of itself: an error to stop at, a remark, or nothing. */
export function serverTrouble(info: string, policy: string | null): AppError | string | null {
  const version = field(info, 'redis_version');
  if (version !== null && isOlder(version))
    return new AppError(
      'usage',
      `the queue's Redis is version ${version}; it takes ${OLDEST.join('.')} or newer`,
      {
        hint: 'Update that server, or leave QUEUE_URL empty: then the queue lives in the data folder.',
      },
    );
  if (policy === null)
    return 'this Redis does not say what it does when its memory is full; see that its maxmemory-policy is noeviction';
  return policy === 'noeviction' ? null : evicts(policy);
}

function evicts(policy: string): AppError {
  return new AppError(
    'usage',
    `the queue's Redis drops keys when its memory is full (maxmemory-policy ${policy})`,
    {
      hint: 'Run "config set maxmemory-policy noeviction" in redis-cli, and write it into redis.conf, so that it lasts.',
    },
  );
}

function field(info: string, name: string): string | null {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? null;
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

const REFUSED = /^(WRONGPASS|NOAUTH|NOPERM)|invalid password|without any password configured/i;

/** An answer that will be the same however often we ask; null where waiting may help. */
function refusal(error: Error, place: string): AppError | null {
  if (REFUSED.test(error.message))
    return new AppError('usage', `the Redis at ${place} refused the user or the password of QUEUE_URL`, {
      cause: error,
      hint: 'Correct them in QUEUE_URL: redis://user:password@host:port/0, or redis://:password@host:port/0 without a user.',
    });
  if (/DB index/i.test(error.message))
    return new AppError('usage', `the Redis at ${place} has no database of the number in QUEUE_URL`, {
      cause: error,
      hint: 'The number behind the last slash is between 0 and 15 unless that server is configured otherwise.',
    });
  return certificateTrouble(error, place);
}
