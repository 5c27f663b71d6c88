import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openCsv } from '../../src/outbox/import/csv/read.ts';
import { hasKeys, type ReadOptions } from '../../src/outbox/import/csv/rows.ts';
import { dryRun, type ImportChoices, outboxSink } from '../../src/outbox/import/import.ts';
import type { Input } from '../../src/outbox/import/input.ts';
import { intake, type Tally } from '../../src/outbox/import/intake.ts';
import type { Preview } from '../../src/outbox/import/preview.ts';
import { type ImportReads, openImportReads } from '../../src/outbox/store/imports.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';
import { type Bench, benchFor } from './bench.ts';
import { inChunks } from './csv/feed.ts';

export interface ImportBench extends Bench {
  reads: ImportReads;
  /** Imports a text; `store` stands in for one that fails. */
  take(text: string, options?: TakeOptions): Promise<Tally & { openBatches: string[] }>;
  dryRun(text: string, choices?: Partial<ImportChoices>): Promise<Tally & { preview: Preview }>;
  /** Source keys of the outbox, sorted. */
  keys(): string[];
}

export interface TakeOptions extends ReadOptions {
  batch?: string;
  store?: Pick<OutboxStore, 'accept'>;
  rowsAtOnce?: number;
  skipLines?: ReadonlySet<number>;
}

export function importBenchFor(t: TestContext): ImportBench {
  const bench = benchFor(t);
  const reads = openImportReads({ path: bench.path, upstream: 'http://upstream.test' });
  assert.ok(reads);
  t.after(() => reads.close());
  const file = (text: string, options: ReadOptions) => openCsv(inChunks(Buffer.from(text), 50), options);
  return {
    ...bench,
    reads,
    async take(text, { batch = 'one', store = bench.store, rowsAtOnce, skipLines, ...options } = {}) {
      const sink = outboxSink(store, reads, bench.clock);
      const opened = await file(text, options);
      const taking = { batch, sink, rowsAtOnce, skipLines, hasKeys: hasKeys(opened) };
      const tally = await intake(opened.rows, taking);
      return { ...tally, openBatches: [...sink.openBatches] };
    },
    async dryRun(text, choices = {}) {
      const request = { ...QUIET, ...PLAIN, ...choices, input: inputOf(text) };
      const { tally, preview } = await dryRun({ reads }, request);
      return { ...tally, preview };
    },
    keys: () =>
      bench
        .query<{ source_key: string }>('SELECT source_key FROM outbox ORDER BY source_key')
        .map(({ source_key }) => source_key),
  };
}

export const QUIET = {
  signal: new AbortController().signal,
  onFile: () => {},
  onBytes: () => {},
  onRows: () => {},
};

export const PLAIN: ImportChoices = { map: {}, boards: { map: {}, acceptUnknown: false } };

export function inputOf(text: string): Input {
  const bytes = Buffer.from(text);
  return { bytes: bytes.length, read: inChunks(bytes, 50), isSame: () => false, close: async () => {} };
}

export function counts({ rows, accepted, already, refused }: Tally): number[] {
  return [rows, accepted, already, refused];
}
