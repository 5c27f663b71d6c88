import type { Numbers } from './columns.ts';

/** Ids below this are looked up in an array, which takes a tenth of the time of a map. */
export const DENSE = 2 ** 24;

export function setOf(ids: readonly number[] | Float64Array): (id: number) => boolean {
  let greatest = -1;
  for (const id of ids) greatest = Math.max(greatest, id);
  if (greatest >= DENSE) {
    const set = new Set(ids);
    return (id) => set.has(id);
  }
  const flags = new Uint8Array(greatest + 1);
  for (const id of ids) flags[id] = 1;
  return (id) => flags[id] === 1;
}

/** The greatest weight stands first; the order of those that weigh the same. */
interface Order {
  weight(row: number): number;
  ties(a: number, b: number): number;
}

/** The first of some rows by an order, in it. Sorting all would take longer than everything else. */
export function firstBy(
  rows: Int32Array,
  limit: number,
  { weight, ties }: Order,
  isWanted: (row: number) => boolean = () => true,
): number[] {
  const best: number[] = [];
  const compare = (a: number, b: number): number => weight(b) - weight(a) || ties(a, b);
  let least = Number.NEGATIVE_INFINITY;
  for (let n = 0; n < rows.length && limit > 0; n++) {
    const row = rows[n] ?? 0;
    // Nearly all of a million rows end here.
    if (weight(row) < least || !isWanted(row)) continue;
    const worst = best[limit - 1];
    if (worst !== undefined && compare(row, worst) >= 0) continue;
    let [low, high] = [0, best.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(best[middle] ?? 0, row) <= 0) low = middle + 1;
      else high = middle;
    }
    best.splice(low, 0, row);
    if (best.length > limit) best.pop();
    if (best.length === limit) least = weight(best.at(-1) ?? 0);
  }
  return best;
}

/**
 * The rows with at least so great a number, in their order. Reports begin with this loop: V8 compiles it with the first of them, and of a
 * million rows it leaves few to the loops that run once.
 */
export function rowsFrom(numbers: Numbers, least: number): Int32Array {
  const found = new Int32Array(numbers.length);
  let count = 0;
  for (let row = 0; row < numbers.length; row++) if ((numbers[row] ?? 0) >= least) found[count++] = row;
  return found.subarray(0, count);
}

/** The rows with one of these numbers, in their order. */
export function rowsIn(numbers: Numbers, has: ReturnType<typeof setOf>): Int32Array {
  const found = new Int32Array(numbers.length);
  let count = 0;
  for (let row = 0; row < numbers.length; row++) if (has(numbers[row] ?? 0)) found[count++] = row;
  return found.subarray(0, count);
}

/** Those of some rows that are wanted, in their order. */
export function rowsWhere(rows: Int32Array, isWanted: (row: number) => boolean): Int32Array {
  const found = new Int32Array(rows.length);
  let count = 0;
  for (let n = 0; n < rows.length; n++) {
    const row = rows[n] ?? 0;
    if (isWanted(row)) found[count++] = row;
  }
  return found.subarray(0, count);
}

/** The first so many rows of a table. */
export function rowsUpTo(count: number): Int32Array {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** Keeps the result for a column. A write to the mirror makes new objects of columns, so a result lives until then: a page has several reports. */
export function keptWith<K extends object, A extends unknown[], T>(
  work: (key: K, ...rest: A) => T,
): typeof work {
  const kept = new WeakMap<K, T>();
  return (key, ...rest) => {
    const found = kept.get(key) ?? work(key, ...rest);
    kept.set(key, found);
    return found;
  };
}

export const greatestOf = keptWith((numbers: Numbers): number => {
  let most = -1;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? 0;
    if (number > most) most = number;
  }
  return most;
});

/** A small number for each id in these columns, so that sums for them stand in arrays. */
export function numbered(...columns: Numbers[]): { of(id: number): number; ids: number[] } {
  const ids: number[] = [];
  const greatest = Math.max(...columns.map(greatestOf));
  if (greatest >= DENSE) {
    const known = new Map<number, number>();
    const add = (id: number): number => {
      known.set(id, ids.length);
      return ids.push(id) - 1;
    };
    return { ids, of: (id) => known.get(id) ?? add(id) };
  }
  const known = new Int32Array(greatest + 1);
  return {
    ids,
    of(id) {
      const found = known[id] ?? 0;
      if (found > 0) return found - 1;
      known[id] = ids.push(id);
      return ids.length - 1;
    },
  };
}

/** A place for every id of these columns, for sums in arrays; a place beyond them for an id that none has. */
export function numberedIds(...columns: Numbers[]): { placeOf(id: number): number; size: number } {
  const size = Math.max(...columns.map(greatestOf)) + 1;
  if (size <= DENSE) return { placeOf: (id) => id, size };
  const { of, ids } = numbered(...columns);
  for (const column of columns) for (let i = 0; i < column.length; i++) of(column[i] ?? 0);
  const places = new Map(ids.map((id, place) => [id, place]));
  return { placeOf: (id) => places.get(id) ?? ids.length, size: ids.length };
}
