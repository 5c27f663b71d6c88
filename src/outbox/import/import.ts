import type { Clock } from '../../base/clock.ts';
import { crashPoint } from '../../base/crash.ts';
import { messageOf } from '../../base/errors.ts';
import type { OpenOptions } from '../../store/db.ts';
import { type ImportReads, openScratch, type Scratch } from '../../store/outbox/imports.ts';
import type { OutboxStore } from '../../store/outbox/store.ts';
import type { Acceptance, NewRow } from '../../store/outbox/types.ts';
import { SUPPRESSED } from '../../store/suppression/list.ts';
import { openCsv } from '../csv/read.ts';
import { type CsvFile, hasKeys, type ReadOptions } from '../csv/rows.ts';
import { FINAL_STATES } from '../decide/states.ts';
import { contentAsSent, type Marking, markExample } from '../mark.ts';
import {
  type BoardChoices,
  type BoardChooser,
  boardChooser,
  refuseUnknownBoards,
  type UnknownBoards,
  unknownBoards,
} from './boards.ts';
import { type Duplicate, type DuplicateSearch, type Duplicates, openDuplicateSearch } from './duplicates.ts';
import type { Input } from './input.ts';
import { intake, type Sink, type Tally, type Verdict } from './intake.ts';
import { type Preview, previewSink } from './preview.ts';

/** How the file was read. */
export type FileFacts = Pick<CsvFile, 'encoding' | 'delimiter' | 'layout' | 'mapping' | 'ignored'>;

/** How a person wants a file to be read. */
export interface ImportChoices extends Pick<ReadOptions, 'board' | 'encoding'> {
  map: Readonly<Record<string, string | null>>;
  boards: BoardChoices;
  /** Lines that are not to be sent. */
  skipLines?: ReadonlySet<number> | undefined;
}

export interface ImportRequest extends ImportChoices {
  input: Input;
  /** Posts a minute at most, for this import alone. */
  perMinute?: number | null | undefined;
  /** What its posts carry as their last line. */
  marking?: Marking | undefined;
  /** How many rows go to the outbox together; in a service everybody else waits for them. */
  rowsAtOnce?: number | undefined;
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

/**
 * The rows of a file into the outbox, once every board of it is known. Whatever stops it, a second run of the same file goes on where
 * it ended.
 */
export async function importFile(
  { store, reads, clock }: { store: OutboxStore; reads: ImportReads; clock: Clock },
  batch: string,
  request: ImportRequest,
): Promise<Imported> {
  const chooser = boardChooser(reads, request.boards);
  refuseUnknownBoards(await boardsOf(request, chooser, reads));
  const { perMinute = null } = request;
  if (perMinute !== null) store.paceBatch(batch, perMinute, clock.now());
  const label = request.marking?.label ?? null;
  if (label !== null) store.markBatch(batch, label, clock.now());
  const sink = outboxSink(store, reads, clock);
  const tally = await readInto(sink, batch, request, chooser);
  const batches = new Set([...sink.openBatches, ...(store.hasBatch(batch) ? [batch] : [])]);
  return { tally, batches: [...batches] };
}

/** The same, up to the commit: what would happen, and what there is to know about it. */
export async function dryRun(
  {
    reads,
    scratch,
    duplicates,
  }: { reads: ImportReads | null; scratch: Scratch; duplicates?: DuplicateSearch | null },
  request: ImportRequest,
): Promise<{ tally: Tally; preview: Preview }> {
  const chooser = boardChooser(reads, request.boards);
  const unknown = unknownBoards(chooser);
  const sink = previewSink(reads, scratch);
  const take: Sink['take'] = async (rows) => {
    const verdicts = await sink.take(rows);
    const accepted = rows.filter((_, i) => verdicts[i]?.outcome === 'accepted');
    for (const row of accepted) unknown.note(row);
    await duplicates?.look(accepted);
    return verdicts;
  };
  const judged = { take: withoutErased(reads, take) };
  const tally = await readInto(judged, 'dry-run', request, chooser);
  const { unknownBoards: boards, moreUnknownBoards } = unknown;
  const found = (await duplicates?.result()) ?? null;
  const { marking = { label: null, setting: 'off' } } = request;
  const first = sink.people.first.map((row) => ({
    ...row,
    content: contentAsSent({ content: row.content, mark: markExample(marking, row.email) }),
  }));
  const preview = { ...sink.people, first, unknownBoards: boards, moreUnknownBoards, duplicates: found };
  return { tally, preview };
}

/** A comparison of a file with the mirror that goes on beside other work. */
export interface Comparison {
  state(): ComparisonState;
  /** Once it has ended, in whichever way. */
  ended: Promise<void>;
  stop(): void;
}

export interface ComparisonState {
  /** Null until all rows are compared. */
  result: Duplicates | null;
  checked: number;
  /** Why it could not be done. */
  problem: string | null;
}

/** Compares all new rows of a file; `keep` is told of those that look like posts as they are found. */
export function compareInBackground(
  reads: ImportReads,
  mirror: OpenOptions,
  request: ImportChoices & Pick<ImportRequest, 'input' | 'rowsAtOnce'>,
  keep: (found: Duplicate[]) => void,
): Comparison {
  const state: ComparisonState = { result: null, checked: 0, problem: null };
  const stopped = new AbortController();
  const onFound = (found: Duplicate[], checked: number): void => {
    state.checked = checked;
    if (found.length > 0) keep(found);
  };
  const run = async (): Promise<void> => {
    const [scratch, duplicates] = [openScratch(), openDuplicateSearch({ mirror, onFound })];
    stopped.signal.addEventListener('abort', () => void duplicates.close());
    const quiet = { signal: stopped.signal, onFile: () => {}, onBytes: () => {}, onRows: () => {} };
    try {
      const { preview } = await dryRun({ reads, scratch, duplicates }, { ...request, ...quiet });
      state.result = preview.duplicates;
    } catch (error) {
      state.problem = messageOf(error);
    } finally {
      scratch.close();
      await duplicates.close();
    }
  };
  return { state: () => ({ ...state }), ended: run(), stop: () => stopped.abort() };
}

/** How a file is opened with these choices, for a dry run, an import and its results alike. */
export function readOptions(choices: ImportChoices, chooser: BoardChooser): ReadOptions {
  const { map, board, encoding } = choices;
  return { map, board, encoding, chooseBoard: chooser.choose };
}

async function readInto(
  sink: Sink,
  batch: string,
  request: ImportRequest,
  chooser: BoardChooser,
): Promise<Tally> {
  const { input, signal, skipLines, rowsAtOnce, onFile, onBytes, onRows } = request;
  const options = { ...readOptions(request, chooser), signal, onProgress: onBytes };
  const file = await openCsv(input.read, options);
  const { encoding, delimiter, layout, mapping, ignored } = file;
  onFile({ encoding, delimiter, layout, mapping, ignored });
  return await intake(file.rows, { batch, sink, skipLines, rowsAtOnce, onRows, hasKeys: hasKeys(file) });
}

/**
 * Reads the file once for its boards alone: nothing is accepted before all of them are known. Rows that were imported before have been
 * accepted already, so a second run of the same file goes on.
 */
async function boardsOf(
  request: ImportRequest,
  chooser: BoardChooser,
  reads: Pick<ImportReads, 'known'>,
): Promise<UnknownBoards> {
  const unknown = unknownBoards(chooser);
  if (request.boards.acceptUnknown) return unknown;
  const take: Sink['take'] = async (rows) => {
    const doubtful = rows.filter(({ board }) => chooser.unknown(board) !== null);
    const known = reads.known(doubtful);
    for (const [i, row] of doubtful.entries()) if (!known[i]) unknown.note(row);
    return rows.map(() => ({ outcome: 'accepted' }));
  };
  const quiet = { onFile: () => {}, onBytes: () => {}, onRows: () => {} };
  await readInto({ take }, 'boards', { ...request, ...quiet }, chooser);
  return unknown;
}

interface OutboxSink extends Sink {
  /** Batches of earlier imports that still hold rows of this file on their way. */
  openBatches: Set<string>;
}

/** The outbox itself: what it takes has reached the disk. */
export function outboxSink(
  store: Pick<OutboxStore, 'accept'>,
  reads: Pick<ImportReads, 'batchesOf' | 'suppressed'>,
  clock: Clock,
): OutboxSink {
  const openBatches = new Set<string>();
  return {
    openBatches,
    take: withoutErased(reads, async (rows) => {
      const acceptances = store.accept(rows, clock.now());
      crashPoint('import:accepted');
      const open = acceptances.flatMap((acceptance) => (isOpen(acceptance) ? [acceptance.id] : []));
      if (open.length > 0) for (const batch of reads.batchesOf(open)) openBatches.add(batch);
      return acceptances.map(verdictOf);
    }),
  };
}

function isOpen(acceptance: Acceptance): boolean {
  if (acceptance.outcome === 'mended') return true;
  return acceptance.outcome === 'already' && !FINAL_STATES.some((state) => state === acceptance.state);
}

function verdictOf(acceptance: Acceptance): Verdict {
  if (acceptance.outcome === 'mended') return { outcome: 'accepted' };
  return acceptance.outcome === 'conflict'
    ? { outcome: 'conflict', with: `outbox row ${acceptance.id}` }
    : acceptance;
}

/** Turns away rows for people who were erased, and lets the others through together. */
function withoutErased(reads: Pick<ImportReads, 'suppressed'> | null, take: Sink['take']): Sink['take'] {
  return async (rows) => {
    const erased = erasedAmong(reads, rows);
    if (erased.size === 0) return await take(rows);
    const isErased = ({ email }: NewRow): boolean => email !== null && erased.has(email);
    const verdicts = await take(rows.filter((row) => !isErased(row)));
    let next = 0;
    return rows.map((row): Verdict => {
      const verdict = isErased(row) ? { outcome: 'refused' as const, reason: SUPPRESSED } : verdicts[next++];
      if (!verdict) throw new Error('a row was not judged');
      return verdict;
    });
  };
}

/** The addresses among these that belong to people who were erased. */
export function erasedAmong(
  reads: Pick<ImportReads, 'suppressed'> | null,
  rows: readonly { email: string | null }[],
): Set<string> {
  const emails = rows.flatMap(({ email }) => (email === null ? [] : [email]));
  return reads?.suppressed(emails) ?? new Set();
}
