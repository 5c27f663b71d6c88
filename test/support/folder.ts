import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** In memory where the machine can: most of what is written here is flushed at each commit, and nobody pulls the plug of a test. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A new folder, for whoever removes it. */
export function temporaryFolder(name: string): string {
  return mkdtempSync(join(ROOT, `feedback-mirror-${name}-`));
}

export function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 10 });
}

/**
 * A new folder that is removed when the test ends. Hooks run in the order in which they were registered, but one that a hook registers
 * runs after all others: by then whoever uses the folder is closed.
 */
export function folderFor(t: TestContext, name: string): string {
  const path = temporaryFolder(name);
  t.after(() => t.after(() => removeFolder(path)));
  return path;
}
