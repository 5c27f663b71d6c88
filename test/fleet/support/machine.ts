import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked } from '../../../src/db/lock.ts';
import { type CliResult, runProgram, spawnCli } from '../../support/cli.ts';
import { LONG_RUN_MS, until } from '../../support/until.ts';
import { type Cable, startProxy } from './proxy.ts';

/** One machine of a fleet: a process with a folder of its own, with a cable to PostgreSQL that can be pulled. */
export interface TestMachine {
  name: string;
  folder: string;
  postgres: Cable;
  start(): Promise<void>;
  url(): string;
  child(): ChildProcess;
  said(): string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
  run(args: string[]): Promise<CliResult>;
  /** Sources that this machine says are ready, and for which it accepts posts. */
  ready(): Promise<string[]>;
  close(): Promise<void>;
}

export interface MachineOptions {
  name: string;
  folder: string;
  /** Of PostgreSQL. */
  port: number;
  /** The address of each source: the same on every machine, as a copy belongs to one address. */
  sources: ReadonlyMap<string, string>;
  /** Further lines of a source. */
  lines?: string;
  token?: string;
}

export async function testMachine({
  name,
  folder,
  port,
  sources,
  lines = '',
  token = 'sandbox',
}: MachineOptions): Promise<TestMachine> {
  mkdirSync(folder, { recursive: true });
  const postgres = await startProxy(port);
  const yaml = [...sources].map(
    ([source, url]) => `  ${source}:
    base_url: ${url}
    token: ${token}
${lines}`,
  );
  writeFileSync(join(folder, 'sources.yaml'), `sources:\n${yaml.join('')}`);
  const env = {
    FLEET_URL: `postgres://postgres@127.0.0.1:${postgres.port}/postgres`,
    FLEET_MACHINE: name,
    HTTP_PORT: '0',
    LOG_FORMAT: 'json',
  };
  let child: ChildProcess;
  let said = '';
  let url = '';
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    child.kill(signal);
    return ended;
  };
  return {
    name,
    folder,
    postgres,
    url: () => url,
    child: () => child,
    said: () => said,
    async start() {
      const begun = said.length;
      const started = spawnCli(['start'], { cwd: folder, env, lifetimeMs: 4 * 3_600_000 });
      child = started;
      started.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      started.stdin.end();
      const line = /Dashboard: (\S+)\/\n/;
      const hasBegun = (): boolean => line.test(said.slice(begun)) || started.exitCode !== null;
      await until('the machine listens', hasBegun, LONG_RUN_MS);
      url = line.exec(said.slice(begun))?.[1] ?? '';
      if (url === '') throw new Error(said.slice(begun));
    },
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
    // Thousands of rows on a busy machine take longer than a command of a test may.
    run: (args) => runProgram(args, { cwd: folder, env }),
    async ready() {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3000) }).catch(() => null);
      const body = (await answer?.json().catch(() => null)) as { sources?: Record<string, boolean> } | null;
      const ready = Object.entries(body?.sources ?? {}).flatMap(([source, isReady]) =>
        isReady ? [source] : [],
      );
      return ready.filter((source) => isLocked(join(folder, 'data', source, 'lease.lock')));
    },
    async close() {
      child?.kill('SIGKILL');
      await postgres.close();
    },
  };
}
