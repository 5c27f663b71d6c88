import { MARKS, NO_BOARD } from '../load/book.ts';
import type { Stage } from '../stage.ts';
import { inMirror } from './file.ts';

export interface SentRow {
  id: number;
  title: string;
  board: string;
  state: string;
  post_id: number | null;
  attempts: number;
  last_error: string | null;
}

const DOUBLED = 'creates doubled: none';
const LOST = 'accepted creates lost: none';

/** At any moment: the upstream has no post of ours twice. */
export function checkDoubled({ sandbox, tally }: Stage): void {
  const seen = new Map<string, number[]>();
  for (const { title, post_id } of sandbox.world.ledger())
    if (title.startsWith(MARKS.title)) seen.set(title, [...(seen.get(title) ?? []), post_id]);
  const doubled = [...seen].filter(([, ids]) => ids.length > 1);
  tally.check(DOUBLED, doubled.length === 0, () => JSON.stringify(doubled.slice(0, 3)));
}

/** When nothing is under way any more: what the program said about each post is what the upstream's ledger says. */
export function checkLedger(stage: Stage): void {
  const { book, sandbox, tally, mirror } = stage;
  checkDoubled(stage);
  const posts = new Map(sandbox.world.ledger().map((entry) => [entry.title, entry.post_id]));
  const rows = new Map(inMirror(mirror, readRows).map((row) => [row.title, row]));
  for (const [title, { post, how }] of book.acknowledged) {
    const row = rows.get(title);
    const isWhole = row !== undefined && isKept(row, posts.get(title), post.board);
    tally.check(LOST, isWhole, () => `${title}, taken in by ${how}: ${JSON.stringify(row)}`);
  }
  for (const row of rows.values()) checkRow(stage, row, posts.get(row.title));
}

export function readRows(db: Parameters<Parameters<typeof inMirror>[1]>[0]): SentRow[] {
  const sql = 'SELECT id, title, board, state, post_id, attempts, last_error FROM outbox ORDER BY id';
  return db.prepare<[], SentRow>(sql).all();
}

function isKept(row: SentRow, posted: number | undefined, board: string): boolean {
  if (row.state === 'confirmed') return posted !== undefined && row.post_id === posted;
  if (row.state === 'rejected') return board === NO_BOARD && posted === undefined;
  return row.state === 'uncertain';
}

/** Words that the program has for a row it leaves to a person; anything else was not explained. */
const EXPLAINED = /posts could be this one|cannot be read could be this one|after \d+ unclear attempts/;

function checkRow({ tally, journal }: Stage, row: SentRow, posted: number | undefined): void {
  const said = (): string => `${JSON.stringify(row)}, upstream: ${posted ?? 'none'}`;
  const isOver = ['confirmed', 'rejected', 'uncertain'].includes(row.state);
  tally.check('every row comes to an end once the upstream is quiet', isOver, said);
  if (row.state === 'confirmed')
    tally.check('a confirmed row names its own post', row.post_id === posted, said);
  if (row.state !== 'uncertain') return;
  journal.note(`uncertain: ${said()}`);
  tally.fired('rows left to a person');
  tally.check('uncertain rows are explained', EXPLAINED.test(row.last_error ?? ''), said);
}
