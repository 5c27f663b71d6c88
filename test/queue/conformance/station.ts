import { randomUUID } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import type { Queue, Worker } from 'bullmq';
import type { Processor, QueueBackend, WorkerSettings } from '../../../src/queue/backend.ts';
import { openTarget, type Target } from '../target.ts';

/** One kind of backend, as the suite needs it. */
export interface Station {
  /** Of a mirror that nobody used before. */
  newTarget(): Target;
  /** Kept open through the whole suite: most tests need only a queue of their own on it. */
  shared(): Promise<QueueBackend>;
  /** The server as a program; null where there is only a file. */
  server: { kill(): Promise<void>; restart(): Promise<void> } | null;
  /** Everything any queue holds there is gone, as after FLUSHALL. */
  flush(target: Target): Promise<void>;
}

export interface Scene {
  t: TestContext;
  station: Station;
  /** A queue that no other test uses. */
  queue: Queue;
  /** A worker on it, closed after the test. */
  work(run: Processor, options?: WorkerSettings): Worker;
  /** A backend of its own, closed after the test. */
  open(target: Target, lines?: string[]): Promise<QueueBackend>;
}

export type Play = (name: string, play: (scene: Scene) => Promise<void>) => void;

/** No test of a queue takes this long: a hang becomes a failure. */
const LIMIT_MS = 30_000;

export function playsOn(station: Station): Play {
  return (title, play) => {
    it(title, { timeout: LIMIT_MS }, async (t) => {
      const open = async (target: Target, lines?: string[]): Promise<QueueBackend> => {
        const backend = await openTarget(target, lines);
        t.after(() => backend.close());
        return backend;
      };
      const shared = await station.shared();
      const name = `t${randomUUID().slice(0, 8)}`;
      const work: Scene['work'] = (run, options) => {
        const worker = shared.worker(name, run, options);
        t.after(() => worker.close());
        return worker;
      };
      await play({ t, station, queue: shared.queue(name), work, open });
    });
  };
}
