import type { OutboxContext } from './context.ts';

/** How old a read of the list may be to tell which posts stood there before a row was sent. */
const RECENT_MS = 600_000;
const PATIENCE_MS = 3000;
const lastReads = new WeakMap<object, { at: number; maxId: number | null }>();

/**
 * The highest id of a post that was there before a row is sent. Without it every post of the list would look new if the row became
 * unclear. Where no pass has read the posts lately, the first page tells, if its ids fall. A sender asks before its first row, so that the
 * pace of the rows stays even.
 */
export async function highestListed({ store, client, clock, signal }: OutboxContext): Promise<number | null> {
  const now = clock.now();
  const isRecent = (at: number): boolean => now >= at && now - at < RECENT_MS;
  const { readAt } = store.knowledge();
  if (readAt !== null && isRecent(readAt)) return null;
  const last = lastReads.get(store);
  if (last && isRecent(last.at)) return last.maxId;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const page = await client.page('posts', '', limited).catch(() => null);
  const ids = page?.rows.map(({ id }) => id) ?? [];
  const isFalling = ids.every((id, n) => n === 0 || id < (ids[n - 1] ?? 0));
  // In an empty list every post is new.
  const isEmpty = page !== null && page.next === null && ids.length + page.rejects.length === 0;
  const maxId = isEmpty ? 0 : isFalling ? (ids[0] ?? null) : null;
  lastReads.set(store, { at: now, maxId });
  return maxId;
}
