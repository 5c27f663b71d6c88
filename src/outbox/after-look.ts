import type { Clock } from '../base/clock.ts';
import type { OutboxRow, OutboxStore } from '../store/outbox-seam.ts';
import { looksLike } from './match.ts';

/** A duplicate made by this row cannot be older than its first attempt, give or take the clocks. */
const CLOCK_MARGIN_MS = 60_000;

/**
 * After a complete sweep of the posts: did a row that was once ambiguous leave a second post behind? What no protocol can rule out
 * without a key on the server's side is at least found and written on the row. Returns the rows with a second post.
 */
export async function lookAfter(
  store: OutboxStore,
  clock: Clock,
  sweepStartedAt: string,
): Promise<OutboxRow[]> {
  const doubled: OutboxRow[] = [];
  for (const row of await store.toLookAfter()) {
    // Only a sweep that began after the row was settled can have seen what came of it.
    if (row.changed_at >= sweepStartedAt) continue;
    const duplicate = await secondPost(store, row);
    await store.lookedAfter(row.id, duplicate, clock.now());
    if (duplicate !== null) doubled.push({ ...row, duplicate_of: duplicate });
  }
  return doubled;
}

async function secondPost(store: OutboxStore, row: OutboxRow): Promise<number | null> {
  const since = Date.parse(row.first_sent_at ?? row.created_at) - CLOCK_MARGIN_MS;
  const alike = (await store.lookalikes(row.title)).filter(
    (post) =>
      post.id !== row.post_id &&
      !row.baseline.includes(post.id) &&
      Date.parse(post.created) >= since &&
      looksLike(row, { ...post, boardUrl: post.board_slug, creatorEmail: post.creator_email }),
  );
  const bound = await store.boundPosts(alike.map((post) => post.id));
  return alike.find((post) => !bound.has(post.id))?.id ?? null;
}
