import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';

/** A path for a mirror in a folder of its own, gone after the test. */
export async function withPath<T>(use: (path: string) => T | Promise<T>): Promise<T> {
  const folder = temporaryFolder('file');
  try {
    return await use(join(folder, 'mirror.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
