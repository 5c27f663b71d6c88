import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import type { Worker } from 'bullmq';
import { createLogger } from '../../src/base/log.ts';
import { openOrReplace, reopen } from '../../src/queue/embedded-database.ts';
import { pgMakers } from '../../src/queue/pg-backend.ts';
import type { Patience, PgliteSession } from '../../src/queue/pglite-session.ts';
import { type RevivingPool, revivingPool } from '../../src/queue/reviving-pool.ts';
import { watchTrouble } from '../../src/queue/trouble.ts';
import { openTarget } from './target.ts';

/** A database, and the means to break it. */
export interface Patient {
  pool: RevivingPool;
  folder: string;
  /** All sessions it has had, the present one last. */
  sessions: PgliteSession[];
  lines: string[];
  /** May be changed: it counts from the next opening on. */
  patience: Patience;
  /** Does jobs of the queue `work`; gives what was done. */
  work(): unknown[];
  add(data: unknown): Promise<unknown>;
}

/** Never answered: the thread runs in it for ever. */
export const ENDLESS = 'DO $$ BEGIN LOOP END LOOP; END $$';

/** Copies of a folder that is made once for all tests of a file. */
export function copiesOfQueue(): { newFolder(): string } {
  const root = mkdtempSync(join(tmpdir(), 'fm-revival-'));
  const asMade = join(root, 'queue');
  before(async () => (await openTarget({ url: null, folder: asMade, mirrorId: 'm' })).close());
  after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  return {
    newFolder() {
      const folder = join(root, randomUUID(), 'queue');
      cpSync(asMade, folder, { recursive: true });
      return folder;
    },
  };
}

export async function openPatient(t: TestContext, folder: string, stuckMs = 20_000): Promise<Patient> {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ level: 'info', format: 'json', secrets: () => [], destination });
  const patience = { stuckMs, openMs: 30_000 };
  const place = { folder, log, patience };
  const trouble = watchTrouble(log);
  const sessions = [await openOrReplace(place)];
  const pool = revivingPool(sessions[0] as PgliteSession, {
    trouble,
    async reopen(closing) {
      const session = await reopen(place, trouble, closing);
      sessions.push(session);
      return session;
    },
  });
  const { makeQueue, makeWorker } = pgMakers(pool);
  const [queue, workers] = [makeQueue('work'), [] as Worker[]];
  queue.on('error', trouble.report);
  t.after(async () => {
    await Promise.all(workers.map((worker) => worker.close(true)));
    await pool.close();
  });
  return {
    pool,
    folder,
    sessions,
    lines,
    patience,
    work() {
      const done: unknown[] = [];
      const worker = makeWorker('work', async ({ data }) => void done.push(data), {});
      worker.on('error', trouble.report);
      workers.push(worker);
      return done;
    },
    add: (data) => queue.add('n', data),
  };
}
