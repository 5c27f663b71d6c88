import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { dropMeta, scalar, writeMeta } from '../../db/sql.ts';
import type { OutboxRow } from '../decide/types.ts';

/** A board to which the upstream lets this token send no posts of that kind: it answered 403. */
export interface RefusedBoard extends Pick<OutboxRow, 'board' | 'kind'> {
  /** Of the first refusal since a post was taken there. */
  since: string;
  /** Of the last one. */
  refused_at: string;
  /** Until then no row of it is sent. */
  until: string;
  refusals: number;
}

const KEY = 'push_refused';

/** A condition on `outbox`: the row's board is not refused. Refused boards are few, so they are one note and no table. */
export const BOARD_IS_OPEN = "(kind || ' ' || board NOT IN (SELECT value FROM json_each($refused)))";

export function refusedBoards(db: Db) {
  const read = scalar(db)<[], string>(`SELECT value FROM meta WHERE key = '${KEY}'`);
  const all = (): RefusedBoard[] => JSON.parse(read.get() ?? '[]') as RefusedBoard[];
  const write = (boards: readonly RefusedBoard[]): void =>
    boards.length === 0 ? dropMeta(db, KEY) : writeMeta(db, KEY, JSON.stringify(boards));
  const without = (lane: Lane): RefusedBoard[] => all().filter((one) => nameOf(one) !== nameOf(lane));
  const waits = scalar(db)<Lane, number>(`
    SELECT EXISTS (SELECT 1 FROM outbox WHERE state IN ('ready', 'sending') AND board = $board AND kind = $kind)`);
  return {
    /** Those that rows wait for. */
    wanted: (): RefusedBoard[] => all().filter(({ board, kind }) => waits.get({ board, kind }) === 1),
    /** Those of which no row is sent now. */
    closed: (now: number): RefusedBoard[] => all().filter((board) => isClosed(board, now)),
    put: (board: RefusedBoard): void => write([...without(board), board]),
    /** A post of that kind was taken there. */
    drop(lane: Lane): void {
      const others = without(lane);
      if (others.length < all().length) write(others);
    },
  };
}

type Lane = Pick<OutboxRow, 'board' | 'kind'>;

function nameOf({ board, kind }: Lane): string {
  return `${kind} ${board}`;
}

/** The value of `$refused` in `BOARD_IS_OPEN`. */
export function namesOf(boards: readonly RefusedBoard[]): string {
  return JSON.stringify(boards.map(nameOf));
}

export function isOfBoard(row: Lane, board: RefusedBoard): boolean {
  return nameOf(row) === nameOf(board);
}

/** A refusal that lies in the future was noted by a clock that was ahead: it counts as over. */
export function isClosed({ refused_at, until }: RefusedBoard, now: number): boolean {
  const at = iso(now);
  return refused_at <= at && at < until;
}

/** Where sending is paused as a whole. */
export const TOKEN_HINT = 'Put a valid token in FEEDBACK_API_TOKEN; the next sender tries it.';

export function refusedText({ board, kind, since }: RefusedBoard): string {
  const whose = kind === 'as-user' ? ' in the name of customers' : '';
  return `the upstream has answered posts${whose} to the board ${board} with 403 since ${since}`;
}

export const REFUSED_HINT =
  'The token may lack the permission to post there. Its rows wait and are tried again by and by, at most an hour apart; other boards continue.';
