import type { NewRow, OutboxState } from '../../store/outbox/types.ts';
import type { AcceptedRow, CsvRow } from '../csv/csv-file.ts';
import { sourceKeys } from '../csv/source-key.ts';
import { contentHash } from '../match.ts';
import { addAlready, addNotes, addRefusal, assertWhole, newTally, type Tally } from './tally.ts';

/** Where rows go in: the outbox, or for a dry run something that only says what the outbox would. */
export interface Door {
  take(rows: readonly NewRow[]): Promise<Verdict[]>;
}

export type Verdict =
  | { outcome: 'accepted' }
  | { outcome: 'already'; state: OutboxState }
  | { outcome: 'conflict'; with: string }
  | { outcome: 'refused'; reason: string };

export interface IntakeOptions {
  batch: string;
  door: Door;
  onRows?: ((rows: number) => void) | undefined;
  /** How many rows go to the door together. */
  rowsAtOnce?: number | undefined;
}

/** Rows a transaction. Each costs a wait for the disk, and the loss of one in a crash costs reading it again. */
const ROWS_AT_ONCE = 2000;

/** Every row of a file to the door, in order. One bad row never stops the others. */
export async function intake(rows: AsyncIterable<CsvRow[]>, options: IntakeOptions): Promise<Tally> {
  const tally = newTally();
  const keyOf = sourceKeys();
  const { rowsAtOnce = ROWS_AT_ONCE } = options;
  let waiting: CsvRow[] = [];
  const flush = async (): Promise<void> => {
    const group = waiting;
    waiting = [];
    await takeIn(group, keyOf, options, tally);
    options.onRows?.(tally.rows);
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
  keyOf: ReturnType<typeof sourceKeys>,
  { door, batch }: IntakeOptions,
  tally: Tally,
): Promise<void> {
  const wanted: NewRow[] = [];
  for (const row of group) {
    if (!row.ok) continue;
    // Also for a row that is not taken: its equals further down are told apart by how many came before them.
    const key = keyOf(row);
    if (!isConfirmed(row)) wanted.push(newRow(row, key, batch));
  }
  const verdicts = wanted.length > 0 ? await door.take(wanted) : [];
  let next = 0;
  for (const row of group) {
    tally.rows++;
    if (!row.ok) addRefusal(tally, row.line, row.reason);
    else if (isConfirmed(row)) addAlready(tally, 'confirmed');
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
  return `has the key of ${holder}, which has other content; give it a key of its own`;
}

export function newRow({ line, post }: AcceptedRow, source_key: string, batch: string): NewRow {
  const { board, title, content, email, full_name } = post;
  return {
    batch,
    source_key,
    line,
    board,
    title,
    content,
    email,
    full_name,
    content_hash: contentHash(post),
  };
}
