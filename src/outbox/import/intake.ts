import { setImmediate } from 'node:timers/promises';
import { type NewRow, OUTBOX_STATES, type OutboxState, type StateCounts } from '../../store/outbox/types.ts';
import type { AcceptedRow, CsvRow } from '../csv/rows.ts';
import { type Identity, identities } from '../csv/source-key.ts';
import { contentHash } from '../match.ts';

/** What became of the rows of one file. accepted + already + skipped + refused = rows, always. */
export interface Tally {
  rows: number;
  accepted: number;
  already: number;
  /** Rows that the person left out: of a board, or because they look like posts that exist. */
  skipped: number;
  refused: number;
  /** How those that were imported before stand now. */
  alreadyBy: Partial<Record<OutboxState, number>>;
  /** The first refused rows; `refused` counts all of them. */
  refusals: RefusedLine[];
  /** What was noted about rows that are fine, by the words of the note. */
  notes: Note[];
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

/** Where rows go in: the outbox, or for a dry run something that only says what the outbox would. */
export interface Sink {
  take(rows: readonly NewRow[]): Promise<Verdict[]>;
}

export type Verdict =
  | { outcome: 'accepted' }
  | { outcome: 'already'; state: OutboxState }
  | { outcome: 'conflict'; with: string }
  | { outcome: 'refused'; reason: string };

export interface IntakeOptions {
  batch: string;
  sink: Sink;
  /** Whether the file has a column of keys. */
  hasKeys: boolean;
  /** Lines that the person does not want. */
  skipLines?: ReadonlySet<number> | undefined;
  onRows?: ((rows: number) => void) | undefined;
  /** How many rows go to the sink together. */
  rowsAtOnce?: number | undefined;
}

/** Rows a transaction. Each costs a wait for the disk, and the loss of one in a crash costs reading it again. */
const ROWS_AT_ONCE = 2000;

/** Every row of a file to the sink, in order. One bad row never stops the others. */
export async function intake(rows: AsyncIterable<CsvRow[]>, options: IntakeOptions): Promise<Tally> {
  const tally = newTally();
  const identify = identities(options.hasKeys);
  const { rowsAtOnce = ROWS_AT_ONCE } = options;
  let waiting: CsvRow[] = [];
  const flush = async (): Promise<void> => {
    const group = waiting;
    waiting = [];
    await takeIn(group, identify, options, tally);
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
  identify: ReturnType<typeof identities>,
  { sink, batch, skipLines }: IntakeOptions,
  tally: Tally,
): Promise<void> {
  const wanted: NewRow[] = [];
  const isSkipped = (row: AcceptedRow): boolean => row.isDropped || skipLines?.has(row.line) === true;
  for (const row of group) {
    if (!row.ok) continue;
    // Also for a row that is not taken: its equals further down are told apart by how many came before them.
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
    else note(tally, row, verdicts[next++]);
  }
}

/** In one of our own results files: this row's post exists, whatever the outbox of this machine knows. */
export function isConfirmed(row: AcceptedRow): boolean {
  return row.previous?.state === 'confirmed';
}

function note(tally: Tally, row: AcceptedRow, verdict: Verdict | undefined): void {
  if (!verdict) throw new Error(`the row in line ${row.line} was not judged`);
  if (verdict.outcome === 'conflict') {
    addRefusal(tally, row.line, conflictReason(verdict.with));
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
  return { rows: 0, accepted: 0, already: 0, skipped: 0, refused: 0, alreadyBy: {}, refusals: [], notes: [] };
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

/** The promise made to whoever counts their rows: none is unaccounted for. */
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
