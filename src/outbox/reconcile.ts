import { crashPoint } from '../base/crash.ts';
import type { Post } from '../contract/decode.ts';
import type { OutboxRow } from '../store/outbox/seam.ts';
import type { OutboxContext } from './context.ts';
import { type Look, look } from './look.ts';
import { AFTER_LOOKS, ARROWS } from './states.ts';
import { givenUp, lookLater } from './unsettled.ts';

export type ReconcileResult = 'found' | 'send again' | 'uncertain' | 'later' | 'gone';

/** Finds out what became of one ambiguous row, by reading only. A list that cannot be read leaves it as it is, for later. */
export async function reconcile(context: OutboxContext, id: number): Promise<ReconcileResult> {
  const row = await context.store.find(id);
  if (row?.state !== 'ambiguous' || row.first_sent_at === null) return 'gone';
  let seen: Look;
  try {
    seen = await look(context, row);
  } catch (error) {
    await lookLater(context, row, ARROWS.wait, error);
    return 'later';
  }
  crashPoint('reconcile:read');
  const result = await conclude(context, row, seen);
  crashPoint('reconcile:recorded');
  return result;
}

async function conclude(context: OutboxContext, row: OutboxRow, seen: Look): Promise<ReconcileResult> {
  const { store, clock, settleMs } = context;
  const now = clock.now();
  const [match, ...others] = seen.matches;
  if (match) return others.length === 0 ? await bind(context, row, match) : await giveUp(context, row, seen);
  if (seen.isHidden || row.not_found + 1 >= MOST_NOT_FOUND) return await giveUp(context, row, seen);
  if (row.not_found === 0 || seen.isCurrent) {
    const error = 'not in the list after an unclear attempt; sent again';
    await store.move(row.id, ARROWS.sendAgain, { now, notBefore: null, notFound: row.not_found + 1, error });
    return 'send again';
  }
  if (!(await isWorthWaiting(context, row))) return await giveUp(context, row, seen);
  const error = 'not in the list again; waiting for another post to show that the list is up to date';
  await store.move(row.id, ARROWS.wait, { now, notBefore: now + settleMs, error });
  return 'later';
}

/**
 * Missing once means it did not arrive. Missing again could mean that this list does not show such posts, or not yet. A post of our
 * own that was sent later the same way, and is listed, tells the two apart; without one only a person can. And so many unclear
 * attempts without a post are enough in any case.
 */
const MOST_NOT_FOUND = 4;
const PATIENCE_MS = 6 * 3_600_000;

/** Whether a post that shows how far the list has come can still be expected. */
async function isWorthWaiting({ store, clock }: OutboxContext, row: OutboxRow): Promise<boolean> {
  const ended = (await store.attempts(row.id)).at(-1)?.ended_at ?? row.changed_at;
  return clock.now() - Date.parse(ended) < PATIENCE_MS && (await store.hasSuccessor(row));
}

async function bind({ store, clock }: OutboxContext, row: OutboxRow, post: Post): Promise<ReconcileResult> {
  const change = { now: clock.now(), postId: post.id, url: post.url, error: null, looksLeft: AFTER_LOOKS };
  const bound = await store.move(row.id, ARROWS.found, change);
  // Null: somebody has meanwhile said that this post is another row's. The next look leaves it out.
  return bound ? 'found' : 'later';
}

async function giveUp({ store, clock }: OutboxContext, row: OutboxRow, seen: Look): Promise<ReconcileResult> {
  await store.move(row.id, ARROWS.giveUp, givenUp(row, seen, clock.now()));
  return 'uncertain';
}
