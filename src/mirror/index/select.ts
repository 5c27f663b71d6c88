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

/** The first of them by an order, in it. Sorting all would take longer than everything else. */
export function firstBy(
  rows: number,
  isWanted: (row: number) => boolean,
  limit: number,
  { weight, ties }: Order,
): number[] {
  const best: number[] = [];
  const compare = (a: number, b: number): number => weight(b) - weight(a) || ties(a, b);
  let least = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows && limit > 0; row++) {
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
