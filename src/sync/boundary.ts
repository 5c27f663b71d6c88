import type { Client } from '../api/client.ts';
import type { Resource } from '../contract/endpoints.ts';
import { slotsOf } from './order.ts';

/** Where one page ends and the following begins. */
export interface Boundary {
  resource: Resource;
  before: { cursor: string; lastId: number };
  /** Undefined where that page ends the list without a row. */
  after: { cursor: string; firstId: number | undefined };
}

const UNREADABLE = 'a row without an id';

/**
 * Whether nothing can have stood between two pages. The end of the one and the start of the other were seen at different moments,
 * and a row may have crossed meanwhile; so both are read again inside a window in which the start of the list and the end of the
 * first page did not move. Insertions and deletions that cancel out could still fool one such look, therefore it must hold twice.
 */
export async function boundaryHolds(
  client: Pick<Client, 'page'>,
  boundary: Boundary,
  signal?: AbortSignal,
): Promise<boolean> {
  const { resource, before, after } = boundary;
  // A row that cannot be read has its place all the same: it may be the very one that crossed.
  const read = async (cursor: string) => {
    const { rows, rejects } = await client.page(resource, cursor, signal);
    return slotsOf(rows, rejects).map((slot) => (slot === null ? UNREADABLE : slot.id));
  };
  const start = (await read('')).at(0);
  if (start === undefined || start === UNREADABLE) return false;
  for (let look = 0; look < 2; look++) {
    if ((await read(before.cursor)).at(-1) !== before.lastId) return false;
    if ((await read(after.cursor)).at(0) !== after.firstId) return false;
    if ((await read(before.cursor)).at(-1) !== before.lastId) return false;
    if ((await read('')).at(0) !== start) return false;
  }
  return true;
}
