import type { TestContext } from 'node:test';
import type { SandboxOptions } from '../../laboratory/server.ts';
import { type Sandbox, startSandbox } from '../../laboratory/server.ts';
import { CANARY } from './upstream.ts';

/** The sandbox, with our canary as the only token, closed after the test. */
export async function sandboxOf(t: TestContext, options: SandboxOptions = {}): Promise<Sandbox> {
  const tokens = [{ token: CANARY, email: 'owner@example.com', name: 'Owner' }];
  const sandbox = await startSandbox({ posts: 28, pageSize: 5, authParam: 'key', tokens, ...options });
  t.after(() => sandbox.close());
  return sandbox;
}

export const draftFor = (sandbox: Sandbox) => ({
  board: sandbox.world.boards()[0]?.slug ?? '',
  title: 'A wish from a test',
  content: 'Some content',
});
