import type { TestContext } from 'node:test';
import { type Sandbox, type SandboxOptions, startSandbox } from './server.ts';

export * from '../sandbox/client.ts';

/** A sandbox of the laboratory that is closed when the test ends. Small, unless the test says otherwise. */
export async function open(t: TestContext, options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ posts: 12, ...options });
  t.after(() => sandbox.close());
  return sandbox;
}
