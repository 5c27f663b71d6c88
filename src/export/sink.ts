import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { storageError } from '../base/errors.ts';

interface Written {
  bytes: number;
  sha256: string;
}

/** Where a file's bytes go. Each `write` gives the event loop a turn. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves once everything is on disk, or handed over. */
  finish(): Promise<Written>;
  /** After a failure: closed, whatever was written. */
  abandon(): Promise<void>;
}

/** A new file, readable by its owner only, on its way to be `path`. While a piece is being written the next one can be made. */
export async function fileSink(temporary: string, path: string): Promise<ByteSink> {
  const handle = await explained(path, open(temporary, 'wx', 0o600));
  const counter = counting();
  let writing: Promise<void> = Promise.resolve();
  return {
    async write(bytes) {
      await explained(path, writing);
      counter.add(bytes);
      writing = writeAll(handle, bytes);
      // It is waited for before the next piece; until then a failure must not count as unhandled.
      writing.catch(() => undefined);
    },
    async finish() {
      await explained(path, writing);
      await explained(path, handle.sync());
      await handle.close();
      return counter.written();
    },
    async abandon() {
      await writing.catch(() => undefined);
      await handle.close().catch(() => undefined);
    },
  };
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
  // An empty piece is a turn for others too: a filter can let nothing through for a long time.
  if (bytes.length === 0) await new Promise(setImmediate);
}

/** A stream that is not ours to close, such as standard output. */
export function streamSink(stream: Writable, signal: AbortSignal): ByteSink {
  const counter = counting();
  return {
    async write(bytes) {
      counter.add(bytes);
      if (stream.write(bytes)) await new Promise(setImmediate);
      else await once(stream, 'drain', { signal });
    },
    finish: async () => counter.written(),
    abandon: async () => undefined,
  };
}

function counting(): { add(bytes: Uint8Array): void; written(): Written } {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    add(piece) {
      hash.update(piece);
      bytes += piece.length;
    },
    written: () => ({ bytes, sha256: hash.digest('hex') }),
  };
}

/** A disk that refuses the file is told with the file's final name. */
async function explained<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw storageError(error, path) ?? error;
  }
}
