import { secondIn } from '../api/next.ts';
import { isNumbered } from '../api/walk.ts';
import type { Absence, Gap, Key, KeyFamily, KeyRange } from '../store/mirror/types.ts';
import {
  byOf,
  compareKeys,
  type Direction,
  type Evidence,
  isUnreadable,
  keyOf,
  type Order,
  type Slot,
} from './order.ts';
import type { AnyPage } from './pages.ts';
import type { SweepState } from './state.ts';

export interface PagePlace {
  by: KeyFamily;
  direction: Direction;
  cursor: string;
  isFirst: boolean;
  isLast: boolean;
  /** The second of which rows may have been skipped before this page. */
  tie: string | null;
  /** The page before, as this walk read it; null at its start. */
  previous: SweepState['previous'];
  /** The page before was read once more, and ends where this one begins. */
  isNext?: boolean;
}

/** What the walk knows when it comes to a page. */
export interface Seen extends Pick<PagePlace, 'previous' | 'isNext'> {
  /** With this page. */
  evidence: Evidence;
  order: Order | null;
}

/** Where the page shows that nothing else stood, in the order seen so far, or the known one where no page had two rows yet. */
export function absenceShownBy(
  slots: readonly Slot[],
  { cursor, next, previous: earlier }: Pick<AnyPage, 'cursor' | 'next' | 'previous'>,
  { evidence, order, ...before }: Seen,
): Absence {
  const by = byOf(evidence);
  const seen = evidence[by];
  const direction = seen === 'none' && order?.by === by ? order.direction : seen;
  const place = { by, direction: direction === 'unread' ? ('none' as const) : direction };
  if (isUnreadable(slots)) return { by, gaps: [] };
  const isFirst = cursor === '' && earlier === null;
  const tie = skippedSecond({ cursor, next }, before.previous);
  return { by, gaps: gapsOf(slots, { ...place, cursor, isFirst, isLast: next === null, tie, ...before }) };
}

/** The second of which the service may have skipped rows between the page before and this one. */
export function skippedSecond(
  { cursor, next }: Pick<AnyPage, 'cursor' | 'next'>,
  previous: SweepState['previous'],
): string | null {
  if (!previous) return null;
  // Of pages without rows in between nobody knows where they end.
  const created = previous.isAcross ? null : (previous.created ?? null);
  return secondIn(cursor, { id: previous.key?.id ?? 0, created }, [previous.cursor, next ?? '']);
}

/**
 * Where a page shows that nothing else stood. A page is a contiguous slice of the list at one moment: if its rows stand in strict order
 * of a key that never changes, then any row whose key falls between two neighbours was not there at that moment, however much the list
 * moved before and after. Between two pages a row may have crossed from one to the other, and a list that is cut short or lags ends like
 * one that lost its last rows: those gaps count for less.
 */
export function gapsOf(slots: readonly Slot[], place: PagePlace): Gap[] {
  const { by, direction, cursor, isFirst, isLast, tie, previous, isNext = false } = place;
  const isStrict = direction === 'desc' || direction === 'asc';
  const at = { page: cursor, pageBefore: previous?.cursor ?? null };
  // A list of one page is a snapshot of everything, in whatever order.
  if (isFirst && isLast && (!isStrict || slots.length === 0))
    return slots.includes(null)
      ? []
      : [{ range: { above: null, below: null }, kind: slots.length === 0 ? 'end' : 'between', ...at }];
  if (!isStrict) return [];
  const keys = slots.map((slot) => keyOf(slot, by));
  const gap = (first: Key | null, last: Key | null, kind: Gap['kind']): Gap => ({
    range: rangeOf(first, last, direction),
    kind,
    ...at,
  });
  const gaps = knownRuns(keys).map(([first, last]) => gap(first, last, 'inside'));
  const [first = null, last = null] = [keys.at(0), keys.at(-1)];
  if (isFirst && first) gaps.push(gap(null, first, 'between'));
  if (isLast && last) gaps.push(gap(last, null, 'end'));
  // A larger page by its number may have skipped rows. Where the page before it ends with the same row as it did, rows are left out either
  // there or in all smaller pages, and nobody can tell where.
  const isLarger =
    slots.length > (previous?.size ?? slots.length) && isNumbered(cursor, previous?.cursor ?? '');
  if (isLarger && !isNext) return gaps;
  if (!previous?.key || !continues(previous.key, { by, direction, isLast }, keys)) return gaps;
  // To be read again from the page before it on.
  const kind = first && !previous.isAcross ? 'between' : 'end';
  return [
    ...gaps,
    {
      ...gap(previous.key, first, kind),
      ...{ page: previous.cursor, pageBefore: null },
      ...(tie && { tie }),
      ...(isLarger && { isDoubtful: true as const }),
    },
  ];
}

/** First and last key of each stretch of rows with readable keys. */
function knownRuns(keys: readonly (Key | null)[]): [Key, Key][] {
  const runs: [Key, Key][] = [];
  let run: [Key, Key] | null = null;
  for (const key of keys) {
    if (key === null) run = null;
    else if (run) run[1] = key;
    else {
      run = [key, key];
      runs.push(run);
    }
  }
  return runs;
}

function rangeOf(first: Key | null, last: Key | null, direction: 'desc' | 'asc'): KeyRange {
  return direction === 'desc' ? { above: last, below: first } : { above: first, below: last };
}

/** Whether the page goes on after the last row of the page before, or ends the list there without a row. */
function continues(
  previous: Key,
  { by, direction, isLast }: Pick<PagePlace, 'by' | 'direction' | 'isLast'>,
  keys: readonly (Key | null)[],
): boolean {
  if (keys.length === 0) return isLast;
  const [first] = keys;
  if (!first) return false;
  const step = compareKeys(first, previous, by);
  return direction === 'desc' ? step < 0 : step > 0;
}
