import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, startPostgres, startRedis } from '../../test/support/servers.ts';
import { measured } from '../frame/child.ts';
import { ratio } from '../frame/numbers.ts';
import { missing, missingPeer } from '../frame/peers.ts';
import { interleaved } from '../frame/repeat.ts';
import { type SandboxProcess, startSandboxProcess } from '../frame/sandbox.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { pushThrough } from './push/outbox.ts';

const ROWS = 200;
const LATENCY_MS = 50;
const FLOOR = join(import.meta.dirname, '../floors/push.ts');

/** Where the service keeps its queue. */
export interface QueueServer {
  name: string;
  /** Programs this machine needs for it, and the packages that have them. */
  needs: string[];
  packages: string;
  start(): Promise<Pick<Server, 'url' | 'stop'> | null>;
}

export const QUEUES: readonly QueueServer[] = [
  { name: 'embedded', needs: [], packages: '', start: async () => null },
  {
    name: 'redis',
    needs: ['redis-server'],
    packages: 'redis-server',
    start: () => startRedis({ durable: true }),
  },
  {
    name: 'postgres',
    needs: ['initdb', 'postgres'],
    packages: 'postgresql',
    start: () => startPostgres({ durable: true }),
  },
];

/** Rows of the outbox to posts of the upstream, one at a time, through every queue. */
export const pushSet: BenchSet = {
  name: 'push',
  about: 'Rows of the outbox until each is confirmed, by the service, one post on its way at a time.',
  sizes: `${ROWS} rows, ${LATENCY_MS} ms of latency, PUSH_CONCURRENCY 1`,
  run,
};

async function run(bench: Bench): Promise<Row[]> {
  const sandbox = await startSandboxProcess({ posts: 100, latencyMs: LATENCY_MS });
  const able = QUEUES.filter(({ needs }) => missing(...needs) === '');
  const servers = await Promise.all(able.map(({ start }) => start()));
  try {
    const rows = bench.scale(ROWS);
    const ours = able.map(({ name }, i) => {
      const folder = mkdtempSync(join(bench.folder, `push-${name}-`));
      const queue = servers[i];
      const env = { ...sandbox.env, DATA_DIR: folder, ...(queue ? { QUEUE_URL: queue.url } : {}) };
      return { name: `push, ${name} queue`, run: () => pushThrough(env, rows) };
    });
    const floor = { name: 'sequential POSTs', run: () => postRate(sandbox, rows) };
    const [posted = [], ...pushed] = await interleaved(bench, [floor, ...ours]);
    return QUEUES.map((backend) => rowOf(backend, pushed[able.indexOf(backend)], posted));
  } finally {
    await Promise.all(servers.map((server) => server?.stop()));
    await sandbox.stop();
  }
}

const NOTE =
  'From the first attempt noted in the outbox, a moment before its POST, to the last row confirmed: the start of the service is not in it.';
const FSYNC = 'This PostgreSQL waits for its log, but not for the disk (fsync off).';

function rowOf({ name, packages }: QueueServer, values: number[] | undefined, posted: number[]): Row {
  const ours: Series = values
    ? { name: 'push', command: `QUEUE_URL=${name} feedback-mirror start`, unit: 'rows/s', values }
    : missingPeer('push', packages, 'rows/s');
  const peer: Series = {
    name: 'sequential POSTs',
    command: `node bench/floors/push.ts URL TOKEN ${ROWS}`,
    unit: 'rows/s',
    values: posted,
  };
  return {
    row: `push to confirmed, ${name} queue`,
    ours,
    peer,
    figure: ratio(ours, peer),
    bound: { is: 'at least', value: name === 'embedded' ? 0.95 : 0.7, unit: '' },
    note: name === 'postgres' ? `${NOTE} ${FSYNC}` : NOTE,
  };
}

/** The script measures itself, so that its start is not in it either. */
async function postRate({ env }: SandboxProcess, rows: number): Promise<number> {
  const args = [FLOOR, env.FEEDBACK_BASE_URL, env.FEEDBACK_API_TOKEN, String(rows)];
  const { stdout } = await measured({ command: process.execPath, args });
  return rows / Number(stdout);
}
