import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LABORATORY } from '../../test/laboratory/main.ts';
import { end, guardOver, onFreePort, remove, run } from '../../test/support/launch.ts';

export interface SandboxProcess {
  readonly url: string;
  /** For the measured program: where the sandbox is, and its token. */
  readonly env: { FEEDBACK_BASE_URL: string; FEEDBACK_API_TOKEN: string };
  stop(): Promise<void>;
}

export interface SandboxSize {
  posts: number;
  /** How long it holds back every answer. */
  latencyMs?: number;
}

/** The sandbox in a process of its own, so that what it costs is not measured with the program that talks to it. */
export async function startSandboxProcess({ posts, latencyMs = 0 }: SandboxSize): Promise<SandboxProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'fm-bench-sandbox-'));
  const guard = guardOver(folder);
  const faults = latencyMs > 0 ? `latency ms=${latencyMs}` : '';
  const [child, port] = await onFreePort((free) => {
    const args = [LABORATORY, JSON.stringify({ port: free, posts, faults })];
    return run({ command: process.execPath, args, ready: /^http:.*\n/m }, folder);
  });
  guard.watch(child.pid);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    env: { FEEDBACK_BASE_URL: url, FEEDBACK_API_TOKEN: 'sandbox' },
    async stop() {
      await end(child, 'SIGTERM');
      guard.release();
      await remove(folder);
    },
  };
}
