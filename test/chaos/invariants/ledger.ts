import type { LedgerEntry } from '../../laboratory/server.ts';
import type { Fixture } from '../fixture.ts';
import { MARKS, NO_BOARD } from '../load/drafts.ts';
import { inMirror } from './file.ts';

type Seen = Pick<Fixture, 'sandbox' | 'drafts' | 'mirror' | 'tally' | 'journal'>;

export interface SentRow {
  id: number;
  title: string;
  board: string;
  state: string;
  post_id: number | null;
  attempts: number;
  last_error: string | null;
  duplicate_of: number | null;
  was_ambiguous: number;
}

const LOST = 'accepted creates lost: none';

/** What took effect upstream, by the title that was asked for: the list may show another one. */
function createsByTitle({ sandbox }: Seen): Map<string, LedgerEntry[]> {
  const ours = sandbox.world.ledger().filter(({ title }) => title.startsWith(MARKS.title));
  return Map.groupBy(ours, ({ title }) => title);
}

/** When nothing is under way any more: what the program said about each post is what the upstream's ledger says. */
export function checkLedger(fixture: Seen): void {
  const { drafts, tally, mirror } = fixture;
  const creates = createsByTitle(fixture);
  const rows = new Map(inMirror(mirror, readRows).map((row) => [row.title, row]));
  for (const [title, { post, how }] of drafts.acknowledged) {
    const row = rows.get(title);
    const isWhole = row !== undefined && isKept(row, creates.get(title) ?? [], post.board);
    tally.check(LOST, isWhole, () => `${title}, taken in by ${how}: ${JSON.stringify(row)}`);
  }
  for (const row of rows.values()) checkRow(fixture, row, creates.get(row.title) ?? []);
}

export function readRows(db: Parameters<Parameters<typeof inMirror>[1]>[0]): SentRow[] {
  return db
    .prepare<[], SentRow>(
      `SELECT id, title, board, state, post_id, attempts, last_error, duplicate_of, was_ambiguous
         FROM outbox ORDER BY id`,
    )
    .all();
}

function isKept(row: SentRow, made: readonly LedgerEntry[], board: string): boolean {
  if (row.state === 'confirmed') return isOwn(row, made);
  if (row.state === 'rejected') return board === NO_BOARD && made.length === 0;
  return row.state === 'uncertain';
}

function isOwn({ post_id: id }: SentRow, made: readonly LedgerEntry[]): boolean {
  return made.some(({ post_id }) => post_id === id);
}

function checkRow({ tally, journal }: Seen, row: SentRow, made: readonly LedgerEntry[]): void {
  const said = (): string => `${JSON.stringify(row)}, upstream: ${JSON.stringify(made)}`;
  const isOver = ['confirmed', 'rejected', 'uncertain'].includes(row.state);
  tally.check('every row comes to an end once the upstream is quiet', isOver, said);
  if (row.state === 'confirmed') tally.check('a confirmed row names its own post', isOwn(row, made), said);
  const isShown = row.state === 'uncertain' || row.duplicate_of !== null;
  tally.check('creates doubled in silence: none', made.length < 2 || isShown, said);
  count(tally, row, made);
  if (row.state !== 'uncertain') return;
  journal.note(`uncertain: ${said()}`);
  tally.check('uncertain rows are explained', row.last_error !== null, said);
}

/** What became of the rows that the upstream made difficult. */
function count(tally: Fixture['tally'], row: SentRow, made: readonly LedgerEntry[]): void {
  if (made.length > 1) tally.fired('rows with a second post');
  if (row.state === 'uncertain') tally.fired('rows left to a person');
  if (row.was_ambiguous === 0) return;
  const words = made.some(({ rewritten }) => rewritten !== '') ? 'rewritten' : 'as they were sent';
  tally.fired(`rows once unclear, words ${words}: ${row.state}`);
}
