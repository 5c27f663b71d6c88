import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { inspectCsv } from '../../outbox/csv/read.ts';
import type { Comparison, FileFacts, Imported } from '../../outbox/import/import.ts';
import { type Input, openInput } from '../../outbox/import/input.ts';
import type { Tally } from '../../outbox/import/intake.ts';
import type { Preview as Found } from '../../outbox/import/preview.ts';

/** How a person wants a file to be read. */
export interface ImportChoices {
  /** Field to header; null leaves the field out, a missing one is found by its name. */
  map: Record<string, string | null>;
  /** One board for all rows. */
  board: string | null;
  /** Old name to slug; null leaves the rows of that board out. */
  boardMap: Record<string, string | null>;
  acceptUnknownBoards: boolean;
}

/** What a dry run showed, or why the file could not be read like that. */
export type Preview =
  | { ok: true; choices: ImportChoices; facts: FileFacts; tally: Tally; found: Found }
  | { ok: false; choices: ImportChoices; problem: string };

/** A file that somebody has handed over, and how far they have come with it. */
export interface Upload {
  readonly id: string;
  readonly input: Input;
  readonly headers: string[];
  /** What the last dry run showed. */
  preview: Preview | null;
  /** The comparison with the mirror that the last dry run began. */
  comparison: Comparison | null;
  /** The import, once somebody asked for it; it fails or ends once. */
  committed: {
    choices: ImportChoices;
    batch: string;
    result: Imported | null;
    work: Promise<Imported>;
  } | null;
  usedAt: number;
}

export interface Uploads {
  take(source: AsyncIterable<Uint8Array>): Promise<Upload>;
  /** Refused in words where there is none, or none any more. */
  find(id: string): Upload;
  close(): Promise<void>;
}

export interface UploadOptions {
  /** Where files are kept; they have no name there, so whatever happens to this process, none is left behind. */
  folder: string;
  clock: Clock;
  limitBytes: number;
}

/** Since it was last asked about. */
const KEEP_MS = 3_600_000;
/** Each holds a file open. */
const MOST = 10;

export function openUploads({ folder, clock, limitBytes }: UploadOptions): Uploads {
  const uploads = new Map<string, Upload>();
  const drop = async (upload: Upload): Promise<void> => {
    uploads.delete(upload.id);
    upload.comparison?.stop();
    await upload.comparison?.ended;
    await upload.committed?.work.catch(() => undefined);
    await upload.input.close();
  };
  const tidy = async (room: number): Promise<void> => {
    const oldest = [...uploads.values()].sort((a, b) => a.usedAt - b.usedAt);
    const isOver = (upload: Upload, rank: number): boolean =>
      upload.usedAt <= clock.monotonic() - KEEP_MS || rank < oldest.length - MOST + room;
    await Promise.all(oldest.filter(isOver).map(drop));
  };
  // Nobody has to come by for an abandoned file to go.
  const timer = setInterval(() => void tidy(0).catch(() => undefined), KEEP_MS / 12).unref();

  return {
    async take(source) {
      await tidy(1);
      const input = await openInput({
        path: '-',
        stdin: () => limited(source, limitBytes),
        spoolIn: folder,
      });
      try {
        const { headers } = await inspectCsv(input.read());
        const upload = { id: randomUUID(), input, headers, preview: null, comparison: null, committed: null };
        const kept: Upload = { ...upload, usedAt: clock.monotonic() };
        uploads.set(kept.id, kept);
        return kept;
      } catch (error) {
        await input.close();
        throw error;
      }
    },
    find(id) {
      const upload = uploads.get(id);
      if (!upload || upload.usedAt <= clock.monotonic() - KEEP_MS) throw expired();
      upload.usedAt = clock.monotonic();
      return upload;
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...uploads.values()].map(drop));
    },
  };
}

/** A file that is too large is not read to its end. */
async function* limited(source: AsyncIterable<Uint8Array>, most: number) {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge(most);
    yield chunk;
  }
}

/** Told by its status, like what Fastify itself refuses. */
export function tooLarge(most: number): Error {
  const megabytes = Math.floor(most / 1024 / 1024);
  const detail = `The file is larger than ${megabytes} MB. Import it with "feedback-mirror import", which has no limit, or split it.`;
  return Object.assign(new Error(detail), { statusCode: 413 });
}

function expired(): AppError {
  return new AppError('usage', 'this file is no longer here: uploads are kept for an hour', {
    hint: 'Choose it again; nothing of it is imported twice.',
  });
}
