import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ENTRY } from '../test/support/cli.ts';
import { end, freePort, guardOver, remove } from '../test/support/launch.ts';

/** `feedback-mirror start` as a process of its own. */
export interface ServiceProcess {
  url: string;
  /** Resolves with the milliseconds from the start of the process to the first 200 of /readyz. */
  ready(): Promise<number>;
  /** What Linux says of its memory, in MB: the most it ever held, and what it holds. */
  memory(): { peak: number; resident: number };
  /** The user and system time that it has taken so far. */
  cpuMs(): number;
  /** Fails with what the service said when it has ended by itself. */
  assertAlive(): void;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 10;
const LIMIT_MS = 120_000;

export async function startServiceProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'fm-bench-service-'));
  const guard = guardOver(folder);
  const url = `http://127.0.0.1:${await freePort()}`;
  const began = performance.now();
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [ENTRY, 'start'], {
    cwd: folder,
    env: { PATH, HOME, LOG_LEVEL: 'warn', HTTP_PORT: new URL(url).port, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const assertAlive = aliveness(child);
  guard.watch(child.pid);
  return {
    url,
    assertAlive,
    memory: () => memoryOf(child.pid),
    cpuMs: () => cpuOf(child.pid),
    async ready() {
      while (!(await answers(`${url}/readyz`))) {
        assertAlive();
        if (performance.now() - began > LIMIT_MS) throw new Error(`${url}/readyz never said 200`);
        await setTimeout(LOOK_EVERY_MS);
      }
      return performance.now() - began;
    },
    async stop() {
      await end(child, 'SIGTERM');
      guard.release();
      await remove(folder);
    },
  };
}

function memoryOf(pid: number | undefined): { peak: number; resident: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (field: string): number =>
    Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { peak: mb('VmHWM'), resident: mb('VmRSS') };
}

/** Ticks of a hundredth of a second, with those of child processes that have ended. */
function cpuOf(pid: number | undefined): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return 10 * afterName.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}

function aliveness(child: ChildProcess): () => void {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2000);
  });
  return () => {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the service ended by itself: ${said}`);
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}
