import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { AppError, storageError } from '../../base/errors.ts';
import { temporaryName } from '../../base/files.ts';
import { createLine } from '../../base/line.ts';
import { durationText } from '../../text/text.ts';

/** Files that clients may be reading at a time, each of which takes room on the disk, and how long one may take over its file. */
const AT_ONCE = 4;
const MOST_MS = 600_000;

export type Spool = (reply: FastifyReply, text: AsyncIterable<string>) => Promise<Readable>;

/**
 * A file between what makes a download and the client that reads it. However slowly the client reads, what made it is done: a statement has
 * given back its place, and the write-ahead log can be emptied. The file has no name, and is gone when the client is.
 */
export function spoolIn(folder: string, mostMs = MOST_MS): Spool {
  const line = createLine(AT_ONCE, 0, tooManyFiles);
  return async ({ raw }, text) => {
    await line.enter();
    const timer = setTimeout(() => raw.destroy(), mostMs).unref();
    const end = (): void => {
      line.leave();
      clearTimeout(timer);
    };
    if (raw.closed) end();
    else raw.once('close', end);
    const file = await openNameless(join(folder, 'answer.csv'));
    try {
      for await (const piece of text) await file.write(piece);
      return file.createReadStream({ start: 0 });
    } catch (error) {
      await file.close();
      throw storageError(error, folder) ?? error;
    }
  };
}

async function openNameless(path: string): Promise<FileHandle> {
  const name = temporaryName(path);
  const file = await open(name, 'wx+', 0o600);
  await rm(name);
  return file;
}

function tooManyFiles(): AppError {
  const limit = `${AT_ONCE} files are being downloaded already`;
  return new AppError('busy', limit, {
    hint: `Try again later; each takes ${durationText(MOST_MS)} at most.`,
  });
}
