import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { openTarget } from '../../test/queue/target.ts';
import { median } from '../frame/numbers.ts';
import { missing, missingPeer } from '../frame/peers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { QUEUES, type QueueServer } from './push.ts';

const JOBS = 10_000;
const BATCH = 1000;

interface Task {
  name: string;
  /** Jobs a second that the embedded queue has to reach. */
  atLeast: number;
  run(backend: QueueBackend, jobs: number): Promise<number>;
}

const TASKS: readonly Task[] = [
  { name: 'add in bulk', atLeast: 8000, run: (backend, jobs) => addRate(backend, jobs) },
  { name: 'process, concurrency 1', atLeast: 3000, run: (backend, jobs) => workRate(backend, jobs, 1) },
  { name: 'process, concurrency 10', atLeast: 3000, run: (backend, jobs) => workRate(backend, jobs, 10) },
];

/** Jobs that do nothing, on each of the queues: what the queue itself costs. */
export const queueSet: BenchSet = {
  name: 'queue',
  about: 'Jobs that do nothing, added and processed in one process, on each kind of queue.',
  sizes: `${JOBS.toLocaleString('en')} jobs, added ${BATCH.toLocaleString('en')} at a time`,
  run,
};

async function run(bench: Bench): Promise<Row[]> {
  const able = QUEUES.filter(({ needs }) => missing(...needs) === '');
  const servers = await Promise.all(able.map(({ start }) => start()));
  try {
    const rows: Row[] = [];
    for (const task of TASKS) {
      const contenders = able.map(({ name }, n) => ({
        name: `${task.name}, ${name}`,
        run: () => onQueue(bench, servers[n]?.url ?? null, task),
      }));
      const values = await interleaved(bench, contenders);
      rows.push(...rowsOf(task, (queue) => values[able.indexOf(queue)]));
    }
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server?.stop()));
  }
}

async function onQueue(bench: Bench, url: string | null, task: Task): Promise<number> {
  const dataDir = mkdtempSync(join(bench.folder, 'queue-'));
  const backend = await openTarget({ url, dataDir, mirrorId: `bench-${process.pid}` });
  try {
    return await task.run(backend, bench.scale(JOBS));
  } finally {
    await backend.queue('work').obliterate({ force: true });
    await backend.close();
  }
}

async function addRate(backend: QueueBackend, jobs: number): Promise<number> {
  const queue = backend.queue('work');
  await queue.waitUntilReady();
  const batch = Array.from({ length: BATCH }, (_, row) => ({
    name: 'n',
    data: { row },
    opts: { removeOnComplete: true },
  }));
  const began = performance.now();
  for (let added = 0; added < jobs; added += BATCH) await queue.addBulk(batch.slice(0, jobs - added));
  return perSecond(jobs, began);
}

async function workRate(backend: QueueBackend, jobs: number, concurrency: number): Promise<number> {
  await addRate(backend, jobs);
  const all = Promise.withResolvers<void>();
  let done = 0;
  const began = performance.now();
  const count = async (): Promise<void> => {
    if (++done === jobs) all.resolve();
  };
  const worker = backend.worker('work', count, { concurrency });
  await all.promise;
  const rate = perSecond(jobs, began);
  await worker.close();
  return rate;
}

function perSecond(jobs: number, began: number): number {
  return (jobs * 1000) / (performance.now() - began);
}

/** The embedded queue has a bound of its own and Redis beside it; the others are there to compare. */
function rowsOf(task: Task, valuesOf: (queue: QueueServer) => number[] | undefined): Row[] {
  const series = QUEUES.map((queue): Series => {
    const values = valuesOf(queue);
    if (!values) return missingPeer(queue.name, queue.packages, 'rows/s');
    return { name: queue.name, command: `jobs on the ${queue.name} queue`, unit: 'rows/s', values };
  });
  const redis = series.find(({ name }) => name === 'redis') ?? null;
  return series
    .filter((each) => each !== redis)
    .map((ours) => ({
      row: `${task.name}, ${ours.name} queue`,
      ours,
      peer: redis,
      figure: median(ours.values),
      bound: ours.name === 'embedded' ? { is: 'at least', value: task.atLeast, unit: '' } : null,
      note: 'The figure is jobs a second, not a ratio.',
    }));
}
