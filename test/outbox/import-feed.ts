import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openCsv, type ReadOptions } from '../../src/outbox/csv/read.ts';
import { outboxDoor } from '../../src/outbox/import/accept.ts';
import { dryDoor } from '../../src/outbox/import/dry-run.ts';
import { intake } from '../../src/outbox/import/intake.ts';
import { forecast, type Outlook } from '../../src/outbox/import/outlook.ts';
import type { Tally } from '../../src/outbox/import/tally.ts';
import { type ImportReads, openImportReads } from '../../src/store/outbox/import-reads.ts';
import { openScratch } from '../../src/store/outbox/scratch.ts';
import type { OutboxStore } from '../../src/store/outbox/store.ts';
import { type Bench, benchFor } from './bench.ts';
import { inChunks } from './csv/feed.ts';

export interface ImportBench extends Bench {
  reads: ImportReads;
  /** Imports a text; `store` stands in for one that fails. */
  take(text: string, options?: TakeOptions): Promise<Tally & { openBatches: string[] }>;
  rehearse(text: string, options?: ReadOptions): Promise<Tally & { outlook: Outlook }>;
  /** Source keys of the outbox, sorted. */
  keys(): string[];
}

export interface TakeOptions extends ReadOptions {
  batch?: string;
  store?: Pick<OutboxStore, 'accept'>;
  rowsAtOnce?: number;
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
    async take(text, { batch = 'one', store = bench.store, rowsAtOnce, ...options } = {}) {
      const door = outboxDoor(store, reads, bench.clock);
      const tally = await intake((await file(text, options)).rows, { batch, door, rowsAtOnce });
      return { ...tally, openBatches: [...door.openBatches] };
    },
    async rehearse(text, options = {}) {
      const scratch = openScratch();
      try {
        const prospect = await forecast(reads, scratch, bench.clock);
        const door = dryDoor(reads, scratch, prospect);
        const tally = await intake((await file(text, options)).rows, { batch: 'dry', door });
        return { ...tally, outlook: prospect.outlook };
      } finally {
        await scratch.close();
      }
    },
    keys: () =>
      bench
        .query<{ source_key: string }>('SELECT source_key FROM outbox ORDER BY source_key')
        .map(({ source_key }) => source_key),
  };
}

export function counts({ rows, accepted, already, refused }: Tally): number[] {
  return [rows, accepted, already, refused];
}
