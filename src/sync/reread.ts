import { codeOf } from '../base/errors.ts';
import type { Candidate, Key } from '../store/mirror/types.ts';
import { absenceShownBy } from './gaps.ts';
import {
  byOf,
  compareKeys,
  type Evidence,
  keyOf,
  type Order,
  orderFrom,
  type Slot,
  slotsOf,
  withPage,
} from './order.ts';
import { type AnyPage, type PassContext, writePage } from './pages.ts';
import { isUnsteady, type PreviousPage, type Sweep, type SweepState } from './state.ts';

/** Requests for reading again in a sweep, unless it had more pages itself. Candidates beyond wait for the next sweep. */
const LEAST_BUDGET = 20;
/** A row that fell between two pages is read twice more: meanwhile it mostly stands within a page. */
const MOST_ROUNDS = 2;
/** How far a list that has grown is followed for one place. */
const MOST_FOLLOWED = 3;

export interface Reread {
  /** About the order of the list, with what the pages that were read again add. */
  evidence: Evidence;
  /** False where a list without an order has another end than the sweep found. */
  isStable: boolean;
}

/**
 * Reads the places of rows that the sweep did not show once more. A page may have left a row out in silence, or the row crossed from one
 * page to another: whatever shows now is cleared by being written, and for the rest this is another read that speaks against the row.
 * Then the start of the list, where a row stands that moved up because somebody voted or commented. Where nothing is missing, nothing
 * is read.
 */
export async function reread(
  context: PassContext,
  under: Sweep,
  last: SweepState,
  lastIds: readonly number[],
): Promise<Reread> {
  const { pass, learned } = under;
  if (context.store.toReread(pass).total === 0) return { evidence: last.evidence, isStable: true };
  const candidates = (): Candidate[] => context.store.toReread(pass).candidates;
  const isQuiet = pass.counts.inserted + pass.counts.updated === 0;
  // Not a second time in the log: these rows were counted when the sweep came by.
  const { pages, rows, unchanged, quarantined } = pass.counts;
  const budget = Math.max(LEAST_BUDGET, pages);
  const reader = openReader(context, under, last.evidence, { budget, candidates });
  try {
    const order = orderFrom(last.evidence, learned.order);
    const isStable =
      order && !isUnsteady(order, learned)
        ? await rereadGaps(reader, order, candidates)
        : await rereadEnds(reader, last, lastIds, isQuiet);
    return { evidence: reader.evidence(), isStable };
  } finally {
    Object.assign(pass.counts, { pages, rows, unchanged, quarantined });
  }
}

async function rereadGaps(reader: Reader, order: Order, candidates: () => Candidate[]): Promise<true> {
  const budget = reader.left();
  let isLost = false;
  for (let round = 0; !isLost && round < MOST_ROUNDS; round++)
    isLost = await rereadPlaces(reader, order, candidates());
  const start = await reader.read('', null);
  // Where a cursor works once, or not for long, or the list has moved by pages, the way to a place leads from the start.
  if (isLost && start) await readOn(reader, start, budget);
  return true;
}

/**
 * Without an order nothing else tells that the list was cut short by one bad page, or that every request gets another order. Where
 * nothing has changed the whole list is read a second time.
 */
async function rereadEnds(
  reader: Reader,
  { first, previous }: SweepState,
  lastIds: readonly number[],
  isQuiet: boolean,
): Promise<boolean> {
  const start = isQuiet ? await reader.read('', null) : null;
  const isSame = start !== null && isSameStretch(first ? first.split(',').map(Number) : [], start.ids);
  const end = isSame
    ? await readOn(reader, start, reader.left())
    : await reader.read(previous?.cursor ?? '', null);
  if (!start) await reader.read('', null);
  return end?.page.next === null && isSameStretch(lastIds, end.ids);
}

/** The rest of the list after this page, at most so many pages of it; returns the last. */
async function readOn(reader: Reader, from: Read, most: number): Promise<Read | null> {
  let at: Read | null = from;
  for (let pages = 0; at && at.page.next !== null && pages < most; pages++)
    at = await reader.read(at.page.next, { ...at.page, key: at.keys.at(-1) ?? null });
  return at;
}

interface Reader {
  read(cursor: string, previous: SweepState['previous']): Promise<Read | null>;
  left(): number;
  evidence(): Evidence;
}

/** A page that was read again, with the keys of its readable rows in the order they stood. */
interface Read {
  page: Pick<AnyPage, 'cursor' | 'next'> & Required<Pick<PreviousPage, 'created' | 'size'>>;
  ids: number[];
  keys: Key[];
}

function openReader(
  context: PassContext,
  { pass, learned, state }: Sweep,
  walked: Evidence,
  { budget, candidates }: { budget: number; candidates: () => Candidate[] },
): Reader {
  const { client, signal, onPage } = context;
  let evidence = walked;
  let left = budget;
  return {
    async read(cursor, previous) {
      left--;
      const page = await client.page(pass.resource, cursor, signal).catch(unlessGone);
      if (!page) return null;
      const slots = slotsOf(pass.resource, page);
      evidence = withPage(evidence, slots);
      const absence = absenceShownBy(slots, page, { evidence, order: learned.order, previous });
      // Where the list shows a row twice, the copy that the sweep came by first counts here too.
      const missing = new Set(candidates().map(({ id }) => id));
      const repeated = new Set(page.rows.map(({ id }): number => id).filter((id) => !missing.has(id)));
      const read = { ...page, repeated };
      writePage(context, pass, read, { absence: { ...absence, isReread: true }, keepIds: state.keepIds });
      onPage(pass);
      const { next } = page;
      return {
        page: { cursor, next, created: slots.at(-1)?.created ?? null, size: slots.length },
        ids: page.rows.map(({ id }) => id),
        keys: keysOf(slots, evidence),
      };
    },
    left: () => left,
    evidence: () => evidence,
  };
}

/** Whether most rows of one reading stand in the other, in the same order; of a few rows nearly all. */
function isSameStretch(before: readonly number[], after: readonly number[]): boolean {
  const [kept, common] = [new Set(after), new Set(before)];
  const [a, b] = [before.filter((id) => kept.has(id)), after.filter((id) => common.has(id))];
  const length = Math.max(before.length, after.length);
  return a.length >= Math.max(length / 2, Math.min(length, 3)) && a.every((id, i) => id === b[i]);
}

/** A list that has shrunk may refuse its former last page: then that place is not seen, and waits. */
export function unlessGone(error: unknown): null {
  if (['refused', 'protocol'].includes(codeOf(error))) return null;
  throw error;
}

function keysOf(slots: readonly Slot[], evidence: Evidence): Key[] {
  return slots.map((slot) => keyOf(slot, byOf(evidence))).filter((key) => key !== null);
}

/** Returns whether a place was not shown again. */
async function rereadPlaces(
  reader: Reader,
  order: Order,
  candidates: readonly Candidate[],
): Promise<boolean> {
  const sorted = candidates.toSorted((a, b) => along(order, a.key, b.key));
  const pending = new Map(sorted.map(({ id, key }) => [id, key]));
  for (const { page, pageBefore, rows } of byPage(candidates)) {
    const open = rows.filter(({ id }) => pending.has(id)).toSorted((a, b) => along(order, a.key, b.key));
    const [first, last] = [open.at(0), open.at(-1)];
    if (!first || !last || reader.left() <= 0) continue;
    const covered = await rereadPlace(reader, order, { page, pageBefore, first: first.key, last: last.key });
    if (covered === null) return true;
    for (const [id, key] of pending)
      if (covered.some((reach) => isWithin(order, key, reach))) pending.delete(id);
  }
  return false;
}

interface Place {
  page: string;
  pageBefore: string | null;
  /** The first and the last key looked for. */
  first: Key;
  last: Key;
}

type Reach = [first: Key, last: Key];

/**
 * Reads one place where it was, and before or after that where the list has moved since; returns what was covered. Null where the place
 * was not shown: a cursor that is used up may be refused, or show nothing, or the start of the list.
 */
async function rereadPlace(reader: Reader, order: Order, place: Place): Promise<Reach[] | null> {
  const reaches: Reach[] = [];
  let at = await reader.read(place.page, null);
  if (!at || startsAfter(order, at, place.first)) {
    if (at) reaches.push(...reachOf(at));
    at = place.pageBefore === null ? null : await reader.read(place.pageBefore, null);
  }
  if (!at || startsAfter(order, at, place.first)) return null;
  let before: (Read['page'] & { key: Key; isAcross?: true }) | null = null;
  for (let pages = 1; ; pages++) {
    reaches.push(...reachOf(at));
    const { page, keys }: Read = at;
    const key = keys.at(-1);
    if (key) before = { ...page, key };
    else if (before !== null && page.next !== null) before = across(before);
    const isReached = page.next === null || (key !== undefined && along(order, key, place.last) >= 0);
    if (isReached || reader.left() <= 0) break;
    if (pages === MOST_FOLLOWED) return null;
    at = await reader.read(page.next as string, before);
    if (!at) return null;
    const [first] = at.keys;
    if (before && first) reaches.push([before.key, first]);
  }
  return reaches;
}

function across<T extends object>(before: T): T & { isAcross: true } {
  return { ...before, isAcross: true };
}

/** Rows that went away above have moved the page down: what stood at its old beginning is on the page before it. */
function startsAfter(order: Order, { page, keys }: Read, key: Key): boolean {
  const [first] = keys;
  return page.cursor !== '' && (first === undefined || along(order, first, key) > 0);
}

function reachOf({ keys }: Read): Reach[] {
  const [first, last] = [keys.at(0), keys.at(-1)];
  return first && last ? [[first, last]] : [];
}

function isWithin(order: Order, key: Key, [first, last]: Reach): boolean {
  return along(order, first, key) <= 0 && along(order, key, last) <= 0;
}

/** Below 0 when the first key stands before the second in the list. */
function along({ by, direction }: Order, a: Key, b: Key): number {
  const step = compareKeys(a, b, by);
  return direction === 'asc' ? step : -step;
}

/** Rows to look for by the page that held their place; rows that lack least come first, so that they are concluded first. */
function byPage(candidates: readonly Candidate[]): (Omit<Place, 'first' | 'last'> & { rows: Candidate[] })[] {
  const groups = Map.groupBy(candidates, ({ page }) => page);
  return [...groups].map(([page, rows]) => ({ page, pageBefore: rows[0]?.pageBefore ?? null, rows }));
}
