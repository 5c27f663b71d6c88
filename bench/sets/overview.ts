import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'undici';
import { median } from '../frame/numbers.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { largeMirror } from '../large-mirror.ts';
import { startServiceProcess } from '../service.ts';

const POSTS = 1_000_000;
const ASKED_IN_TURN = 20;
/** An answer counts as the newest for a minute, and for ten times as long as it took to work out. */
const FRESH_MS = 61_000;
const REST = 10.5;

/** The first page of the dashboard, as its browser asks for it. */
export const overviewSet: BenchSet = {
  name: 'overview',
  about: "The figures of the dashboard's first page, from a service that does nothing else meanwhile.",
  sizes: '1,000,000 posts, as many comments, a year of history',
  run,
};

async function run(bench: Bench): Promise<Row[]> {
  const { env } = await largeMirror(bench, bench.scale(POSTS));
  const folder = mkdtempSync(join(bench.folder, 'overview-'));
  const quiet = { SYNC_HEAD_EVERY: 'off', SYNC_SWEEP_EVERY: '30d' };
  const service = await startServiceProcess({ ...env, ...quiet, DATA_DIR: join(folder, 'data') });
  const client = new Client(service.url);
  try {
    await service.ready();
    return await ask(bench, client);
  } finally {
    await client.close();
    await service.stop();
  }
}

async function ask(bench: Bench, client: Client): Promise<Row[]> {
  // The service works the first view out by itself when it starts; here it is waited for.
  bench.say(`the first view: ready after ${Math.round(await askMs(client, ''))} ms`);
  const kept = await series('', bench, () => slowest(client, ASKED_IN_TURN));
  const days = (round: number): string => `?since=${30 + round}d`;
  const cold = await series(days(1), bench, (round) => askMs(client, days(round)));
  const wait = Math.max(FRESH_MS, REST * Math.max(...cold.values));
  bench.say(`waiting ${Math.round(wait / 1000)} s until those answers are old`);
  await setTimeout(wait);
  const old = await series(days(1), bench, (round) => askMs(client, days(round)));
  const bound = { is: 'at most', value: 300, unit: 'ms' } as const;
  return [
    {
      ...rowOf(
        'overview, first view',
        kept,
        `The slowest of ${ASKED_IN_TURN} requests a repetition, each to its last byte.`,
      ),
      bound,
    },
    { ...rowOf('overview, a period nobody asked for yet', cold, 'Worked out while the asker waits.'), bound },
    {
      ...rowOf(
        'overview, that period again when its answer is old',
        old,
        'Answered with the old figures and their age where the new ones take longer than 0.2 s.',
      ),
      bound,
    },
  ];
}

function rowOf(row: string, ours: Series, note: string): Row {
  return { row, ours, peer: null, figure: median(ours.values), bound: null, note };
}

async function series(query: string, bench: Bench, run: (round: number) => Promise<number>): Promise<Series> {
  const values: number[] = [];
  for (let round = 1; round <= bench.repeat; round++) values.push(await run(round));
  bench.say(`/data/overview${query}: ${values.map(Math.round).join(', ')} ms`);
  return { name: 'overview', command: `GET /data/overview${query}`, unit: 'ms', values };
}

async function slowest(client: Client, times: number): Promise<number> {
  let most = 0;
  for (let n = 0; n < times; n++) most = Math.max(most, await askMs(client, ''));
  return most;
}

/** From the request to the last byte, on a connection that stands: what the way over loopback takes is in it. */
async function askMs(client: Client, query: string): Promise<number> {
  const began = performance.now();
  const { statusCode, body } = await client.request({ method: 'GET', path: `/data/overview${query}` });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`the overview answered ${statusCode}: ${text.slice(0, 500)}`);
  return performance.now() - began;
}
