import { iso } from '../../base/clock.ts';
import type { Db } from '../db.ts';

/** How one kind of row gets into the mirror and out of it; posts.ts and comments.ts each make one. */
export interface RowWriter<T> {
  /** The ids of the page that comes next, the lowest first. */
  expect(ids: readonly number[]): void;
  /** Whether the row is stored, and live. */
  has(id: number): boolean;
  write(row: T, at: string): 'inserted' | 'updated' | 'unchanged';
  /** Marks a live row as deleted; false if it was not live. */
  remove(id: number, at: string): boolean;
}

export interface StoredRows<S> {
  /** Reads what is stored under these ids; the lowest comes first. */
  expect(ids: readonly number[]): void;
  find(id: number): S | undefined;
  /** What was read of it is old now. */
  wrote(id: number): void;
}

/** When a change of a row was observed: never before the version it follows, also where the clock was set back meanwhile. */
export function observedAfter(version: string, at: string): string {
  return at >= version ? at : iso(Date.parse(version) + 1);
}

/** So many ids in a page's range for each of its own: beyond that, more would be read than is needed. */
const MOST_GAPS = 3;

/**
 * Stored rows to compare a page with. A page's ids mostly stand side by side, and reading them as one range takes a third of the time
 * of asking for each.
 */
export function storedRows<S>(db: Db, table: 'posts' | 'comments', columns: string): StoredRows<S> {
  const one = db.prepare<[number], S>(`SELECT ${columns} FROM ${table} WHERE id = ?`);
  const range = db.prepare<[number, number], S & { id: number }>(`
    SELECT id, ${columns} FROM ${table} WHERE id BETWEEN ? AND ?`);
  const read = new Map<number, S | undefined>();
  return {
    expect(ids) {
      read.clear();
      const [first, last] = [ids[0], ids.at(-1)];
      if (first === undefined || last === undefined || last - first >= MOST_GAPS * ids.length) return;
      for (const id of ids) read.set(id, undefined);
      for (const row of range.all(first, last)) read.set(row.id, row);
    },
    find: (id) => (read.has(id) ? read.get(id) : one.get(id)),
    wrote: (id) => void read.delete(id),
  };
}
