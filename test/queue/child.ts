import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openTarget, type Target } from './target.ts';

/** Another process with a worker on the queue `work`. */
export interface Child {
  /** Resolves when its first job has begun there. */
  busy: Promise<void>;
  /** SIGKILL, and until it is gone. */
  kill(): Promise<void>;
}

/** Locks short enough that a test can wait for them to run out, and long enough for a machine that is busy. */
export const SHORT_LOCKS = { lockDuration: 1000, stalledInterval: 500 };

/** For a worker that must be told of a job: the poll that finds it all the same comes after all patience. */
export const SELDOM_POLLS = { drainDelay: 600 };

/** `never` for a child that never ends the job it takes; `pid` for one that ends each with its process id, after one of its own. */
type Way = 'never' | 'pid';

export function startChild(target: Target, way: Way = 'never'): Child {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(target), way], {
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

async function workForEver(target: Target, way: Way): Promise<void> {
  const backend = await openTarget(target);
  const busy = (): void => void process.stdout.write('busy\n');
  const end = (done: (pid: number) => void): void => void setTimeout(() => done(process.pid), 20);
  const run = way === 'never' ? () => busy() : (done: (pid: number) => void) => [busy(), end(done)];
  backend.worker('work', () => new Promise(run), { ...SHORT_LOCKS, ...SELDOM_POLLS });
  if (way === 'pid') await backend.queue('work').add('own', {});
  process.stdin.on('end', () => process.exit()).resume();
}

if (process.argv[1] === import.meta.filename)
  await workForEver(JSON.parse(process.argv[2] ?? '') as Target, process.argv[3] as Way);
