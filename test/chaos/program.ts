import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { ENTRY } from '../support/cli.ts';

/** One run of the real program. All it prints goes into files, where an invariant looks for what must not be there. */
export interface Program {
  child: ChildProcess;
  /** Null when a signal ended it. */
  ended: Promise<number | null>;
  stdout(): string;
  stderr(): string;
}

export interface Launching {
  cwd: string;
  env: Record<string, string>;
  /** Of the two files, without `.out` and `.err`. */
  log: string;
}

const running = new Set<ChildProcess>();
// A run that ends early must not leave services behind that go on for ever.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

export function launch(args: readonly string[], { cwd, env, log }: Launching): Program {
  const [out, err] = [`${log}.out`, `${log}.err`] as const;
  const files = [openSync(out, 'a', 0o600), openSync(err, 'a', 0o600)] as const;
  const child = spawn(process.execPath, [ENTRY, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', ...files],
  });
  for (const file of files) closeSync(file);
  running.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  return {
    child,
    ended,
    stdout: () => readFileSync(out, 'utf8'),
    stderr: () => readFileSync(err, 'utf8'),
  };
}
