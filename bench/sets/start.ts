import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../../test/support/cli.ts';
import { feedbackMirror, measured } from '../frame/child.ts';
import { median } from '../frame/numbers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row } from '../frame/set.ts';
import { startServiceProcess } from '../service.ts';

/** How long a person waits before anything happens. */
export const startSet: BenchSet = {
  name: 'start',
  about: 'The command line up to its help, the service up to ready.',
  sizes: 'the built-in sandbox of 200 posts, the embedded queue',
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

async function service(bench: Bench): Promise<Row[]> {
  const kept = mkdtempSync(join(bench.folder, 'start-'));
  const [again = [], empty = [], first = []] = await interleaved(bench, [
    { name: 'start on a folder it knows', run: () => secondsToReady(kept) },
    { name: 'start on an empty folder', run: () => onEmptyFolder(bench) },
    { name: 'the first start of a checkout', run: () => firstOfAll(bench) },
  ]);
  const row = (where: string, values: number[], more: string): Row => ({
    row: `start to ready, ${where}`,
    ours: { name: 'start', command: 'feedback-mirror start', unit: 's', values },
    peer: null,
    figure: median(values),
    bound: { is: 'at most', value: 5, unit: 's' },
    note: `From the start of the process to the first 200 of /readyz${more}.`,
  });
  return [
    row('on a folder it knows', again, ''),
    row('on an empty folder', empty, ', with the sandbox, its mirror and the queue made on the way'),
    row('the very first of a checkout', first, ', with nothing compiled and no queue to copy yet'),
  ];
}

/** What earlier starts left for later ones: compiled code, and a new queue that is copied. */
const KEPT = join(CHECKOUT, 'node_modules/.cache/feedback-mirror');

async function firstOfAll(bench: Bench): Promise<number> {
  rmSync(KEPT, { recursive: true, force: true });
  return await onEmptyFolder(bench);
}

async function onEmptyFolder(bench: Bench): Promise<number> {
  const folder = mkdtempSync(join(bench.folder, 'start-'));
  try {
    return await secondsToReady(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function secondsToReady(folder: string): Promise<number> {
  const service = await startServiceProcess({ DATA_DIR: join(folder, 'data') });
  try {
    return (await service.ready()) / 1000;
  } finally {
    await service.stop();
  }
}
