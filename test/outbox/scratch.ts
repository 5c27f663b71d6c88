import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder, in memory where the machine can: every commit of the outbox is flushed, and here nobody pulls the plug. */
export function scratchFolder(name: string): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `feedback-mirror-${name}-`));
}
