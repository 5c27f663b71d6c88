import { type IdIndex, indexOf } from '../ids.ts';

/** What a sweep showed: the ids row by row, and the page on which each of them was. */
export interface Shown {
  ids: Float64Array;
  page: Uint32Array;
}

/**
 * How a sweep missed a row:
 * `inside`: the rows that were around it are now next to each other on one page, and neither was shown twice;
 * `between`: they are on two pages, or apart, or one of them was shown twice, or more than three rows are missing in a row;
 * `frozen`: as `between`, but this sweep showed exactly what the last one showed;
 * `edge`: no row is left before it, or none after it;
 * `unstable`: the order of these pages changed from one request to the next, so the miss says nothing.
 */
export type Way = 'inside' | 'between' | 'frozen' | 'edge' | 'unstable';

/** Rows that are missing in a row, and where the nearest rows around them are now; -1 where there is none. */
export interface Miss {
  ids: number[];
  before: number;
  after: number;
  way: Way;
}

export interface Misses {
  misses: Miss[];
  /** Rows that were shown. */
  rows: number;
  /** Rows that came again out of place. */
  outOfPlace: number;
}

/** Where more rows than this are missing in a row, a piece of the list was lost: that happens to living rows. */
const MOST_TOGETHER = 3;
/** Rows of equal rank go on so far beyond the pages that show some of them twice; of 20 or more one is nearly always shown twice. */
const REACH = 30;

/**
 * How each absent row was missed. `former` is what the last sweep showed, with the rows that it missed (`missed`) in their places.
 * `isDistrusted`: the order of this list was unstable lately.
 */
export function missesOf(
  former: Float64Array,
  missed: { has(id: number): boolean },
  shown: Shown,
  absent: ReadonlySet<number>,
  isDistrusted: boolean,
): Misses {
  const index = indexOf(shown.ids);
  const isFrozen = isSame(former, missed, shown);
  const repeats = repeatsOf(shown, index, isFrozen || isDistrusted);
  const misses = gapsOf(former, absent, index).map((gap) => ({
    ...gap,
    way: wayOf(gap, shown, repeats, isFrozen),
  }));
  return { misses, rows: index.size, outOfPlace: repeats.outOfPlace };
}

type Gap = Omit<Miss, 'way'>;

function gapsOf(former: Float64Array, absent: ReadonlySet<number>, index: IdIndex): Gap[] {
  const gaps: Gap[] = [];
  let gap: Gap = { ids: [], before: -1, after: -1 };
  for (const id of absent.size === 0 ? [] : former) {
    if (absent.has(id)) gap.ids.push(id);
    const at = index.get(id);
    if (at < 0) continue;
    if (gap.ids.length > 0) gaps.push({ ...gap, after: at });
    gap = { ids: [], before: at, after: -1 };
  }
  return gap.ids.length > 0 ? [...gaps, gap] : gaps;
}

function wayOf({ ids, before, after }: Gap, shown: Shown, repeats: Repeats, isFrozen: boolean): Way {
  const around = [before, after].filter((at) => at >= 0);
  if (around.some((at) => isNear(repeats.unstable, shown, at))) return 'unstable';
  if (around.length < 2) return 'edge';
  const isTogether = after === before + 1 && shown.page[before] === shown.page[after];
  const isTwice = around.some((at) => repeats.ids.has(shown.ids[at] as number));
  if (isTogether && !isTwice && ids.length <= MOST_TOGETHER) return 'inside';
  return isFrozen ? 'frozen' : 'between';
}

/** Whether a row is on one of these pages, or so near to one that it can be of equal rank with rows there. */
function isNear(unstable: ReadonlySet<number>, { page }: Shown, at: number): boolean {
  if (unstable.size === 0) return false;
  const [first = 0, last = 0] = [page[Math.max(0, at - REACH)], page[Math.min(page.length - 1, at + REACH)]];
  for (let near = first; near <= last; near++) if (unstable.has(near)) return true;
  return false;
}

function isSame(former: Float64Array, missed: { has(id: number): boolean }, { ids }: Shown): boolean {
  let at = 0;
  for (const id of former) if (!missed.has(id) && ids[at++] !== id) return false;
  return at === ids.length;
}

/** Rows that a sweep showed twice. */
interface Repeats {
  ids: Set<number>;
  outOfPlace: number;
  /** Pages whose order changed from one request to the next. */
  unstable: Set<number>;
}

/**
 * New rows push others down: those come again at the start of the next page, in the same order. A row that comes again in any other way
 * shows that the order changed between two requests, as where rows have equal dates and the database has no second key. Then the pages
 * from its first to its second place are unstable. On a list that did not move, or that is distrusted, every row that comes again does so.
 */
function repeatsOf({ ids, page }: Shown, index: IdIndex, isDistrusted: boolean): Repeats {
  const repeats: Repeats = { ids: new Set(), outOfPlace: 0, unstable: new Set() };
  if (index.size === ids.length) return repeats;
  // Where the last row that was pushed down to the start of this page first was; beyond all rows once another row has come.
  let pushed = ids.length;
  for (let at = 0; at < ids.length; at++) {
    const [id, here] = [ids[at] as number, page[at] as number];
    const first = index.get(id);
    if (page[at - 1] !== here) pushed = -1;
    const isPushed = first < at && first > pushed && page[first] === here - 1;
    pushed = isPushed ? first : ids.length;
    if (first === at) continue;
    repeats.ids.add(id);
    if (isPushed && !isDistrusted) continue;
    repeats.outOfPlace++;
    for (let n = page[first] as number; n <= here; n++) repeats.unstable.add(n);
  }
  return repeats;
}
