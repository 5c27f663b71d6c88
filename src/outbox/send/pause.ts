import type { CreateOutcome } from '../../api/client.ts';
import { iso } from '../../base/clock.ts';
import type { OutboxRow } from '../decide/types.ts';
import { isClosed, isOfBoard } from '../store/refused.ts';
import type { OutboxContext } from './context.ts';

/** Sending stops after so many such answers in a row: each number that cannot be read leaves an unclear row. */
const MOST_UNREADABLE = 3;
const UNREADABLE = 'the service answers with numbers of posts that cannot be read';
const unreadable = new WeakMap<object, number>();

export function stopWhereUnreadable({ store }: OutboxContext, outcome: CreateOutcome): void {
  if (outcome.outcome !== 'unknown' && outcome.outcome !== 'confirmed') return;
  const times = 'isIdUnreadable' in outcome ? (unreadable.get(store) ?? 0) + 1 : 0;
  unreadable.set(store, times);
  if (times >= MOST_UNREADABLE)
    store.setPaused(
      `${UNREADABLE}: they are texts, or beyond 2^53. Nothing more is sent; the posts exist, and the next start tries again`,
    );
}

/** A token that is refused sends nothing; one that lacks a permission (403) may still post to other boards. */
export function holdBack({ store, clock }: OutboxContext, row: OutboxRow, httpStatus: number): void {
  const now = clock.now();
  const at = iso(now);
  if (httpStatus !== FORBIDDEN) {
    store.setPaused(`the upstream refused the token (${httpStatus}) at ${at}`);
    return;
  }
  const known = store.refusedBoards().find((board) => isOfBoard(row, board));
  // Rows that were on their way together are one refusal.
  if (known && isClosed(known, now)) return;
  const { board, kind } = row;
  const refusals = (known?.refusals ?? 0) + 1;
  const until = iso(now + doubling(REFUSED_BOARD, refusals));
  store.refuseBoard({ board, kind, since: known?.since ?? at, refused_at: at, until, refusals });
}

export const FORBIDDEN = 403;

/**
 * How long a refused board waits. A row that was refused while others wait for the board waits longer than the board: the upstream may
 * mind the words of this row, so another row is tried next.
 */
const REFUSED_BOARD = { firstMs: 30_000, longestMs: 300_000 };
const REFUSED_ROW = { firstMs: 120_000, longestMs: 3_600_000 };

/** How long a row waits that was refused while others wait for its board. */
export function refusedRowMs(attempts: number): number {
  return doubling(REFUSED_ROW, attempts);
}

function doubling({ firstMs, longestMs }: typeof REFUSED_ROW, times: number): number {
  return Math.min(longestMs, firstMs * 2 ** (times - 1));
}

/** Tries refused boards at once when a sender starts: a person may have corrected the permission. */
export function retryRefused({ store, clock }: OutboxContext): void {
  for (const board of store.refusedBoards()) store.refuseBoard({ ...board, until: iso(clock.now()) });
}

/** Sending was paused because of the token: a read shows whether that is over. */
export async function endPause({ store, client, signal }: OutboxContext, isStart = true): Promise<void> {
  const reason = store.paused();
  // A read tells nothing about the answers to creates.
  if (reason === null || (reason.startsWith(UNREADABLE) && !isStart)) return;
  await client.page('posts', '', signal);
  store.setPaused(null);
}
