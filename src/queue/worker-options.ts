import type { WorkerSettings } from './seam.ts';

/** BullMQ waits 15 s after a failed round trip before it tries again; a server that was restarted is back within one. */
const RETRY_MS = 1000;

/** BullMQ's options of a worker, from ours. */
export function workerOptions({ backoffStrategy, ...settings }: WorkerSettings) {
  return {
    ...settings,
    runRetryDelay: RETRY_MS,
    ...(backoffStrategy ? { settings: { backoffStrategy } } : {}),
  };
}
