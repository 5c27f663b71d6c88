import type { Clock } from '../../base/clock.ts';
import type { ImportReads } from '../../store/outbox/import-reads.ts';
import type { Scratch } from '../../store/outbox/scratch.ts';
import type { OutboxStore } from '../../store/outbox/store.ts';
import type { CsvFile } from '../csv/csv-file.ts';
import { openCsv } from '../csv/read.ts';
import { outboxDoor } from './accept.ts';
import { dryDoor } from './dry-run.ts';
import type { Input } from './input.ts';
import { type Door, intake } from './intake.ts';
import { forecast, type Outlook } from './outlook.ts';
import { writeResults } from './results.ts';
import type { Tally } from './tally.ts';

/** How the file was read. */
export type FileFacts = Pick<CsvFile, 'encoding' | 'delimiter' | 'mapping' | 'ignored'>;

export interface ImportRequest {
  input: Input;
  map: Readonly<Record<string, string | null>>;
  board: string | undefined;
  signal: AbortSignal;
  /** Before the first row is taken. */
  onFile(facts: FileFacts): void;
  onBytes(bytes: number): void;
  onRows(rows: number): void;
}

export interface Imported {
  tally: Tally;
  /** Every batch that holds rows of this file which are on their way: earlier ones first, then that of this import. */
  batches: string[];
}

/** The rows of a file into the outbox. Whatever stops it, a second run of the same file goes on where it ended. */
export async function importFile(
  { store, reads, clock }: { store: OutboxStore; reads: ImportReads; clock: Clock },
  batch: string,
  request: ImportRequest,
): Promise<Imported> {
  const door = outboxDoor(store, reads, clock);
  const tally = await readInto(door, batch, request);
  const batches = new Set([...door.openBatches, ...(tally.accepted > 0 ? [batch] : [])]);
  return { tally, batches: [...batches] };
}

/** The same, up to the commit: what would happen, and what there is to know about it. */
export async function rehearse(
  {
    reads,
    scratch,
    clock,
    searchMs,
  }: { reads: ImportReads | null; scratch: Scratch; clock: Clock; searchMs?: number },
  request: ImportRequest,
): Promise<{ tally: Tally; outlook: Outlook }> {
  const prospect = await forecast(reads, scratch, clock, searchMs);
  const tally = await readInto(dryDoor(reads, scratch, prospect), 'dry-run', request);
  return { tally, outlook: prospect.outlook };
}

async function readInto(door: Door, batch: string, request: ImportRequest): Promise<Tally> {
  const { input, map, board, signal, onFile, onBytes, onRows } = request;
  const file = await openCsv(input.read(), { map, board, signal, onProgress: onBytes });
  const { encoding, delimiter, mapping, ignored } = file;
  onFile({ encoding, delimiter, mapping, ignored });
  return await intake(file.rows, { batch, door, onRows });
}

/** Rewrites the results file at most every so often, and less often where that takes long. */
export function resultsRefresher(
  path: string,
  { input, map, board }: Pick<ImportRequest, 'input' | 'map' | 'board'>,
  reads: ImportReads,
  clock: Clock,
): { refresh(): Promise<void>; write(): Promise<void> } {
  let notBefore = 0;
  const write = async (): Promise<void> => {
    const began = clock.now();
    await writeResults(path, await openCsv(input.read(), { map, board }), reads);
    const ended = clock.now();
    notBefore = ended + Math.max(REFRESH_MS, (ended - began) * WRITING_SHARE);
  };
  return { write, refresh: async () => (clock.now() < notBefore ? undefined : await write()) };
}

const REFRESH_MS = 2000;
/** A file of a million rows takes seconds to write: it gets a twentieth of the time. */
const WRITING_SHARE = 20;
