import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { type Sandbox, type SandboxOptions, startSandbox } from '../laboratory/server.ts';
import { type CliResult, runCli, spawnCli } from './cli.ts';
import { folderFor } from './folder.ts';

/** Never to be seen in anything the program prints. */
export const CANARY = 'cAnary-t0ken-5d1e';

/** A sandbox in this process, and a folder in which the program runs against it as a person would run it. */
export interface Site {
  sandbox: Sandbox;
  folder: string;
  mirror: string;
  env: Record<string, string>;
  /** Runs to the end; whatever it prints is searched for the token. */
  run(args: string[], env?: Record<string, string>): Promise<CliResult>;
  start(args: string[], env?: Record<string, string>): Running;
}

export interface Running {
  child: ChildProcessWithoutNullStreams;
  /** What it has printed for the person so far. */
  said(): string;
  end: Promise<CliResult>;
}

export async function openSite(t: TestContext, options: SandboxOptions = {}): Promise<Site> {
  const tokens = [{ token: CANARY, email: 'owner@example.com', name: 'Owner' }];
  const sandbox = await startSandbox({ posts: 30, pageSize: 5, tokens, ...options });
  const folder = folderFor(t, 'site');
  t.after(async () => {
    await sandbox.close();
  });
  const env = { FEEDBACK_BASE_URL: sandbox.url, FEEDBACK_API_TOKEN: CANARY };
  return {
    sandbox,
    folder,
    mirror: join(folder, 'data/mirror.db'),
    env,
    async run(args, extra = {}) {
      const result = await runCli(args, { cwd: folder, env: { ...env, ...extra } });
      return withoutToken(result);
    },
    start: (args, extra = {}) => running(t, spawnCli(args, { cwd: folder, env: { ...env, ...extra } })),
  };
}

function withoutToken(result: CliResult): CliResult {
  for (const output of [result.stdout, result.stderr]) {
    for (const spelling of [CANARY, Buffer.from(CANARY).toString('base64')])
      assert.ok(!output.includes(spelling), `the token was printed:\n${output}`);
  }
  return result;
}

export function running(t: TestContext, child: ChildProcessWithoutNullStreams): Running {
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stdin.end();
  const end = Promise.all([text(child.stdout), once(child, 'close')]).then(([stdout, [code]]) =>
    withoutToken({ code: code as number | null, stdout, stderr: said }),
  );
  return { child, said: () => said, end };
}
