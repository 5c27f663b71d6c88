import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A full disk for one process: no file of it may grow beyond so many bytes. What is smaller, as locks are, still works. */
export async function limitFiles(pid: number | undefined, bytes: number | 'unlimited'): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}
