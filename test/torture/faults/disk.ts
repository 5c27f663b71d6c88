import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/sandbox/random.ts';
import { limitFiles } from '../../support/disk-limit.ts';
import { skipUnless } from '../../support/programs.ts';
import { checkFile } from '../judge/file.ts';
import { mustRecover, waitFor } from '../judge/readiness.ts';
import type { Incident } from '../plan.ts';
import type { Stage } from '../stage.ts';
import { recover } from './recovery.ts';

const SMALLEST_FILE = 16_384;

/** A disk that is full, that cannot be written, that does not keep what it was given. */
export function diskFaults(stage: Stage, random: Random): Incident[] {
  const withProgram = (name: string, ...incidents: Incident[]): Incident[] => {
    const { skip } = skipUnless(name);
    if (skip !== false) stage.tally.leftOut(incidents.map((incident) => `${incident.name} (${skip})`));
    return skip === false ? incidents : [];
  };
  return [
    ...withProgram('prlimit', diskFull(stage, random)),
    ...withProgram(
      'strace',
      injected(stage, 'failing fsync', 'fsync,fdatasync', 'EIO'),
      injected(stage, 'failing writes', 'pwrite64,pwritev', 'ENOSPC'),
    ),
  ];
}

/** No file may grow beyond a few pages: SQLite, the queue and exports all meet it. */
function diskFull(stage: Stage, random: Random): Incident {
  const { service, tally } = stage;
  const name = 'disk full';
  return {
    name,
    run: () =>
      underFailingDisk(stage, name, async (pid) => {
        const before = service.said().length;
        await limitFiles(pid, SMALLEST_FILE);
        await delay(1500 + random.int(2500));
        await limitFiles(pid, 'unlimited').catch(() => undefined);
        const complaints =
          service
            .said()
            .slice(before)
            .match(/disk|EFBIG|too large|SQLITE_/g) ?? [];
        if (complaints.length > 0) tally.fired(name);
      }),
  };
}

function injected(stage: Stage, name: string, calls: string, error: string): Incident {
  return {
    name,
    run: () =>
      underFailingDisk(stage, name, async (pid) => {
        const trace = join(stage.folder, `strace-${pid}-${Date.now()}`);
        const args = ['-f', '-qq', '-p', String(pid), '-o', trace, '-e', `trace=${calls}`];
        const tracer = spawn('strace', [...args, '-e', `inject=${calls}:error=${error}`], {
          stdio: 'ignore',
        });
        const gone = once(tracer, 'exit');
        await Promise.race([gone, delay(3000)]);
        tracer.kill('SIGINT');
        await gone;
        const lines = existsSync(trace) ? readFileSync(trace, 'utf8').match(/INJECTED/g) : null;
        if (lines) stage.tally.fired(name, lines.length);
      }),
  };
}

/** It goes on meanwhile and afterwards; one that has ended all the same is a defect, and started again for the sake of the others. */
async function underFailingDisk(
  stage: Stage,
  name: string,
  work: (pid: number) => Promise<void>,
): Promise<void> {
  const { service, journal } = stage;
  const { pid } = service;
  if (pid === null) return;
  journal.note(name);
  await work(pid);
  await waitFor(1000, () => service.pid === null);
  if (service.pid === null) return await recover(stage, name);
  checkFile(stage, name);
  await mustRecover(stage, name);
}
