import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, Socket } from 'node:net';

export interface Launch {
  command: string;
  args: string[];
  /** What it prints once it takes connections. */
  ready: RegExp;
  /** Instead of the environment of this process. */
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
}

/** Between finding a free port and using it another process may take it: then with another one. */
export async function onFreePort(
  launch: (port: number) => Promise<ChildProcess>,
): Promise<[ChildProcess, number]> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return [await launch(port), port];
    } catch (error) {
      if (attempt === 3 || !/in use/i.test(String(error))) throw error;
    }
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  return address.port;
}

/** Resolves when the server takes connections, rejects with what it printed when it ends before that. */
export function run({ command, args, ready, ...options }: Launch, folder: string): Promise<ChildProcess> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  return new Promise((resolve, reject) => {
    let output = '';
    const onExit = (): void => reject(new Error(`${command} did not start: ${output.slice(-2000)}`));
    child.once('error', reject);
    child.once('exit', onExit);
    const onOutput = (chunk: Buffer): void => {
      if (output.length < 100_000) output += chunk.toString();
      if (!ready.test(output)) return;
      child.off('exit', onExit);
      for (const stream of [child.stdout, child.stderr]) stream.off('data', onOutput);
      letGo(child);
      resolve(child);
    };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', onOutput);
  });
}

/** A test that forgot to stop its server ends all the same; the guard takes care of the server. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.resume().unref();
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

export function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

/**
 * A shell that waits on a pipe from this process. However this process dies, the pipe closes, and the server and its folder go too;
 * an exit handler would miss the SIGKILL of a test runner's time limit.
 */
export function guardOver(folder: string): { watch(pid: number | undefined): void; release(): void } {
  const script =
    'last=0; while read -r pid; do last=$pid; done; test $last -gt 0 && kill -9 $last; rm -rf "$1"';
  const shell = spawn('/bin/sh', ['-c', script, 'guard', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  // Told of a server after it was released: nothing to watch any more.
  shell.stdin.on('error', () => undefined);
  return {
    watch: (pid = 0) => void shell.stdin.write(`${pid}\n`),
    release: () => void shell.kill('SIGKILL'),
  };
}
