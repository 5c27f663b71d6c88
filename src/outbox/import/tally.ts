import type { OutboxState, StateCounts } from '../../store/outbox/types.ts';

/** What became of the rows of one file. accepted + already + refused = rows, always. */
export interface Tally {
  rows: number;
  accepted: number;
  already: number;
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

/** More are only counted: the list is for people and for small scripts, a results file has them all. */
const REFUSALS_KEPT = 1000;
const LINES_KEPT = 5;

export function newTally(): Tally {
  return { rows: 0, accepted: 0, already: 0, refused: 0, alreadyBy: {}, refusals: [], notes: [] };
}

export function addRefusal(tally: Tally, line: number, reason: string): void {
  tally.refused++;
  if (tally.refusals.length < REFUSALS_KEPT) tally.refusals.push({ line, reason });
}

export function addAlready(tally: Tally, state: OutboxState): void {
  tally.already++;
  tally.alreadyBy[state] = (tally.alreadyBy[state] ?? 0) + 1;
}

/** Notes that differ only in a number in brackets are one note. */
export function addNotes(tally: Tally, line: number, notes: readonly string[]): void {
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
export function assertWhole({ rows, accepted, already, refused }: Tally): void {
  if (accepted + already + refused === rows) return;
  throw new Error(`rows do not add up: ${accepted} + ${already} + ${refused} of ${rows}`);
}

/** How the rows of several batches stand together. */
export function sumCounts(
  store: { counts(batch: string | null): StateCounts },
  batches: readonly string[],
): StateCounts {
  const sum: StateCounts = {
    ready: 0,
    sending: 0,
    confirmed: 0,
    rejected: 0,
    ambiguous: 0,
    uncertain: 0,
    cancelled: 0,
  };
  for (const batch of batches)
    for (const [state, n] of Object.entries(store.counts(batch))) sum[state as keyof StateCounts] += n;
  return sum;
}
