import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { plainForm } from '../../text/text.ts';
import { type NewRow, OUTBOX_STATES, type OutboxState, type StateCounts } from '../decide/types.ts';
import { contentHash } from '../decide/whose.ts';
import type { AcceptedRow, CsvRow } from './csv/rows.ts';
import { type Identity, identities, Occurrences, type OtherSlugs } from './csv/source-key.ts';
import type { RowState } from './csv/state.ts';

/** What became of the rows of one file. accepted + already + skipped + refused = rows, always. */
export interface Tally {
  rows: number;
  accepted: number;
  already: number;
  /** Rows that were left out: of a board, finished ones, or because they look like posts that exist. */
  skipped: number;
  refused: number;
  /** Refused rows whose key may have lost its zeros. They wait for a person's yes. */
  held: { rows: number; examples: HeldRow[] };
  /** What the file says about the work on its rows, in its own words. */
  workStates: StateCount[];
  /** How the titles repeat: `repeated` counts new rows whose title an earlier row has. */
  titles: { rows: number; repeated: number; most: { title: string; rows: number } | null };
  /** How those that were imported before stand now. */
  alreadyBy: Partial<Record<OutboxState, number>>;
  /** The first refused rows; `refused` counts all of them. */
  refusals: RefusedLine[];
  /** What was noted about rows that are fine, by the words of the note. */
  notes: Note[];
}

export interface StateCount extends RowState {
  rows: number;
}

/** A row whose key is that of an earlier import but for zeros before it. */
export interface HeldRow {
  line: number;
  key: string;
  before: string;
}

export interface RefusedLine {
  line: number;
  reason: string;
}

export interface Note {
  text: string;
  rows: number;
  /** The first of them. */
  lines: number[];
}

/** Takes rows: the outbox, or for a dry run a judge that predicts what the outbox would say. */
export interface Sink {
  take(rows: readonly NewRow[]): Promise<RowVerdict[]>;
}

export type RowVerdict =
  | { outcome: 'accepted' }
  | { outcome: 'already'; state: OutboxState }
  | { outcome: 'conflict'; with: string }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'held'; before: string };

export interface IntakeOptions {
  batch: string;
  sink: Sink;
  /** Whether the file has a column of keys. */
  hasKeys: boolean;
  /** Lines that the person does not want. */
  skipLines?: ReadonlySet<number> | undefined;
  /** Also rows whose state says that the work is over. */
  includeClosed?: boolean | undefined;
  otherSlugs?: OtherSlugs | undefined;
  onRows?: ((rows: number) => void) | undefined;
  /** How many rows go to the sink together. */
  rowsAtOnce?: number | undefined;
}

/** Rows a transaction. Each costs a wait for the disk, and the loss of one in a crash costs reading it again. */
const ROWS_AT_ONCE = 2000;

/** Every row of a file to the sink, in order. One bad row never stops the others. */
export async function intake(rows: AsyncIterable<CsvRow[]>, options: IntakeOptions): Promise<Tally> {
  const tally = newTally();
  const identify = identities(options.hasKeys, options.otherSlugs);
  const titles = new Occurrences();
  const { rowsAtOnce = ROWS_AT_ONCE } = options;
  let waiting: CsvRow[] = [];
  const flush = async (): Promise<void> => {
    const group = waiting;
    waiting = [];
    await takeIn(group, { identify, titles }, options, tally);
    options.onRows?.(tally.rows);
    // Reading a file may not leave the queue of microtasks for many rows, and a service has others to answer.
    await setImmediate();
  };
  for await (const group of rows) {
    waiting = waiting.length === 0 ? group : waiting.concat(group);
    if (waiting.length >= rowsAtOnce) await flush();
  }
  if (waiting.length > 0) await flush();
  assertWhole(tally);
  return tally;
}

async function takeIn(
  group: readonly CsvRow[],
  { identify, titles }: { identify: ReturnType<typeof identities>; titles: Occurrences },
  options: IntakeOptions,
  tally: Tally,
): Promise<void> {
  const { sink, batch } = options;
  const wanted: NewRow[] = [];
  const isSkipped = (row: AcceptedRow): boolean => skipReason(row, options) !== null;
  for (const row of group) {
    if (!row.ok) continue;
    // Rows that are not taken are identified too: equal rows further down are told apart by their count.
    const identity = identify(row);
    if (!isConfirmed(row) && !isSkipped(row)) wanted.push(newRow(row, identity, batch));
  }
  const verdicts = wanted.length > 0 ? await sink.take(wanted) : [];
  let next = 0;
  for (const row of group) {
    tally.rows++;
    if (!row.ok) addRefusal(tally, row.line, row.reason);
    else if (isConfirmed(row)) addAlready(tally, 'confirmed');
    else if (isSkipped(row)) tally.skipped++;
    else {
      const verdict = verdicts[next++];
      note(tally, row, verdict);
      addTitle(tally, titles, row, verdict?.outcome === 'accepted');
    }
    if (row.ok && row.state) addState(tally, row.state);
  }
}

/** Why a row is not sent though it is fine; null for one that is. */
export function skipReason(
  row: AcceptedRow,
  { includeClosed, skipLines }: Pick<IntakeOptions, 'includeClosed' | 'skipLines'>,
): string | null {
  if (row.isDropped) return 'its board was left out';
  if (row.state?.isClosed && !includeClosed) return `it is finished by its state "${row.state.text}"`;
  return skipLines?.has(row.line) ? 'it looks like a post that exists' : null;
}

function addTitle({ titles }: Tally, seen: Occurrences, { post }: AcceptedRow, isNew: boolean): void {
  const times = seen.count(hash('sha256', plainForm(post.title).toLowerCase(), 'buffer'));
  titles.rows++;
  if (times > 1 && isNew) titles.repeated++;
  if (times > 1 && times > (titles.most?.rows ?? 0)) titles.most = { title: post.title, rows: times };
}

/** A column with more values than this is not a column of states. */
const STATES_KEPT = 30;

function addState({ workStates: states }: Tally, { text, isClosed }: RowState): void {
  const known = states.find((state) => state.text === text && state.isClosed === isClosed);
  if (known) known.rows++;
  else if (states.length < STATES_KEPT) states.push({ text, isClosed, rows: 1 });
}

/** A results file says that the post of this row exists, also if the outbox of this machine does not know it. */
export function isConfirmed(row: AcceptedRow): boolean {
  return row.previous?.state === 'confirmed';
}

function note(tally: Tally, row: AcceptedRow, verdict: RowVerdict | undefined): void {
  if (!verdict) throw new Error(`the row in line ${row.line} was not judged`);
  if (verdict.outcome === 'conflict') {
    addRefusal(tally, row.line, conflictReason(verdict.with));
    return;
  }
  if (verdict.outcome === 'held') {
    addRefusal(tally, row.line, heldReason(verdict.before));
    tally.held.rows++;
    const held = { line: row.line, key: row.key ?? '', before: verdict.before };
    if (tally.held.examples.length < LINES_KEPT) tally.held.examples.push(held);
    return;
  }
  if (verdict.outcome === 'refused') {
    addRefusal(tally, row.line, verdict.reason);
    return;
  }
  if (verdict.outcome === 'already') addAlready(tally, verdict.state);
  else tally.accepted++;
  addNotes(tally, row.line, row.notes);
}

export function conflictReason(holder: string): string {
  return `has the key of ${holder}, and another title, text, board or customer. An edit of a row that was imported before is not sent: see "outbox edit". Only another post gets a key of its own`;
}

export function heldReason(before: string): string {
  return `is held: a row with the same title, text, board and customer was imported under the key ${before}, and a spreadsheet may have taken zeros away. If it is another post: --accept-stripped-keys`;
}

export function newRow(
  { line, post, previous }: Pick<AcceptedRow, 'line' | 'post' | 'previous'>,
  identity: Identity,
  batch: string,
): NewRow {
  const { board, title, content, email, full_name } = post;
  return {
    ...identity,
    batch,
    line,
    board,
    title,
    content,
    email,
    full_name,
    content_hash: contentHash(post),
    ...(previous?.state === 'cancelled' && { wasCancelled: true }),
  };
}

/** More are only counted: the list is for people and for small scripts, a results file has them all. */
const REFUSALS_KEPT = 1000;
const LINES_KEPT = 5;

function newTally(): Tally {
  return {
    ...{ rows: 0, accepted: 0, already: 0, skipped: 0, refused: 0 },
    held: { rows: 0, examples: [] },
    workStates: [],
    titles: { rows: 0, repeated: 0, most: null },
    ...{ alreadyBy: {}, refusals: [], notes: [] },
  };
}

function addRefusal(tally: Tally, line: number, reason: string): void {
  tally.refused++;
  if (tally.refusals.length < REFUSALS_KEPT) tally.refusals.push({ line, reason });
}

function addAlready(tally: Tally, state: OutboxState): void {
  tally.already++;
  tally.alreadyBy[state] = (tally.alreadyBy[state] ?? 0) + 1;
}

/** Notes that differ only in a number in brackets are one note. */
function addNotes(tally: Tally, line: number, notes: readonly string[]): void {
  for (const full of notes) {
    const text = full.replace(/ \(\d+ characters\)$/, '');
    let note = tally.notes.find((known) => known.text === text);
    if (!note) {
      note = { text, rows: 0, lines: [] };
      tally.notes.push(note);
    }
    note.rows++;
    if (note.lines.length < LINES_KEPT) note.lines.push(line);
  }
}

/** Every row of the file is in exactly one of the counts. */
function assertWhole({ rows, accepted, already, skipped, refused }: Tally): void {
  if (accepted + already + skipped + refused === rows) return;
  throw new Error(`rows do not add up: ${accepted} + ${already} + ${skipped} + ${refused} of ${rows}`);
}

/** How the rows of several batches stand together. */
export function sumCounts(
  store: { counts(batch: string | null): StateCounts },
  batches: readonly string[],
): StateCounts {
  const sum = Object.fromEntries(OUTBOX_STATES.map((state) => [state, 0])) as StateCounts;
  for (const batch of batches)
    for (const [state, n] of Object.entries(store.counts(batch))) sum[state as keyof StateCounts] += n;
  return sum;
}
