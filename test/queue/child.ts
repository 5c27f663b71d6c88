import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openTarget, type Target } from './target.ts';

/** Another process with a worker on the queue `work`, which takes one job and never ends it. */
export interface Child {
  /** Resolves when the job has begun there. */
  busy: Promise<void>;
  /** SIGKILL, and until it is gone. */
  kill(): Promise<void>;
}

/** Locks short enough that a test can wait for them to run out, and long enough for a machine that is busy. */
export const SHORT_LOCKS = { lockDuration: 1000, stalledInterval: 500 };

export function startChild(target: Target): Child {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(target)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const busy = once(createInterface(child.stdout), 'line').then(() => undefined);
  return {
    busy,
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function workForEver(target: Target): Promise<void> {
  const backend = await openTarget(target);
  backend.worker('work', () => new Promise(() => process.stdout.write('busy\n')), SHORT_LOCKS);
  process.stdin.on('end', () => process.exit()).resume();
}

if (process.argv[1] === import.meta.filename) await workForEver(JSON.parse(process.argv[2] ?? '') as Target);
