import { open, rm } from 'node:fs/promises';
import { AppError, messageOf } from '../base/errors.ts';

/** What PostgreSQL takes at once when its log grows: with less free space a database that was opened breaks down at its next job. */
const SEGMENT = 16 * 1024 * 1024;

/** Fails unless a file beside the folder can be written, at a given place as the database does it, and be kept. */
export async function probeDisk(folder: string): Promise<void> {
  const path = `${folder}.probe`;
  try {
    await writeThrough(path);
  } catch (error) {
    throw new AppError('unreachable', `nothing can be written beside ${folder} (${messageOf(error)})`, {
      cause: error,
      hint: 'Free some space there; the queue goes on by itself.',
    });
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

async function writeThrough(path: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    const { bytesWritten } = await file.write(Buffer.alloc(SEGMENT), 0, SEGMENT, 0);
    // The system says so only to those who write again.
    if (bytesWritten < SEGMENT) throw new Error(`the disk is full after ${bytesWritten} bytes`);
    await file.sync();
  } finally {
    await file.close();
  }
}
