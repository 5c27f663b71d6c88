import { setTimeout } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

const LOOK_MS = 20;

/** How long the slowest answer of each path took, in milliseconds. */
export type Waits = Record<string, number>;

/**
 * Asks for the paths over and over, one every 20 ms each, until it is ended. In a thread of its own: whoever hands over a file of 35 MB
 * meanwhile keeps its own loop busy, and would take that for the server's time.
 */
export async function watchWaits(url: string, paths: readonly string[]): Promise<{ end(): Promise<Waits> }> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { url, paths } });
  const said = async <T>(): Promise<T> =>
    await new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject));
  await said();
  return {
    async end() {
      const waits = said<Waits>();
      thread.postMessage('end');
      return await waits;
    },
  };
}

async function watch(): Promise<void> {
  const { url, paths } = workerData as { url: string; paths: string[] };
  const ask = async (path: string): Promise<number> => {
    const began = performance.now();
    await (await fetch(url + path)).text();
    return performance.now() - began;
  };
  // The first one loads the client.
  for (const path of paths) await ask(path);
  let isOver = false;
  parentPort?.once('message', () => {
    isOver = true;
  });
  parentPort?.postMessage('ready');
  const slowestOf = async (path: string): Promise<[string, number]> => {
    let slowest = 0;
    for (; !isOver; await setTimeout(LOOK_MS)) slowest = Math.max(slowest, await ask(path));
    return [path, slowest];
  };
  parentPort?.postMessage(Object.fromEntries(await Promise.all(paths.map(slowestOf))));
}

if (parentPort && workerData?.paths) await watch();
