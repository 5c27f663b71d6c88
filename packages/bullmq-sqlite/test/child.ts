import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { Worker } from 'bullmq';
import { createSqliteBackend } from '../src/index.ts';

/** Locks short enough that a test can wait for them to run out. */
export const SHORT_LOCKS = { lockDuration: 1000, stalledInterval: 500 };

/** Another process with a worker on the queue `work`. It never ends a job called `endless`. */
export function startChild(t: TestContext, file: string) {
  const child = spawn(process.execPath, [import.meta.filename, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exit;
  };
  t.after(kill);
  return { kill, pid: child.pid, firstJob: once(createInterface(child.stdout), 'line') };
}

async function run(name: string): Promise<number> {
  process.stdout.write(`${name}\n`);
  if (name === 'endless') await new Promise(() => undefined);
  await new Promise((done) => setTimeout(done, 20));
  return process.pid;
}

if (process.argv[1] === import.meta.filename) {
  const connection = { file: process.argv[2] ?? '' };
  new Worker('work', ({ name }) => run(name), { connection, ...SHORT_LOCKS }, createSqliteBackend);
  process.stdin.on('end', () => process.exit()).resume();
}
