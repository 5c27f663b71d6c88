import type { Resource } from '../contract/endpoints.ts';
import type { Key, Pass, PassCounts } from '../store/mirror/types.ts';
import { type Evidence, isSameOrder, type Numbers, noEvidence, type Order } from './order.ts';

/** The page before, with the key of its last row and the time that row shows. */
export interface PreviousPage {
  cursor: string;
  key: Key | null;
  created?: string | null;
  /** Pages without a row stood in between. */
  isAcross?: true;
  /** Most rows of a page so far. */
  size?: number;
}

/** What a sweep carries from page to page, and over a kill. */
export interface SweepState {
  /** The page to read next. */
  cursor: string;
  previous: PreviousPage | null;
  evidence: Evidence;
  /** The ids of all pages are kept: the order is not trusted yet, and may turn out to be none. */
  keepIds: boolean;
  /** The ids of the first page, where they are kept: it may be read again at the end. A text, because it is written with every page. */
  first: string | null;
  /** A row was shown on two pages, or a page in the middle had none: the list moved while it was read, or is not whole. */
  moved: boolean;
  /** Cursors name the time of the row they go on after, and not the row. */
  isTimed?: true;
  /** And more finely than the rows show it. */
  isFiner?: true;
  /** A cache in between showed a page as it was before the last sweep: it says nothing that was not counted then. */
  isCached?: true;
  /** The last row that was shown. */
  lastId: number | null;
  /** When the last page was received. */
  receivedAt?: number;
}

/** What passes have learned about a list. */
export interface Learned {
  order: Order | null;
  /** Complete sweeps in a row that found this order in every page. */
  strict: number;
  /** Sweeps found different orders before any of them was trusted, and none has been since. */
  unsteady?: true;
  /** How the changeable numbers ran along the list in those sweeps; null before the first. */
  numbers: Numbers | null;
  /** The ids were out of order: read creation times from the first page on. */
  tryCreated: boolean;
  /**
   * The high-water mark: up to here the mirror had no hole when a pass last began. It stays until some pass has read down to it:
   * otherwise an interrupted pass would leave its newest rows on top of a hole, and every later one would stop at those.
   */
  highWater: Key | null;
  /** The row at which the last complete sweep saw the list end: one that is cut short mostly ends at another. */
  end?: number | null;
  /** When that sweep had read the list. */
  readAt?: number;
}

export const NOTHING_LEARNED: Learned = {
  order: null,
  strict: 0,
  numbers: null,
  tryCreated: false,
  highWater: null,
};

/** Sweeps in a row that must have found a list in its order before rows are deleted by it; a single odd page takes them all back. */
export const STRICT_SWEEPS = 3;

/**
 * Whether the order changes so often that none comes to be trusted: two servers may sort the list each in its way, and answer in turn.
 * Then it is for deletions a list without an order. A list that had none at first is not meant: its order may only have been found now.
 */
export function isUnsteady(order: Order | null, { strict, unsteady, order: known }: Learned): boolean {
  return strict < STRICT_SWEEPS && (unsteady === true || (known !== null && !isSameOrder(order, known)));
}

export function newSweep(resource: Resource, { order, strict, numbers, tryCreated }: Learned): SweepState {
  const evidence = noEvidence(resource, tryCreated || order?.by === 'created', numbers);
  return {
    cursor: '',
    previous: null,
    evidence,
    keepIds: strict < STRICT_SWEEPS,
    first: null,
    moved: false,
    lastId: null,
  };
}

export function readLearned(text: string | null): Learned {
  return text === null ? NOTHING_LEARNED : (JSON.parse(text) as Learned);
}

/** A sweep under way. `state` is where a resumed one would start, `counts` what it would start with: they move on with each page. */
export interface Sweep {
  pass: Pass;
  learned: Learned;
  state: SweepState;
  counts: PassCounts;
}
