import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Sandbox, type SandboxOptions, startSandbox } from '../laboratory/server.ts';
import { type CliResult, runCli, spawnCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { until } from '../support/until.ts';

export interface Place {
  folder: string;
  sandboxes: Record<string, Sandbox>;
  run(args: string[], env?: Record<string, string>): Promise<CliResult>;
  /** Writes `sources.yaml`: of these sources, each with more lines where they are given. */
  write(names: readonly string[], more?: Record<string, string>): void;
}

export const tokenOf = (name: string): string => `token-of-${name}`;

/** A folder with `sources.yaml`, and a sandbox for each source. */
export async function place(t: TestContext, sources: Record<string, SandboxOptions>): Promise<Place> {
  const sandboxes: Record<string, Sandbox> = {};
  for (const [name, options] of Object.entries(sources)) {
    const tokens = [{ token: tokenOf(name), email: 'owner@example.com', name: 'Owner' }];
    const sandbox = await startSandbox({ tokens, ...options });
    t.after(() => sandbox.close());
    sandboxes[name] = sandbox;
  }
  const folder = folderFor(t, 'sources');
  const write: Place['write'] = (names, more = {}) => {
    const lines = names.map(
      (name) =>
        `  ${name}:\n    base_url: ${sandboxes[name]?.url}\n    token: ${tokenOf(name)}\n${more[name] ?? ''}`,
    );
    writeFileSync(join(folder, 'sources.yaml'), `sources:\n${lines.join('')}`);
  };
  write(Object.keys(sources));
  return { folder, sandboxes, write, run: (args, env = {}) => runCli(args, { cwd: folder, env }) };
}

export interface Started {
  url: string;
  said(): string;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<number | null>;
  json(path: string): Promise<{ status: number; body: Record<string, unknown> }>;
}

/** The service of all sources, ended with the test. */
export async function start(
  t: TestContext,
  { folder }: Pick<Place, 'folder'>,
  env: Record<string, string> = {},
): Promise<Started> {
  const child = spawnCli(['start'], { cwd: folder, env: { HTTP_PORT: '0', LOG_FORMAT: 'json', ...env } });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await until('the service listens', () => /Dashboard: \S+\/\n/.test(said) || child.exitCode !== null);
  const [, url = ''] = /Dashboard: (\S+)\/\n/.exec(said) ?? [];
  if (url === '') throw new Error(said);
  return {
    url,
    said: () => said,
    signal: (name) => void child.kill(name),
    async stop() {
      child.kill('SIGTERM');
      return await ended;
    },
    async json(path) {
      const response = await fetch(url + path);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
  };
}

/** Which sources are ready. */
export async function states(service: Started): Promise<Record<string, boolean>> {
  const { body } = await service.json('/readyz');
  return body.sources as Record<string, boolean>;
}

export async function untilReady(service: Started, names: readonly string[]): Promise<void> {
  await until('all sources are ready', async () => {
    const found = await states(service);
    return Object.keys(found).join() === names.join() && Object.values(found).every(Boolean);
  });
}
