import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { workerData } from 'node:worker_threads';
import { TOO_MUCH_MEMORY } from './wire.ts';

/**
 * A thread beside the query, because nothing else of this process runs while SQLite works: it ends the process when the one that
 * asked is gone, however that died, and when the query takes too much memory. SQLite's own limit of its heap does nothing here:
 * Node builds it without counting (tried: hard_heap_limit of 50 MB, 720 MB used).
 */
const { maxMemoryBytes } = workerData as { maxMemoryBytes: number };

/** Memory grew by about 300 MB a second in the worst statement tried. */
const LOOK_EVERY_MS = 20;

const parent = new Socket({ fd: 0 });
for (const event of ['end', 'error', 'close']) parent.once(event, () => end('SIGKILL'));
parent.resume();

setInterval(() => {
  if (process.memoryUsage.rss() > maxMemoryBytes) end(TOO_MUCH_MEMORY);
}, LOOK_EVERY_MS);

function end(signal: NodeJS.Signals): void {
  process.kill(process.pid, signal);
}

flushCompileCache();
