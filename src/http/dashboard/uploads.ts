import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { makeFolder, replaceFile } from '../../base/files.ts';
import type { Question } from '../../outbox/import/csv/questions.ts';
import { type Inspection, inspectCsv } from '../../outbox/import/csv/read.ts';
import type { Encoding } from '../../outbox/import/csv/text.ts';
import type { Comparison, Imported } from '../../outbox/import/import.ts';
import { type Input, openFile } from '../../outbox/import/input.ts';
import type { Tally } from '../../outbox/import/intake.ts';
import type { Preview as Found } from '../../outbox/import/preview.ts';
import type { Estimate } from '../../outbox/send/estimate.ts';

/** How a person wants a file to be read and sent. */
export interface UploadChoices {
  /** Field to header; null leaves the field out, a missing one is found by its name. */
  map: Record<string, string | null>;
  board: string | null;
  /** Old name to slug; null leaves the rows of that board out. */
  boardMap: Record<string, string | null>;
  acceptUnknownBoards: boolean;
  /** Also rows whose state says that the work is over. */
  includeClosed: boolean;
  acceptRepeatedTitles: boolean;
  acceptStrippedKeys: boolean;
  /** Instead of the one that the bytes tell. */
  encoding: Encoding | null;
  perMinute: number | null;
  /** The text before the reference mark of its posts. Null if the setting decides. */
  mark: string | null;
}

export const NO_CHOICES: UploadChoices = {
  map: {},
  board: null,
  boardMap: {},
  acceptUnknownBoards: false,
  includeClosed: false,
  acceptRepeatedTitles: false,
  acceptStrippedKeys: false,
  encoding: null,
  perMinute: null,
  mark: null,
};

/** What a dry run showed, or why the file could not be read like that. What was recognised is there in both cases. */
export type UploadPreview = { choices: UploadChoices; columns: Inspection | null; questions: Question[] } & (
  | { ok: true; tally: Tally; found: Found; estimate: Estimate; lost: string | null }
  | { ok: false; problem: string }
);

export interface CommittedUpload {
  choices: UploadChoices;
  batch: string;
  /** Null until the last row is in the outbox. */
  result: Imported | null;
  /** It fails or ends once; null where the service was stopped in the middle and has not gone on yet. */
  work: Promise<Imported> | null;
}

export interface Upload {
  readonly id: string;
  readonly input: Input;
  readonly headers: string[];
  /** The choices of the last dry run. They are kept on disk. */
  choices: UploadChoices;
  /** What the last dry run showed; null after a restart, until it is asked for. */
  preview: UploadPreview | null;
  /** The comparison with the mirror, the columns that it compares, and the titles of rows that look like posts by their lines. */
  comparison: { as: string; running: Comparison; titles: Map<number, string> } | null;
  committed: CommittedUpload | null;
  usedAt: number;
}

interface UploadOptions {
  /** The folder of the files. People continue after a reload or a restart of the service. */
  folder: string;
  clock: Clock;
  limitBytes: number;
  onDrop(id: string): void;
}

/** How long a file is kept after the last request for it. */
const KEEP_MS = 24 * 3_600_000;
/** The most uploads. Each holds a file open. */
const MOST = 10;
/** How often it is noted on disk that a file is in use. */
const TOUCH_MS = 60_000;

type Saved = Pick<Upload, 'choices'> & { committed: Omit<CommittedUpload, 'work'> | null };

/** Files that were handed over, each with its choices beside it. */
export class Uploads {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #limitBytes: number;
  readonly #onDrop: (id: string) => void;
  readonly #open = new Map<string, Promise<Upload>>();
  readonly #timer: NodeJS.Timeout;

  constructor({ folder, clock, limitBytes, onDrop }: UploadOptions) {
    this.#folder = folder;
    this.#clock = clock;
    this.#limitBytes = limitBytes;
    this.#onDrop = onDrop;
    // An abandoned file goes although no request comes.
    this.#timer = setInterval(() => void this.#makeRoom(0).catch(() => undefined), KEEP_MS / 24).unref();
  }

  async take(source: AsyncIterable<Uint8Array>): Promise<Upload> {
    makeFolder(this.#folder);
    await this.#makeRoom(1);
    const id = randomUUID();
    try {
      await write(this.#pathOf(id, 'csv'), limited(source, this.#limitBytes));
      const upload = await this.#opened(id, { choices: NO_CHOICES, committed: null });
      await this.save(upload);
      this.#open.set(id, Promise.resolve(upload));
      return upload;
    } catch (error) {
      await this.#remove(id);
      throw error;
    }
  }

  async find(id: string): Promise<Upload> {
    // A name from outside must not lead anywhere else.
    if (!/^[0-9a-f-]{36}$/.test(id)) throw expired();
    const opening = this.#open.get(id) ?? this.#load(id);
    this.#open.set(id, opening);
    const upload = await opening.catch(() => {
      this.#open.delete(id);
      throw expired();
    });
    const age = this.#clock.monotonic() - upload.usedAt;
    if (age >= KEEP_MS) throw expired();
    if (age < TOUCH_MS) return upload;
    await utimes(this.#pathOf(id, 'json'), new Date(), new Date(this.#clock.now()));
    upload.usedAt = this.#clock.monotonic();
    return upload;
  }

  async save({ id, choices, committed }: Upload): Promise<void> {
    const { work: _, ...kept } = committed ?? { work: null };
    const saved = { choices, committed: committed && kept };
    await replaceFile(this.#pathOf(id, 'json'), (handle) => handle.writeFile(JSON.stringify(saved)));
  }

  /** Imports that were begun and not ended when the service stopped. */
  async interrupted(): Promise<Upload[]> {
    await this.#makeRoom(0);
    const all = await Promise.all((await this.#kept()).map(({ id }) => this.find(id).catch(() => null)));
    return all.flatMap((upload) => (upload?.committed && !upload.committed.result ? [upload] : []));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const open = await Promise.all([...this.#open.values()].map((each) => each.catch(() => null)));
    await Promise.all(open.map((upload) => upload && release(upload)));
  }

  #pathOf(id: string, kind: 'csv' | 'json'): string {
    return join(this.#folder, `${id}.${kind}`);
  }

  async #load(id: string): Promise<Upload> {
    const saved = JSON.parse(await readFile(this.#pathOf(id, 'json'), 'utf8')) as Saved;
    const { mtimeMs } = await stat(this.#pathOf(id, 'json'));
    if (this.#clock.now() - mtimeMs >= KEEP_MS) throw expired();
    return await this.#opened(id, saved);
  }

  async #opened(id: string, { choices, committed }: Saved): Promise<Upload> {
    const input = await openFile(this.#pathOf(id, 'csv'));
    try {
      const { headers } = await inspectCsv(input.read);
      const resumed = committed && { ...committed, work: null };
      const progress = { preview: null, comparison: null, committed: resumed };
      return { id, input, headers, choices, ...progress, usedAt: this.#clock.monotonic() };
    } catch (error) {
      await input.close();
      throw error;
    }
  }

  /** How long ago each file was last asked about, by the wall clock; the oldest first. */
  async #kept(): Promise<{ id: string; ageMs: number }[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const ids = names.flatMap((name) => (name.endsWith('.csv') ? [name.slice(0, -'.csv'.length)] : []));
    const ages = ids.map(async (id) => {
      const open = await this.#open.get(id)?.catch(() => null);
      if (open) return { id, ageMs: this.#clock.monotonic() - open.usedAt };
      const { mtimeMs } = await stat(this.#pathOf(id, 'json')).catch(() => ({ mtimeMs: 0 }));
      return { id, ageMs: Math.max(0, this.#clock.now() - mtimeMs) };
    });
    return (await Promise.all(ages)).sort((a, b) => b.ageMs - a.ageMs);
  }

  async #makeRoom(room: number): Promise<void> {
    const oldest = await this.#kept();
    const isOver = ({ ageMs }: { ageMs: number }, rank: number): boolean =>
      ageMs >= KEEP_MS || rank < oldest.length - MOST + room;
    await Promise.all(oldest.filter(isOver).map(({ id }) => this.#drop(id)));
  }

  async #drop(id: string): Promise<void> {
    const upload = await this.#open.get(id)?.catch(() => null);
    if (upload) await release(upload);
    await this.#remove(id);
  }

  async #remove(id: string): Promise<void> {
    this.#open.delete(id);
    this.#onDrop(id);
    for (const kind of ['csv', 'json'] as const) await rm(this.#pathOf(id, kind), { force: true });
  }
}

async function release(upload: Upload): Promise<void> {
  upload.comparison?.running.stop();
  await upload.comparison?.running.ended;
  await upload.committed?.work?.catch(() => undefined);
  await upload.input.close();
}

async function write(path: string, source: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of source) await handle.write(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
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

/** An error with a status, as Fastify throws it. */
export function tooLarge(most: number): Error {
  const megabytes = Math.floor(most / 1024 / 1024);
  const detail = `The file is larger than ${megabytes} MB. Import it with "feedback-mirror import", which has no limit, or split it.`;
  return Object.assign(new Error(detail), { statusCode: 413 });
}

function expired(): AppError {
  return new AppError('usage', 'this file is no longer here: uploads are kept for a day', {
    hint: 'Choose it again; nothing of it is imported twice.',
  });
}
