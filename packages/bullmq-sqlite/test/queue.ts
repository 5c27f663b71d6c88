import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type JobsOptions, type MinimalJob, Queue } from 'bullmq';
import { createSqliteBackend } from '../src/index.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const START = Date.parse('2026-01-01T00:00:00.000Z');

/** The path of a file that does not exist yet. Its folder is removed after the hooks that close what uses it. */
export function fileFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bullmq-sqlite-'));
  t.after(() => t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })));
  return join(folder, 'queue.db');
}

interface WorkerSettings {
  lockDuration?: number;
  stalledInterval?: number;
  maxStalledCount?: number;
  limiter?: { max: number; duration: number };
  metrics?: { maxDataPoints: number };
}

/** A queue in a file, without workers that run by themselves, on a clock that moves by `tick` only. */
export function queueFor(t: TestContext, name = 'work') {
  t.mock.timers.enable({ apis: ['Date'], now: START });
  const connection = { file: fileFor(t) };
  const queue = new Queue(name, { connection }, createSqliteBackend);
  t.after(() => queue.close());
  return {
    queue,
    connection,
    /** What a worker asks and tells the queue; its token is its name. */
    worker(token: string, settings: WorkerSettings = {}) {
      const backend = createSqliteBackend(name, { connection, ...settings }, {});
      t.after(() => backend.close());
      const named = (id: string) => ({ id }) as MinimalJob;
      return {
        backend,
        /** The id of the job that it is handed out, or an empty text. */
        take: async (): Promise<string> => String((await backend.moveToActive(token, token))[1]),
        /** For how long nothing is handed out because of a limit, and until when because nothing is due. */
        async waits() {
          const [job, , limitedFor, delayedUntil] = await backend.moveToActive(token, token);
          assert.equal(job, null);
          return { limitedFor, delayedUntil };
        },
        complete: (id: string, keep: boolean | number | { age?: number; count?: number } = false) =>
          backend.moveToCompleted(named(id), { ok: true }, keep as boolean, token, false),
        fail: (id: string, keep: boolean | number = false) =>
          backend.moveToFailed(named(id), 'why', keep, token, false),
        putOff: (id: string, delay: number) => backend.moveToDelayed(id, Date.now(), delay, token),
        again: (id: string) => backend.retryJob(id, false, token),
        handBack: (id: string) => backend.moveJobFromActiveToWait(id, token),
        renew: (id: string) => backend.extendLock(id, token, 30 * SECOND),
      };
    },
    add: async (id: string, options: JobsOptions = {}) => {
      await queue.add(id, {}, { jobId: id, ...options });
    },
    tick: (ms: number) => t.mock.timers.tick(ms),
    setBack: (ms: number) => t.mock.timers.setTime(Date.now() - ms),
  };
}
