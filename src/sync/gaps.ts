import type { Key, KeyFamily, KeyRange } from '../store/mirror/seam.ts';
import { compareKeys, type Direction, keyOf, type Slot } from './order.ts';

/**
 * Proof of absence. A page is a contiguous slice of the list at one moment: if its rows stand in strict order of a key that
 * never changes, then any row whose key falls between two neighbours was not there at that moment, however much the list
 * moved before and after. Between two pages nothing is proven, because rows may have crossed from one to the other.
 */
export interface Gaps {
  by: KeyFamily;
  proven: KeyRange[];
  /** The gap to the page before, or from there to the end of the list. */
  suspected: KeyRange | null;
}

export interface PagePlace {
  by: KeyFamily;
  direction: Direction;
  isFirst: boolean;
  isLast: boolean;
  /** Key of the last row of the page before. */
  previous: Key | null;
}

export function gapsOf(slots: readonly Slot[], place: PagePlace): Gaps | null {
  const { by, direction, isFirst, isLast } = place;
  // A list of one page is a snapshot of everything, in whatever order.
  if (isFirst && isLast && !slots.includes(null))
    return { by: 'id', proven: [{ above: null, below: null }], suspected: null };
  if (direction !== 'desc' && direction !== 'asc') return null;
  const keys = slots.map((slot) => keyOf(slot, by));
  const runs = knownRuns(keys);
  const proven = runs.map(([first, last], i): KeyRange => {
    const opensList = isFirst && i === 0 && keys[0] !== null;
    const closesList = isLast && i === runs.length - 1 && keys.at(-1) !== null;
    return range(opensList ? null : first, closesList ? null : last, direction);
  });
  return { by, proven, suspected: suspected(keys, { ...place, direction }) };
}

/** First and last key of each stretch of rows with readable keys. */
function knownRuns(keys: readonly (Key | null)[]): [Key, Key][] {
  const runs: [Key, Key][] = [];
  let previous: Key | null = null;
  for (const key of keys) {
    const run = runs.at(-1);
    if (key && previous && run) run[1] = key;
    else if (key) runs.push([key, key]);
    previous = key;
  }
  return runs;
}

function range(first: Key | null, last: Key | null, direction: 'desc' | 'asc'): KeyRange {
  return direction === 'desc' ? { above: last, below: first } : { above: first, below: last };
}

/** What lies between the page before and this one; all the rest of the list where this one ends it without a row. */
function suspected(
  keys: readonly (Key | null)[],
  { by, previous, direction, isLast }: PagePlace & { direction: 'desc' | 'asc' },
): KeyRange | null {
  if (!previous) return null;
  if (keys.length === 0) return isLast ? range(previous, null, direction) : null;
  const [first = null] = keys;
  if (!first) return null;
  const step = compareKeys(first, previous, by);
  const goesOn = direction === 'desc' ? step < 0 : step > 0;
  return goesOn ? range(previous, first, direction) : null;
}
