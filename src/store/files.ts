import { closeSync, openSync } from 'node:fs';

/**
 * Makes an empty file that only its owner can read, unless there is a file already. SQLite would make it with the rights of the
 * process's umask, and its -wal and -shm take theirs from it. An existing file is not opened, not even to look: closing it again
 * would drop every lock this process holds on it.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
