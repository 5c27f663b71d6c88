import type { Clock } from '../../base/clock.ts';
import { crashPoint } from '../../base/crash.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { OpenOptions } from '../../db/open.ts';
import { SUPPRESSED } from '../../mirror/suppression/list.ts';
import { FINAL_STATES } from '../decide/states.ts';
import type { Acceptance } from '../decide/types.ts';
import { contentAsSent, type Marking, markExample } from '../send/mark.ts';
import type { ImportReads, KnownRow } from '../store/imports.ts';
import type { OutboxStore } from '../store/store.ts';
import {
  type BoardChoices,
  type BoardChooser,
  boardChooser,
  type ImportRefusal,
  type UnknownBoard,
  type UnknownBoards,
  unknownBoards,
  unknownBoardsRefusal,
} from './boards.ts';
import type { Question } from './csv/questions.ts';
import { openCsv } from './csv/read.ts';
import { type CsvFile, hasKeys, type ReadOptions } from './csv/rows.ts';
import { type Duplicate, type DuplicateSearch, type Duplicates, openDuplicateSearch } from './duplicates.ts';
import type { Input } from './input.ts';
import { intake, type RowVerdict, type Sink, type Tally } from './intake.ts';
import { type Preview, previewSink } from './preview.ts';
import { lostText, REPEATED_TITLES, rowQuestions } from './questions.ts';

/** How the file was read. */
export type FileFacts = Pick<
  CsvFile,
  'encoding' | 'delimiter' | 'layout' | 'mapping' | 'ignored' | 'stateColumns' | 'lostColumns' | 'otherTitles'
>;

/** How a person wants a file to be read. */
export interface ImportChoices extends Pick<ReadOptions, 'board' | 'encoding'> {
  map: Readonly<Record<string, string | null>>;
  boards: BoardChoices;
  /** Lines that are not to be sent. */
  skipLines?: ReadonlySet<number> | undefined;
  /** Also rows whose state says that the work is over. */
  includeClosed?: boolean | undefined;
  /** Titles may repeat as often as they do. */
  acceptRepeatedTitles?: boolean | undefined;
  /** Rows whose keys differ from known ones in leading zeros alone are other posts. */
  acceptStrippedKeys?: boolean | undefined;
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
 * The rows of a file into the outbox, once no question about it is open. Whatever stops it, a second run of the same file goes on where
 * it ended.
 */
export async function importFile(
  { store, reads, clock }: { store: OutboxStore; reads: ImportReads; clock: Clock },
  batch: string,
  request: ImportRequest,
): Promise<Imported> {
  const chooser = boardChooser(reads, request.boards);
  const isAnswered = request.boards.acceptUnknown && request.acceptRepeatedTitles === true;
  if (!isAnswered) refuseOpenQuestions(await surveyFile(reads, request));
  const { perMinute = null } = request;
  if (perMinute !== null) store.paceBatch(batch, perMinute, clock.now());
  const label = request.marking?.label ?? null;
  if (label !== null) store.markBatch(batch, label, clock.now());
  const sink = outboxSink(store, reads, clock, request);
  const tally = await readInto(sink, batch, request, { chooser, reads });
  const batches = new Set([...sink.openBatches, ...(store.hasBatch(batch) ? [batch] : [])]);
  return { tally, batches: [...batches] };
}

/** Reads the file as an import does, writes nothing, and returns what would happen. */
export async function dryRun(
  { reads, duplicates }: { reads: ImportReads | null; duplicates?: DuplicateSearch | null },
  request: ImportRequest,
): Promise<{ tally: Tally; preview: Preview; questions: Question[]; lost: string | null }> {
  const chooser = boardChooser(reads, request.boards);
  const unknown = unknownBoards(chooser);
  const sink = previewSink(reads);
  const take: Sink['take'] = async (rows) => {
    const verdicts = await sink.take(rows);
    const accepted = rows.filter((_, i) => verdicts[i]?.outcome === 'accepted');
    for (const row of accepted) unknown.note(row);
    await duplicates?.look(accepted);
    return verdicts;
  };
  const judged = { take: turningAway(reads, request, take) };
  let columns: FileFacts | null = null;
  const onFile = (facts: FileFacts): void => {
    columns = facts;
    request.onFile(facts);
  };
  const tally = await readInto(judged, 'dry-run', { ...request, onFile }, { chooser, reads });
  const { unknownBoards: boards, moreUnknownBoards } = unknown;
  const found = (await duplicates?.result()) ?? null;
  const { marking = { label: null, setting: 'off' } } = request;
  const first = sink.people.first.map((row) => ({
    ...row,
    content: contentAsSent({ content: row.content, mark: markExample(marking, row.email) }),
  }));
  const preview = { ...sink.people, first, unknownBoards: boards, moreUnknownBoards, duplicates: found };
  return { tally, preview, ...open(columns, tally, boards, request) };
}

/** The questions about a file, and what of it cannot be imported. */
function open(
  columns: FileFacts | null,
  tally: Tally,
  boards: readonly UnknownBoard[],
  choices: ImportChoices,
): { questions: Question[]; lost: string | null } {
  if (!columns) throw new Error('the file was read, so its columns are known');
  const questions = rowQuestions({ columns, tally, unknownBoards: boards, choices });
  return { questions, lost: lostText(columns) };
}

/** A comparison of a file with the mirror, beside other work. */
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
    const duplicates = openDuplicateSearch({ mirror, onFound });
    stopped.signal.addEventListener('abort', () => void duplicates.close());
    const quiet = { signal: stopped.signal, onFile: () => {}, onBytes: () => {}, onRows: () => {} };
    try {
      const { preview } = await dryRun({ reads, duplicates }, { ...request, ...quiet });
      state.result = preview.duplicates;
    } catch (error) {
      state.problem = messageOf(error);
    } finally {
      await duplicates.close();
    }
  };
  return { state: () => ({ ...state }), ended: run(), stop: () => stopped.abort() };
}

/** The options by which a dry run, an import and its results file read the file. */
export function readOptions(choices: ImportChoices, chooser: BoardChooser): ReadOptions {
  const { map, board, encoding } = choices;
  return { map, board, encoding, chooseBoard: chooser.choose };
}

async function readInto(
  sink: Sink,
  batch: string,
  request: ImportRequest,
  { chooser, reads }: { chooser: BoardChooser; reads: Pick<ImportReads, 'otherSlugs'> | null },
): Promise<Tally> {
  const { input, signal, skipLines, includeClosed, rowsAtOnce, onFile, onBytes, onRows } = request;
  const options = { ...readOptions(request, chooser), signal, onProgress: onBytes };
  const file = await openCsv(input.read, options);
  const { rows, headers: _, bom: __, ...facts } = file;
  onFile(facts);
  const { otherSlugs } = reads ?? {};
  const filter = { skipLines, includeClosed, otherSlugs };
  return await intake(rows, { batch, sink, ...filter, rowsAtOnce, onRows, hasKeys: hasKeys(file) });
}

/** What was found in a file before any row of it is accepted. */
export interface FileSurvey extends UnknownBoards {
  questions: Question[];
}

/**
 * Reads the file once: nothing is accepted before its boards are known, and its titles are titles. Rows that were imported before have
 * been accepted already, so a second run of the same file goes on.
 */
export async function surveyFile(reads: ImportReads, request: ImportRequest): Promise<FileSurvey> {
  const chooser = boardChooser(reads, request.boards);
  const unknown = unknownBoards(chooser);
  let columns: FileFacts | null = null;
  const onFile = (facts: FileFacts): void => {
    columns = facts;
  };
  const quiet = { ...request, onFile, onBytes: () => {}, onRows: () => {} };
  const survey = (take: Sink['take']): Promise<Tally> =>
    readInto({ take }, 'survey', quiet, { chooser, reads });
  const seen = await survey(async (rows) => {
    const doubtful = rows.filter(({ board }) => chooser.unknown(board) !== null);
    const known = reads.known(doubtful);
    for (const [i, row] of doubtful.entries()) if (!known[i]) unknown.note(row);
    return rows.map(() => ({ outcome: 'accepted' }));
  });
  const { unknownBoards: boards, moreUnknownBoards } = unknown;
  const found = open(columns, seen, boards, request);
  // Each row is looked up only here: that costs as much as an import, and few files need it.
  const isRepeated = found.questions.some(({ id }) => id === REPEATED_TITLES);
  const tally = isRepeated ? await survey(async (rows) => reads.known(rows).map(newOrNot)) : seen;
  return {
    unknownBoards: boards,
    moreUnknownBoards,
    questions: open(columns, tally, boards, request).questions,
  };
}

const newOrNot = (known: KnownRow | null): RowVerdict =>
  known ? { outcome: 'already', state: known.state } : { outcome: 'accepted' };

/** A file is not taken in part: a person who meant another column or board would have to find the posts again. */
function refuseOpenQuestions(survey: FileSurvey): void {
  const refusals = [
    ...unknownBoardsRefusal(survey),
    ...survey.questions.flatMap((open) => (open.id === REPEATED_TITLES ? [refusalOf(open)] : [])),
  ];
  if (refusals.length === 0) return;
  const problems = refusals.map(({ problem }) => problem);
  throw new AppError('usage', `${problems.join('; ')}; nothing was imported`, {
    hint: refusals.map(({ hint }) => hint).join('\n'),
  });
}

function refusalOf({ problem, question, answers }: Question): ImportRefusal {
  const flags = answers.flatMap(({ text, flag }) => (flag === null ? [] : [`${text}: ${flag}`]));
  return { problem, hint: `${question} ${flags.join('. ')}` };
}

interface OutboxSink extends Sink {
  /** Batches of earlier imports that still hold rows of this file on their way. */
  openBatches: Set<string>;
}

/** The outbox itself: what it takes has reached the disk. */
export function outboxSink(
  store: Pick<OutboxStore, 'accept'>,
  reads: Pick<ImportReads, 'batchesOf' | 'suppressed' | 'zeroesApart'>,
  clock: Clock,
  choices: Pick<ImportChoices, 'acceptStrippedKeys'> = {},
): OutboxSink {
  const openBatches = new Set<string>();
  return {
    openBatches,
    take: turningAway(reads, choices, async (rows) => {
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

function verdictOf(acceptance: Acceptance): RowVerdict {
  if (acceptance.outcome === 'mended') return { outcome: 'accepted' };
  return acceptance.outcome === 'conflict'
    ? { outcome: 'conflict', with: `outbox row ${acceptance.id}` }
    : acceptance;
}

/** Turns away rows for people who were erased, and rows whose key may have lost its zeros, and lets the others through together. */
function turningAway(
  reads: Pick<ImportReads, 'suppressed' | 'zeroesApart'> | null,
  { acceptStrippedKeys = false }: Pick<ImportChoices, 'acceptStrippedKeys'>,
  take: Sink['take'],
): Sink['take'] {
  return async (rows) => {
    const erased = erasedAmong(reads, rows);
    const apart = acceptStrippedKeys ? [] : (reads?.zeroesApart(rows) ?? []);
    const refused = rows.map(({ email }, i): RowVerdict | null => {
      if (email !== null && erased.has(email)) return { outcome: 'refused', reason: SUPPRESSED };
      const known = apart[i];
      return known ? { outcome: 'held', before: keyText(known) } : null;
    });
    const verdicts = await take(rows.filter((_, i) => !refused[i]));
    let next = 0;
    return refused.map((verdict): RowVerdict => {
      const judged = verdict ?? verdicts[next++];
      if (!judged) throw new Error('a row was not judged');
      return judged;
    });
  };
}

/** The key as the file had it. */
export function keyText({ source_key }: { source_key: string }): string {
  return source_key.replace(/^key:/, '');
}

/** The addresses among these that belong to people who were erased. */
export function erasedAmong(
  reads: Pick<ImportReads, 'suppressed'> | null,
  rows: readonly { email: string | null }[],
): Set<string> {
  const emails = rows.flatMap(({ email }) => (email === null ? [] : [email]));
  return reads?.suppressed(emails) ?? new Set();
}
