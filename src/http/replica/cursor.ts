import type { Place } from '../../store/replica.ts';

/** The query parameter that holds the place of a page. */
export const CURSOR = 'cursor';

const SIDES = { after: 'n', before: 'p' } as const;

/** A place as text that means nothing to a client; any text that reads as one is only another place in the same list. */
export function writeCursor(id: number, side: Place['side']): string {
  return `${SIDES[side]}${id.toString(36)}`;
}

/** Null for what was never written here. */
export function readCursor(cursor: string | null): Place | null {
  if (cursor === null) return { id: null, side: 'after' };
  const [, side, digits = ''] = /^([np])([0-9a-z]{1,11})$/.exec(cursor) ?? [];
  const id = Number.parseInt(digits, 36);
  if (!Number.isSafeInteger(id) || writeCursor(id, side === 'n' ? 'after' : 'before') !== cursor) return null;
  return { id, side: side === 'n' ? 'after' : 'before' };
}
