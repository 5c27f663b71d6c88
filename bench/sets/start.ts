import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CHECKOUT } from '../../test/support/cli.ts';
import { startRedis } from '../../test/support/servers.ts';
import { feedbackMirror, measured } from '../frame/child.ts';
import { median, ratio } from '../frame/numbers.ts';
import { missing, missingPeer } from '../frame/peers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { startServiceProcess } from '../service.ts';

/** How long a person waits before anything happens. */
export const startSet: BenchSet = {
  name: 'start',
  about: 'The command line up to its help, the service up to ready.',
  sizes: 'the built-in sandbox of 500 posts, the embedded queue',
  run: async (bench) => [await help(bench), ...(await service(bench))],
};

async function help(bench: Bench): Promise<Row> {
  const ms = async (program: Parameters<typeof measured>[0]): Promise<number> =>
    (await measured(program)).seconds * 1000;
  const [ours = [], node = []] = await interleaved(bench, [
    { name: '--help', run: () => ms(feedbackMirror(['--help'])) },
    { name: 'node -e 0', run: () => ms({ command: process.execPath, args: ['-e', '0'] }) },
  ]);
  return {
    row: '--help, beyond a Node that does nothing',
    ours: { name: '--help', command: 'feedback-mirror --help', unit: 'ms', values: ours },
    peer: { name: 'node -e 0', command: 'node -e 0', unit: 'ms', values: node },
    figure: median(ours) - median(node),
    bound: { is: 'at most', value: 150, unit: 'ms' },
    note: 'The difference of the two medians.',
  };
}

const SETTLED_MS = 15_000;

async function service(bench: Bench): Promise<Row[]> {
  const kept = mkdtempSync(join(bench.folder, 'start-'));
  const hasRedis = missing('redis-server') === '';
  const redis = hasRedis ? await startRedis() : null;
  const onRedis = { QUEUE_URL: redis?.url ?? '' };
  try {
    const [again = [], empty = [], first = [], peer = []] = await interleaved(bench, [
      { name: 'start on a folder it knows', run: () => secondsToReady(kept) },
      { name: 'start on an empty folder', run: () => onEmptyFolder(bench) },
      { name: 'the first start of a checkout', run: () => firstOfAll(bench) },
      ...(redis ? [{ name: 'the same on Redis', run: () => firstOfAll(bench, onRedis) }] : []),
    ]);
    return [
      startRow('on a folder it knows', again, ''),
      startRow('on an empty folder', empty, ', with the sandbox, its mirror and the queue made on the way'),
      besideRedis(first, peer),
      ...(await memory(bench)),
    ];
  } finally {
    await redis?.stop();
  }
}

function startRow(where: string, values: number[], more: string): Row {
  return {
    row: `start to ready, ${where}`,
    ours: { name: 'start', command: 'feedback-mirror start', unit: 's', values },
    peer: null,
    figure: median(values),
    bound: { is: 'at most', value: 5, unit: 's' },
    note: `From the start of the process to the first 200 of /readyz${more}.`,
  };
}

function besideRedis(first: number[], redis: number[]): Row {
  const where = 'the very first of a checkout';
  const ours = startRow(where, first, ', with nothing compiled yet');
  const peer: Series =
    redis.length > 0
      ? {
          name: 'start on Redis',
          command: 'QUEUE_URL=redis://… feedback-mirror start',
          unit: 's',
          values: redis,
        }
      : missingPeer('start on Redis', 'redis-server', 's');
  return {
    ...ours,
    peer,
    figure: ratio(ours.ours, peer),
    bound: { is: 'at most', value: 1.5, unit: 'x' },
  };
}

/** Of a start on an empty folder and the quarter of a minute after it. */
async function memory(bench: Bench): Promise<Row[]> {
  const peaks: number[] = [];
  const residents = await interleaved(bench, [{ name: 'memory', run: () => residentMb(bench, peaks) }], {
    warmUp: false,
  });
  const row = (what: string, values: number[], value: number): Row => ({
    row: `memory of the service, ${what}`,
    ours: { name: 'start', command: 'feedback-mirror start', unit: 'MB', values },
    peer: null,
    figure: median(values),
    bound: { is: 'at most', value, unit: 'MB' },
  });
  return [row('the most of a start', peaks, 280), row(`after ${SETTLED_MS / 1000} s`, residents.flat(), 200)];
}

async function residentMb(bench: Bench, peaks: number[]): Promise<number> {
  const folder = mkdtempSync(join(bench.folder, 'memory-'));
  const service = await startServiceProcess({ DATA_DIR: join(folder, 'data') });
  try {
    await service.ready();
    await delay(SETTLED_MS);
    const { peak, resident } = service.memory();
    peaks.push(peak);
    return resident;
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** What earlier starts left for later ones: compiled code. */
const KEPT = join(CHECKOUT, 'node_modules/.cache/feedback-mirror');

async function firstOfAll(bench: Bench, env: Record<string, string> = {}): Promise<number> {
  rmSync(KEPT, { recursive: true, force: true });
  return await onEmptyFolder(bench, env);
}

async function onEmptyFolder(bench: Bench, env: Record<string, string> = {}): Promise<number> {
  const folder = mkdtempSync(join(bench.folder, 'start-'));
  try {
    return await secondsToReady(folder, env);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function secondsToReady(folder: string, env: Record<string, string> = {}): Promise<number> {
  const service = await startServiceProcess({ DATA_DIR: join(folder, 'data'), ...env });
  try {
    return (await service.ready()) / 1000;
  } finally {
    await service.stop();
  }
}
