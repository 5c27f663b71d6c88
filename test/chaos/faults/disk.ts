import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/sandbox/random.ts';
import { limitFiles } from '../../support/disk-limit.ts';
import { skipUnless } from '../../support/programs.ts';
import type { Fixture } from '../fixture.ts';
import { checkFile } from '../invariants/file.ts';
import { mustRecover, recover, waitFor } from '../invariants/readiness.ts';
import type { Incident } from '../plan.ts';

const SMALLEST_FILE = 16_384;
const COMPLAINS_WITHIN_MS = 10_000;

/** A disk that is full, that cannot be written, that does not keep what it was given. */
export function diskFaults(fixture: Fixture, random: Random): Incident[] {
  const withProgram = (name: string, ...incidents: Incident[]): Incident[] => {
    const { skip } = skipUnless(name);
    if (skip !== false) fixture.tally.leftOut(incidents.map((incident) => `${incident.name} (${skip})`));
    return skip === false ? incidents : [];
  };
  return [
    ...withProgram('prlimit', diskFull(fixture, random)),
    ...withProgram(
      'strace',
      injected(fixture, 'failing fsync', 'fsync,fdatasync', 'EIO'),
      injected(fixture, 'failing writes', 'pwrite64,pwritev', 'ENOSPC'),
    ),
  ];
}

/** No file may grow beyond a few pages: SQLite, the queue and exports all meet it. */
function diskFull(fixture: Fixture, random: Random): Incident {
  const { service, tally } = fixture;
  const name = 'disk full';
  return {
    name,
    run: () =>
      underFailingDisk(fixture, name, async (pid) => {
        const before = service.said().length;
        const complains = (): boolean =>
          /disk|EFBIG|too large|SQLITE_/.test(service.said().slice(before)) || service.pid === null;
        await limitFiles(pid, SMALLEST_FILE);
        await delay(4000 + random.int(4000));
        await limitFiles(pid, 'unlimited').catch(() => undefined);
        // A log beyond the limit cannot grow either: what the service had to say is written once there is space.
        await waitFor(COMPLAINS_WITHIN_MS, complains);
        if (complains()) tally.fired(name);
      }),
  };
}

function injected(fixture: Fixture, name: string, calls: string, error: string): Incident {
  return {
    name,
    run: () =>
      underFailingDisk(fixture, name, async (pid) => {
        const trace = join(fixture.folder, `strace-${pid}-${Date.now()}`);
        const args = ['-f', '-qq', '-p', String(pid), '-o', trace, '-e', `trace=${calls}`];
        const tracer = spawn('strace', [...args, '-e', `inject=${calls}:error=${error}`], {
          stdio: 'ignore',
        });
        const gone = once(tracer, 'exit');
        await Promise.race([gone, delay(3000)]);
        tracer.kill('SIGINT');
        await gone;
        const lines = existsSync(trace) ? readFileSync(trace, 'utf8').match(/INJECTED/g) : null;
        if (lines) fixture.tally.fired(name, lines.length);
      }),
  };
}

/** It goes on meanwhile and afterwards; one that has ended all the same is a defect, and started again for the sake of the others. */
async function underFailingDisk(
  fixture: Fixture,
  name: string,
  work: (pid: number) => Promise<void>,
): Promise<void> {
  const { service, journal } = fixture;
  const { pid } = service;
  if (pid === null) return;
  journal.note(name);
  await work(pid);
  await waitFor(1000, () => service.pid === null);
  if (service.pid === null) return await recover(fixture, name);
  checkFile(fixture, name);
  await mustRecover(fixture, name);
}
