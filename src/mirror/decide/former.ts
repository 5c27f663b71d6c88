import { indexOf } from '../ids.ts';
import type { Missing } from './absence.ts';

/**
 * The last list with the rows that it missed before the row they were followed by, or after the one they followed. New rows come in
 * between, so a row that was the first or last of its list gets neighbours. Rows without a place, as a head pass brings them, come first.
 */
export function withMissing(
  last: Float64Array,
  missing: ReadonlyMap<number, Missing>,
  absent: ReadonlySet<number>,
): Float64Array {
  const index = indexOf(last);
  const [first, before, after]: [number[], Map<number, number[]>, Map<number, number[]>] = [
    [],
    new Map(),
    new Map(),
  ];
  const place = (id: number, { before: one, after: other }: Pick<Missing, 'before' | 'after'>): void => {
    if (other !== null && index.get(other) >= 0) push(before, index.get(other), id);
    else if (one !== null && index.get(one) >= 0) push(after, index.get(one), id);
    else first.push(id);
  };
  for (const [id, row] of missing) if (index.get(id) < 0) place(id, row);
  for (const id of absent) if (index.get(id) < 0 && !missing.has(id)) first.push(id);
  const placed = missing.size + first.length;
  if (placed === 0) return last;
  const former = new Float64Array(last.length + placed);
  let size = 0;
  const add = (ids: readonly number[]): void => {
    former.set(ids, size);
    size += ids.length;
  };
  add(first);
  for (const [at, id] of last.entries()) {
    add(before.get(at) ?? []);
    former[size++] = id;
    add(after.get(at) ?? []);
  }
  return former.subarray(0, size);
}

function push(places: Map<number, number[]>, at: number, id: number): void {
  const ids = places.get(at);
  if (ids) ids.push(id);
  else places.set(at, [id]);
}
