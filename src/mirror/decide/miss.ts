import type { IdIndex } from './ids.ts';

/** What a sweep showed: the ids row by row, and where each page of them begins. */
export interface Shown {
  ids: Float64Array;
  starts: Uint32Array;
  index: IdIndex;
}

/** The number of the page on which this row was shown. The first page is 0. */
export function pageNumberOf({ starts }: Shown, at: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Two sweeps, one after the other. */
export interface Compared {
  /** What the last complete sweep showed. */
  last: Float64Array;
  shown: Shown;
  /** Living rows that this sweep did not show. */
  absent: ReadonlySet<number>;
  /** Rows that the last complete sweep missed, and the rows that it showed before and after their places. */
  missing: ReadonlyMap<number, { before: number | null; after: number | null }>;
  learned: { distrusted: number };
}

/**
 * How a sweep missed a row. The last sweep that showed it had one row before it and one after it. Where one of them is missing too, the
 * next one in that direction takes its place. New rows count as neighbours from the second sweep on that shows them.
 * `inside`: these two are on one page, the one before it first, and neither was shown twice;
 * `between`: they are on two pages, or in another order, or one of them was shown twice;
 * `frozen`: as `between`, but this sweep showed exactly what the last one showed;
 * `edge`: no row is left before it, or none after it;
 * `unstable`: the order of these pages changed from one request to the next, so the miss says nothing.
 */
export type Way = 'inside' | 'between' | 'frozen' | 'edge' | 'unstable';

/** An absent row, and where the rows before and after it are now; -1 where there is none. */
export interface Miss {
  id: number;
  before: number;
  after: number;
  way: Way;
}

/** Rows of equal rank go on so far beyond the pages that show some of them twice; of 20 or more one is nearly always shown twice. */
const REACH = 30;

/** Every absent row with its way, how many different rows were shown, and how many came again without having been pushed down. */
export function missesOf(sweeps: Compared) {
  const { last, shown, learned } = sweeps;
  const isFrozen = shown.ids.length === last.length && shown.ids.every((id, at) => id === last[at]);
  const repeats = repeatsOf(shown, isFrozen, learned.distrusted > 0);
  const misses = placesOf(sweeps).map((place): Miss => {
    return { ...place, way: wayOf(place, shown, repeats, isFrozen) };
  });
  return { misses, rows: shown.index.size, outOfPlace: repeats.outOfPlace };
}

type Place = Omit<Miss, 'way'>;

function placesOf({ last, shown, absent, missing }: Compared): Place[] {
  if (absent.size === 0) return [];
  const around = [...missing.values()].flatMap(({ before, after }) => [before ?? -1, after ?? -1]);
  const stood = placesIn(last, new Set([...absent, ...around]));
  const places = [...absent].map((id) => [id, ...neighboursOf(id, stood, missing)] as const);
  const rowBefore = nearestShown(last, shown.index, -1, new Set(places.map(([, before]) => before)));
  const rowAfter = nearestShown(last, shown.index, 1, new Set(places.map(([, , after]) => after)));
  return places.map(([id, before, after]) => ({ id, before: rowBefore(before), after: rowAfter(after) }));
}

/** Where some rows first stood in the last sweep. One reading of the list takes less memory than an index of it. */
function placesIn(last: Float64Array, ids: ReadonlySet<number>): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = last.length - 1; at >= 0; at--)
    if (ids.has(last[at] as number)) places.set(last[at] as number, at);
  return places;
}

/**
 * Where the rows before and after an absent row were in the last sweep. A row that was first or last by then gets a neighbour where the
 * last sweep showed new rows. A row without a place, as a head pass brings it, comes first.
 */
function neighboursOf(
  id: number,
  stood: ReadonlyMap<number, number>,
  missing: Compared['missing'],
): [number, number] {
  const at = stood.get(id);
  if (at !== undefined) return [at - 1, at + 1];
  const row = missing.get(id);
  const [before, after] = [stood.get(row?.before ?? -1) ?? -1, stood.get(row?.after ?? -1) ?? -1];
  return [before >= 0 ? before : Math.max(0, after) - 1, after >= 0 ? after : before + 1];
}

/** Finds the nearest row in one direction that this sweep shows, from some places in the last sweep on. */
function nearestShown(last: Float64Array, index: IdIndex, step: 1 | -1, from: ReadonlySet<number>) {
  const found = new Map<number, number>();
  let nearest = -1;
  for (let at = step > 0 ? last.length - 1 : 0; at in last; at -= step) {
    const now = index.get(last[at] as number);
    if (now >= 0) nearest = now;
    if (from.has(at)) found.set(at, nearest);
  }
  return (at: number): number => found.get(at) ?? -1;
}

function wayOf({ before, after }: Place, shown: Shown, repeats: Repeats, isFrozen: boolean): Way {
  const around = [before, after].filter((at) => at >= 0);
  if (around.some((at) => isNear(repeats.unstable, shown, at))) return 'unstable';
  if (around.length < 2) return 'edge';
  const isTogether = before < after && pageNumberOf(shown, before) === pageNumberOf(shown, after);
  const isTwice = around.some((at) => repeats.ids.has(shown.ids[at] as number));
  if (isTogether && !isTwice) return 'inside';
  return isFrozen ? 'frozen' : 'between';
}

/** Whether a row is on one of these pages, or so near to one that it can be of equal rank with rows there. */
function isNear(unstable: ReadonlySet<number>, shown: Shown, at: number): boolean {
  if (unstable.size === 0) return false;
  const first = pageNumberOf(shown, Math.max(0, at - REACH));
  const last = pageNumberOf(shown, Math.min(shown.ids.length - 1, at + REACH));
  for (let near = first; near <= last; near++) if (unstable.has(near)) return true;
  return false;
}

/** Rows that a sweep showed twice. */
interface Repeats {
  ids: Set<number>;
  outOfPlace: number;
  /** Pages whose order changed from one request to the next. */
  unstable: Set<number>;
}

/**
 * New rows push others down: the last rows of a page come again at the start of the next one. A row that comes again in any other way is
 * out of place: it shows that the order changed between two requests, as where rows have equal dates and the database has no second key.
 * Nothing is pushed down in a list that did not move. The pages from the first to the second place of such a row are unstable. In a
 * distrusted list this also holds for rows that seem to be pushed down, but those do not renew the distrust.
 */
function repeatsOf(shown: Shown, isFrozen: boolean, isDistrusted: boolean): Repeats {
  const { ids, starts, index } = shown;
  const repeats: Repeats = { ids: new Set(), outOfPlace: 0, unstable: new Set() };
  if (index.size === ids.length) return repeats;
  for (const [here, start] of starts.entries()) {
    const end = starts[here + 1] ?? ids.length;
    const pushed = isFrozen ? 0 : pushedDown(shown, start);
    for (let at = start; at < end; at++) {
      const first = index.get(ids[at] as number);
      if (first === at) continue;
      repeats.ids.add(ids[at] as number);
      const isInPlace = at < start + pushed;
      if (!isInPlace) repeats.outOfPlace++;
      if (isInPlace && !isDistrusted) continue;
      for (let n = pageNumberOf(shown, first); n <= here; n++) repeats.unstable.add(n);
    }
  }
  return repeats;
}

/** How many rows right before a page come again at its start, in the same order. */
function pushedDown({ ids, index }: Shown, start: number): number {
  const rows = start - index.get(ids[start] ?? -1);
  const again = ids.subarray(start, start + rows);
  return ids.subarray(start - rows, start).every((id, n) => id === again[n]) ? rows : 0;
}
