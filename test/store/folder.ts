import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A path for a mirror in a folder of its own, gone after the test. */
export async function withPath<T>(use: (path: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'feedback-mirror-file-'));
  try {
    return await use(join(folder, 'mirror.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
