import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ImportState } from '../../src/http/dashboard/imports.ts';
import type { Bench, BenchSet, Row } from '../frame/set.ts';
import { watchWaits } from '../frame/waits.ts';
import { largeMirror } from '../large-mirror.ts';
import { type ServiceProcess, startServiceProcess } from '../service.ts';
import { ideaLines } from './import.ts';

const POSTS = 100_000;
const ROWS = 50_000;
const [READY, PAGE] = ['/readyz', '/data/outbox'];

/** A file that is handed over in the browser, compared in the background while the service goes on. */
export const duplicatesSet: BenchSet = {
  name: 'duplicates',
  about: 'All rows of an uploaded file compared with all posts, and how long other requests wait meanwhile.',
  sizes: '50,000 rows of about 700 bytes, 100,000 posts',
  run,
};

interface Measured {
  seconds: number;
  slowest: { ready: number; page: number };
}

async function run(bench: Bench): Promise<Row[]> {
  const [posts, rows] = [bench.scale(POSTS), bench.scale(ROWS)];
  const { env } = await largeMirror(bench, posts);
  const measured: Measured[] = [];
  for (let round = 0; round < bench.repeat; round++) measured.push(await compareOnce(bench, env, rows));
  const sizes = `${rows.toLocaleString('en')} rows with ${posts.toLocaleString('en')} posts`;
  const command = 'POST /data/imports, then GET /data/imports/ID until it is done';
  const worst = (values: number[]): number => Math.max(...values);
  const row = (
    name: string,
    unit: 's' | 'ms',
    bound: number,
    of: (one: Measured) => number,
    note?: string,
  ): Row => ({
    row: `${name}, ${sizes}`,
    ours: { name, command, unit, values: measured.map(of) },
    peer: null,
    figure: worst(measured.map(of)),
    bound: { is: 'at most', value: bound, unit },
    ...(note ? { note } : {}),
  });
  const also = 'The slowest of all answers while the file was read and compared, one every 20 ms.';
  return [
    row('comparing', 's', 60, ({ seconds }) => seconds, 'From the last byte of the upload to the last row.'),
    row('/readyz while comparing', 'ms', 100, ({ slowest }) => slowest.ready, also),
    row('/data/outbox while comparing', 'ms', 100, ({ slowest }) => slowest.page, also),
  ];
}

async function compareOnce(bench: Bench, env: Record<string, string>, rows: number): Promise<Measured> {
  const folder = mkdtempSync(join(bench.folder, 'duplicates-'));
  const quiet = { SYNC_HEAD_EVERY: 'off', SYNC_SWEEP_EVERY: '30d' };
  const service = await startServiceProcess({ ...env, ...quiet, DATA_DIR: join(folder, 'data') });
  try {
    await service.ready();
    // The first page of a service loads the code of the dashboard, 300 ms once; what is measured here is the comparison.
    await (await fetch(`${service.url}/data/outbox`)).text();
    return await compareIn(service, Buffer.from([...ideaLines(rows)].join('')), rows);
  } finally {
    await service.stop();
  }
}

async function compareIn({ url }: ServiceProcess, body: Buffer, rows: number): Promise<Measured> {
  const watching = await watchWaits(url, [READY, PAGE]);
  const began = performance.now();
  const headers = { 'content-type': 'text/csv' };
  const sent = await fetch(`${url}/data/imports`, { method: 'POST', headers, body });
  let state = (await sent.json()) as ImportState;
  for (; !state.comparison.isDone; await setTimeout(200))
    state = (await (await fetch(`${url}/data/imports/${state.id}`)).json()) as ImportState;
  const seconds = (performance.now() - began) / 1000;
  const waits = await watching.end();
  if (state.comparison.checked !== rows) throw new Error(`${state.comparison.checked} of ${rows} compared`);
  return { seconds, slowest: { ready: waits[READY] ?? Number.NaN, page: waits[PAGE] ?? Number.NaN } };
}
