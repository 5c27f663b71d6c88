import type { Clock } from '../base/clock.ts';
import type { MirroredPost, OutboxRow, OutboxStore } from '../store/outbox/seam.ts';
import { likeness } from './match.ts';
import { wordsOf } from './push.ts';

/** The last look is not taken right after the one before: what comes late beyond all waiting has this long to turn up. */
const BETWEEN_LOOKS_MS = 1_800_000;
/** A post may seem this much older than its request: clocks are cut to the minute. */
const CLOCK_MARGIN_MS = 65_000;
/** The same where nothing tells how the upstream's clock goes. */
const UNKNOWN_CLOCK_MS = 26 * 3_600_000;

/**
 * After a complete sweep of the posts: did a row that was once ambiguous leave posts behind that nobody knows of? What no protocol can
 * rule out without a key on the server's side is at least found and written on the row. Returns the rows where something new turned up.
 */
export async function lookAfter(
  store: OutboxStore,
  clock: Clock,
  sweepStartedAt: string,
): Promise<OutboxRow[]> {
  const told: OutboxRow[] = [];
  for (const row of await store.toLookAfter()) {
    // Only a sweep that began after the row was settled, or last looked at, can show something new about it.
    if (row.changed_at >= sweepStartedAt) continue;
    const left = await leftBehind(store, row);
    const found = foundOn(row, left);
    const isSpaced = Date.parse(sweepStartedAt) - Date.parse(row.changed_at) >= BETWEEN_LOOKS_MS;
    const counts = row.looks_left > 1 || isSpaced;
    if (!counts && !found) continue;
    await store.lookedAfter({
      id: row.id,
      now: clock.now(),
      counts,
      duplicate: null,
      candidates: null,
      ...found,
    });
    if (found) told.push({ ...row, ...found, duplicate_of: row.duplicate_of ?? found.duplicate });
  }
  return told;
}

interface Found {
  duplicate: number | null;
  candidates: number[];
}

/** What this look adds to the row; null when it is nothing. A confirmed row has its post: any other is one too many. */
function foundOn(row: OutboxRow, left: number[]): Found | null {
  const known = row.candidates.filter((id) => id !== row.post_id);
  const fresh = left.filter((id) => !known.includes(id) && id !== row.duplicate_of);
  if (fresh.length === 0) return null;
  const candidates = [...known, ...fresh];
  const duplicate = row.state === 'confirmed' ? fresh[0] : candidates[1];
  return { duplicate: duplicate ?? null, candidates };
}

async function leftBehind(store: OutboxStore, row: OutboxRow): Promise<number[]> {
  const isLike = likeness(row);
  const alike = (await store.lookalikes(wordsOf(row))).filter((post) =>
    isLike({ ...post, boardUrl: post.board_slug, creatorEmail: post.creator_email }),
  );
  const since = windowStart(row, alike);
  const ids = alike
    .filter(
      ({ id, created }) => id !== row.post_id && !row.baseline.includes(id) && Date.parse(created) >= since,
    )
    .map((post) => post.id);
  const known = await store.accountedFor(ids, row);
  return ids.filter((id) => !known.has(id)).sort((a, b) => a - b);
}

/**
 * On the upstream's clock. The row's own post was made between the first attempt and the moment the row was settled, so nothing that
 * is older by more than that time is a second one.
 */
function windowStart(row: OutboxRow, alike: MirroredPost[]): number {
  const first = Date.parse(row.first_sent_at ?? row.created_at);
  const own = alike.find((post) => post.id === row.post_id);
  if (!own) return first - UNKNOWN_CLOCK_MS;
  return Date.parse(own.created) - (Date.parse(row.changed_at) - first) - CLOCK_MARGIN_MS;
}
