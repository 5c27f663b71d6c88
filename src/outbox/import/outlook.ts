import type { Clock } from '../../base/clock.ts';
import { emailKey } from '../../base/email.ts';
import { nearest } from '../../base/text.ts';
import type { ImportReads, KnownBoard } from '../../store/outbox/import-reads.ts';
import type { Scratch } from '../../store/outbox/scratch.ts';
import type { NewRow } from '../../store/outbox/types.ts';
import { type Duplicates, duplicateSearch } from './similar.ts';

/** What would come of the rows that an import would accept, as far as the mirror can tell. */
export interface Outlook {
  /** Without one, or with one that was never filled, nothing is known about boards, customers and duplicates. */
  mirror: 'filled' | 'empty';
  asOwner: number;
  asKnownCustomer: number;
  asNewCustomer: number;
  /** Different people among the rows that go as a customer. */
  knownCustomers: number;
  newCustomers: number;
  unknownBoards: UnknownBoard[];
  /** Further unknown boards that are not listed. */
  moreUnknownBoards: number;
  duplicates: Duplicates;
}

export interface UnknownBoard {
  board: string;
  rows: number;
  /** Where it stands first. */
  line: number | null;
  nearest: string | null;
}

const BOARDS_LISTED = 100;

export interface Forecast {
  readonly outlook: Outlook;
  add(rows: readonly NewRow[]): Promise<void>;
}

export async function forecast(
  reads: ImportReads | null,
  scratch: Scratch,
  clock: Clock,
  searchMs?: number,
): Promise<Forecast> {
  const boards = (await reads?.boards()) ?? [];
  const filled = boards.length > 0 ? reads : null;
  const search = filled ? duplicateSearch(filled, clock, searchMs) : null;
  const outlook: Outlook = {
    mirror: filled ? 'filled' : 'empty',
    asOwner: 0,
    asKnownCustomer: 0,
    asNewCustomer: 0,
    knownCustomers: 0,
    newCustomers: 0,
    unknownBoards: [],
    moreUnknownBoards: 0,
    duplicates: search?.result ?? { checked: 0, found: 0, examples: [] },
  };
  const noteBoard = filled ? boardNoter(outlook, boards) : () => {};
  return {
    outlook,
    async add(rows) {
      for (const row of rows) noteBoard(row);
      await addPeople(outlook, rows, filled, scratch);
      await search?.look(rows);
    },
  };
}

async function addPeople(
  outlook: Outlook,
  rows: readonly NewRow[],
  reads: ImportReads | null,
  scratch: Scratch,
): Promise<void> {
  const emails = rows.flatMap(({ email }) => (email === null ? [] : [emailKey(email)]));
  outlook.asOwner += rows.length - emails.length;
  const known = (await reads?.customers([...new Set(emails)])) ?? new Set<string>();
  const met = scratch.remember(
    'customer',
    emails.map((email) => [email, ''] as const),
  );
  for (const [i, email] of emails.entries()) {
    const isNew = !known.has(email);
    if (isNew) outlook.asNewCustomer++;
    else outlook.asKnownCustomer++;
    if (met[i] !== null) continue;
    if (isNew) outlook.newCustomers++;
    else outlook.knownCustomers++;
  }
}

function boardNoter(outlook: Outlook, boards: readonly KnownBoard[]): (row: NewRow) => void {
  const slugs = new Set(boards.map((board) => board.slug));
  const unknown = new Map<string, UnknownBoard>();
  return ({ board, line }) => {
    if (slugs.has(board)) return;
    const noted = unknown.get(board);
    if (noted) {
      noted.rows++;
      return;
    }
    // Past the limit a board may be counted more than once: a file with so many has its columns mixed up.
    if (unknown.size >= BOARDS_LISTED) {
      outlook.moreUnknownBoards++;
      return;
    }
    const found = { board, rows: 1, line, nearest: nearestBoard(board, boards) };
    unknown.set(board, found);
    outlook.unknownBoards.push(found);
  };
}

/** People write a board's name where the API wants the short part of its URL: both are looked at, the latter is said. */
function nearestBoard(text: string, boards: readonly KnownBoard[]): string | null {
  const near = nearest(
    text,
    boards.flatMap((board) => [board.slug, board.name]),
  );
  return boards.find((board) => board.slug === near || board.name === near)?.slug ?? null;
}
