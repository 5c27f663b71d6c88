import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, storageError } from '../../base/errors.ts';

/** A file to import: it can be read from the start as often as wanted. */
export interface Input {
  bytes: number;
  read(): AsyncIterable<Uint8Array>;
  /** Tells whether another path leads to this very file. */
  isSame(other: Pick<Stats, 'dev' | 'ino'>): boolean;
  close(): Promise<void>;
}

export interface InputOptions {
  /** A path, or `-` for standard input. */
  path: string;
  stdin: () => AsyncIterable<Uint8Array>;
  /** The folder for a copy of input that can be read only once. */
  spoolIn: string;
  /** Ends the reading of a pipe or a device, which may have no end of its own. */
  signal?: AbortSignal;
}

const CHUNK_BYTES = 256 * 1024;

export async function openInput({ path, stdin, spoolIn, signal }: InputOptions): Promise<Input> {
  if (path === '-') return await spooled(stdin(), spoolIn);
  const handle = await openPath(path);
  const stats = await handle.stat();
  if (stats.isFile()) return onDisk(handle, stats);
  if (stats.isDirectory()) {
    await handle.close();
    throw new AppError('usage', `${path} is a folder`, { hint: 'Give the path of a CSV file.' });
  }
  // A pipe, such as the shell's <(command).
  return await spooled(handle.createReadStream({ highWaterMark: CHUNK_BYTES }), spoolIn, signal);
}

/** A file that is known to be one. */
export async function openFile(path: string): Promise<Input> {
  const handle = await openPath(path);
  return onDisk(handle, await handle.stat());
}

async function openPath(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new AppError('usage', `there is no file ${path}`, {
        cause,
        hint: 'Give the path of a CSV file, or - for standard input.',
      });
    throw new AppError('usage', `${path} cannot be read (${code ?? 'unknown error'})`, { cause });
  }
}

/** All readings use one handle, so they read the same file even if its name changes. */
function onDisk(handle: FileHandle, { size, dev, ino }: Pick<Stats, 'size' | 'dev' | 'ino'>): Input {
  return {
    bytes: size,
    read: () => fromStart(handle),
    isSame: (other) => other.dev === dev && other.ino === ino,
    close: () => handle.close(),
  };
}

/** Node's own stream closes the handle when it is left before its end, and another reading may use that handle. */
async function* fromStart(handle: FileHandle): AsyncGenerator<Uint8Array, void, undefined> {
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await handle.read(
      Buffer.allocUnsafe(CHUNK_BYTES),
      0,
      CHUNK_BYTES,
      position,
    );
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The file has no name from the start, so that no copy of people's words is left behind however the process ends. */
async function spooled(
  source: AsyncIterable<Uint8Array>,
  folder: string,
  signal?: AbortSignal,
): Promise<Input> {
  const path = join(folder, `.spool-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    for await (const chunk of source) {
      signal?.throwIfAborted();
      await handle.write(chunk).catch((error) => {
        // The unlinked file has no path. The folder says which disk is full.
        throw storageError(error, folder) ?? error;
      });
    }
    return onDisk(handle, await handle.stat());
  } catch (error) {
    await handle.close();
    throw error;
  }
}
