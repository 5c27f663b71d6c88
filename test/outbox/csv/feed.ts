import assert from 'node:assert/strict';
import { AppError } from '../../../src/base/errors.ts';
import type { Question } from '../../../src/outbox/import/csv/questions.ts';
import { openCsv } from '../../../src/outbox/import/csv/read.ts';
import type { CsvFile, CsvRow, ReadOptions } from '../../../src/outbox/import/csv/rows.ts';
import type { Source } from '../../../src/outbox/import/csv/text.ts';

export type Read = Omit<CsvFile, 'rows'> & { rows: CsvRow[] };

export function inChunks(bytes: Uint8Array, size: number): Source {
  return async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
}

export async function readChunked(
  bytes: Uint8Array,
  options: ReadOptions = {},
  size = 64 * 1024,
): Promise<Read> {
  const { rows: batches, ...file } = await openCsv(inChunks(bytes, size), options);
  const rows: CsvRow[] = [];
  for await (const batch of batches) rows.push(...batch);
  return { ...file, rows };
}

/** Reads the same bytes whole and in small chunks: what comes out must not depend on it. */
export async function read(content: string | Uint8Array, options: ReadOptions = {}): Promise<Read> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const whole = await readChunked(bytes, options);
  assert.deepEqual(await readChunked(bytes, options, smallChunk(bytes)), whole);
  return whole;
}

/** The smaller the file, the smaller the chunk: byte by byte, large files took seconds. `property.test.ts` tries all sizes. */
function smallChunk({ length }: Uint8Array): number {
  if (length < 500) return 1;
  return length < 20_000 ? 7 : 4_093;
}

export async function refusal(content: string | Uint8Array, options: ReadOptions = {}): Promise<AppError> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const errors: AppError[] = [];
  for (const size of [64 * 1024, smallChunk(bytes)]) {
    await assert.rejects(readChunked(bytes, options, size), (error) => {
      assert.ok(error instanceof AppError, String(error));
      assert.equal(error.code, 'usage');
      errors.push(error);
      return true;
    });
  }
  const [first] = errors;
  assert.ok(first);
  for (const error of errors) assert.deepEqual([error.message, error.hint], [first.message, first.hint]);
  return first;
}

export function reasonOf(row: CsvRow | undefined): string {
  assert.ok(row && !row.ok, 'expected a refused row');
  return row.reason;
}

export function accepted(row: CsvRow | undefined): Extract<CsvRow, { ok: true }> {
  assert.ok(row?.ok, 'expected an accepted row');
  return row;
}

/** `[line, 'ok']` or `[line, reason]`: a whole file at a glance. */
export function outcomes(file: Read): [number, string][] {
  return file.rows.map((row) => [row.line, row.ok ? 'ok' : row.reason]);
}

/** The columns that a question about columns proposes. */
export function proposalsOf(question: Question | undefined): string[] {
  return (
    question?.answers.flatMap(({ choice }) =>
      Object.values(choice.map ?? {}).filter((name) => name !== null),
    ) ?? []
  );
}
