import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { OutboxRow, OutboxState, PostText } from '../store/outbox/types.ts';
import { batchId } from './import/batch-id.ts';
import { contentHash } from './match.ts';

export interface Desk {
  store: OutboxStore;
  clock: Clock;
  random: () => number;
}

/**
 * One post of a program into the outbox, word for word. Under a key of the program's own the same post is taken once, however often
 * it is handed over; null where the key already belongs to another post.
 */
export function acceptPost(
  { store, clock, random }: Desk,
  post: PostText,
  key: string | null,
): OutboxRow | null {
  const now = clock.now();
  const source_key = `api:${key ?? randomUUID()}`;
  const row = {
    ...post,
    batch: batchId('api', now, random),
    source_key,
    line: null,
    content_hash: contentHash(post),
  };
  const [taken] = store.accept([row], now);
  if (!taken || taken.outcome === 'conflict') return null;
  const found = store.find(taken.id);
  if (!found) throw new Error('a row that was just accepted is gone');
  return found;
}

const UNDER_WAY: readonly OutboxState[] = ['ready', 'sending', 'ambiguous'];
const LOOK_MS = 50;

/** The row once nothing more happens to it by itself, or as it is when the time is up or the signal is given. */
export async function waitForRow(
  { store, clock }: Pick<Desk, 'store' | 'clock'>,
  row: OutboxRow,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<OutboxRow> {
  const deadline = clock.monotonic() + waitMs;
  let latest = row;
  while (UNDER_WAY.includes(latest.state) && clock.monotonic() < deadline && !signal.aborted) {
    await clock.sleep(Math.min(LOOK_MS, deadline - clock.monotonic()), signal).catch(() => undefined);
    latest = store.find(row.id) ?? latest;
  }
  return latest;
}
