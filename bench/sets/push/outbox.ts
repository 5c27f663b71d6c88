import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { feedbackMirror, measured } from '../../frame/child.ts';
import { type ServiceProcess, startServiceProcess } from '../../service.ts';

/** Besides the schedule's own first passes nothing else is to happen, and only the latency sets the pace. */
const UNDISTURBED = {
  PUSH_CONCURRENCY: '1',
  PUSH_PER_MINUTE: '1000000',
  SYNC_HEAD_EVERY: 'off',
  SYNC_SWEEP_EVERY: '30d',
};
const LOOK_EVERY_MS = 200;
/** Ten times what it takes, and the time in which a queue is made for the first time. */
const patienceMs = (rows: number): number => rows * 1000 + 60_000;

/** Rows a second from the first attempt to the last confirmation, of new rows in this data folder. */
export async function pushThrough(env: { DATA_DIR: string }, rows: number): Promise<number> {
  await addRows(env, rows);
  const service = await startServiceProcess({ ...env, ...UNDISTURBED });
  const mirror = new Database(join(env.DATA_DIR, 'mirror.db'), { readonly: true });
  try {
    await allConfirmed(mirror, service, patienceMs(rows));
    const seconds = mirror.prepare<[number], number>(TOOK).pluck().get(rows) ?? Number.NaN;
    return rows / seconds;
  } finally {
    mirror.close();
    await service.stop();
  }
}

/** Through the command line, before the service runs. */
async function addRows(env: { DATA_DIR: string }, rows: number): Promise<void> {
  const file = join(env.DATA_DIR, 'rows.csv');
  const run = Date.now();
  const lines = Array.from({ length: rows }, (_, n) => `bugs,"Row ${n} of ${run}","${`${n} `.repeat(50)}"`);
  writeFileSync(file, ['board,title,content', ...lines, ''].join('\n'));
  await measured(feedbackMirror(['import', file], env));
  rmSync(file);
}

async function allConfirmed(
  mirror: Database.Database,
  service: ServiceProcess,
  limitMs: number,
): Promise<void> {
  const left = mirror.prepare<[], number>("SELECT count(*) FROM outbox WHERE state <> 'confirmed'").pluck();
  const deadline = performance.now() + limitMs;
  while (left.get() !== 0) {
    service.assertAlive();
    if (performance.now() > deadline) throw new Error(`${left.get()} rows are not confirmed`);
    await setTimeout(LOOK_EVERY_MS);
  }
}

/** The newest rows are those of this run. */
const TOOK = `
  SELECT (julianday(max(a.ended_at)) - julianday(min(a.started_at))) * 86400.0
    FROM outbox_attempts a
   WHERE a.outbox_id IN (SELECT id FROM outbox ORDER BY id DESC LIMIT ?)`;
