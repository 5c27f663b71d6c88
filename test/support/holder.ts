import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Resource } from '../../src/contract/endpoints.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';

/** Another process that holds the lock of a resource. */
export interface Holder {
  pid: number;
  send(signal: NodeJS.Signals): void;
  /** SIGKILL, and until it is gone. */
  kill(): Promise<void>;
}

export interface Hold {
  path: string;
  upstream: string;
  resource: Resource;
}

/** Starts this file as a process that takes the lock and keeps it until its end, or ours. */
export async function holdLock(hold: Hold): Promise<Holder> {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(hold)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const [said] = await Promise.race([once(child.stdout, 'data'), exit]);
  if (String(said) !== 'held\n') throw new Error(`the lock was not taken: ${said}`);
  return {
    pid: child.pid ?? 0,
    send: (signal) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function hold({ resource, ...options }: Hold): Promise<void> {
  const store = openMirrorStore({ ...options, holder: `process ${process.pid} (a test)` });
  const lock = await store.lock(resource);
  process.stdout.write(lock.ok ? 'held\n' : lock.holder);
  process.stdin.resume();
}

if (process.argv[1] === import.meta.filename) await hold(JSON.parse(process.argv[2] ?? '') as Hold);
