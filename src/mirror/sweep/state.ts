import type { ListFacts } from '../decide/list-facts.ts';
import type { Pass, PassCounts } from '../decide/types.ts';

/** What a sweep carries from page to page, and over a kill. */
export interface SweepState {
  /** The page to read next. */
  cursor: string;
  /** A cache in between showed a page as it was before the last sweep: this sweep says nothing that was not counted then. */
  isCached: boolean;
  /** A row came without an id that can be read: it may be any of those that seem to be missing. */
  hasUnknownRows: boolean;
  /** How many rows the list has by the service's own word; null where it says nothing, or two numbers. */
  count: number | null | undefined;
  /** Rows that were new to the mirror, on the pages that a head pass reads and on all others. */
  newAtStart: number;
  newElsewhere: number;
}

export const NEW_SWEEP: SweepState = {
  cursor: '',
  isCached: false,
  hasUnknownRows: false,
  count: undefined,
  newAtStart: 0,
  newElsewhere: 0,
};

/** A sweep under way. `state` is where a resumed one would start, `counts` what it would start with: they move on with each page. */
export interface Sweep {
  pass: Pass;
  facts: ListFacts;
  state: SweepState;
  counts: PassCounts;
}
