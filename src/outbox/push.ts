import type { Client, CreateOutcome } from '../api/client.ts';
import type { Clock } from '../base/clock.ts';
import { crashPoint } from '../base/crash.ts';
import type { AttemptEnd, OutboxRow, OutboxStore, Refusal } from '../store/outbox-seam.ts';
import { looksLike } from './match.ts';
import { ARROWS } from './states.ts';

/** What sending and reconciling work with. */
export interface OutboxContext {
  store: OutboxStore;
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  /** How long one create may take in all. */
  createMs: number;
  /** How long after its deadline an unclear attempt is left to settle, at least. */
  settleMs: number;
  random: () => number;
}

export type PushResult =
  | { sent: true; row: OutboxRow; outcome: CreateOutcome['outcome'] }
  | { sent: false; reason: Refusal['refused'] | 'recognised' };

/** Complete sweeps that look for a second post of a row that was once ambiguous. */
export const AFTER_LOOKS = 2;
const FIRST_RETRY_MS = 2000;
const LAST_RETRY_MS = 300_000;

/** Sends one row, once. Whatever happens from the claim on is written down, or found by the next sender as an orphan. */
export async function push(context: OutboxContext, id: number): Promise<PushResult> {
  const { store, client, clock, signal, createMs } = context;
  const before = await store.find(id);
  if (!before) return { sent: false, reason: 'gone' };
  const alike = await lookalikes(store, before);
  if (before.was_ambiguous && (await recognise(context, before, alike)))
    return { sent: false, reason: 'recognised' };
  const now = clock.now();
  const claimed = await store.claim({
    id,
    arrow: ARROWS.claim,
    now,
    deadline: now + createMs,
    baseline: alike,
  });
  if ('refused' in claimed) return { sent: false, reason: claimed.refused };
  crashPoint('push:claimed');
  const outcome = await send(client, claimed, signal);
  crashPoint('push:answered');
  const end = await endOf(context, claimed, await doubtful(store, outcome));
  if (outcome.outcome === 'unauthorised')
    await store.setPaused(`the upstream refused the token (${outcome.httpStatus})`);
  const row = await store.endAttempt(end);
  crashPoint('push:recorded');
  return { sent: true, row: row ?? claimed, outcome: outcome.outcome };
}

/** Posts of the mirror that this row could be taken for. */
async function lookalikes(store: OutboxStore, row: OutboxRow): Promise<number[]> {
  const found = await store.lookalikes(row.title);
  return found
    .filter((post) =>
      looksLike(row, { ...post, boardUrl: post.board_slug, creatorEmail: post.creator_email }),
    )
    .map((post) => post.id);
}

/** A row that was sent before and not found may have turned up in the mirror since: then it must not go out again. */
async function recognise({ store, clock }: OutboxContext, row: OutboxRow, alike: number[]): Promise<boolean> {
  const fresh = alike.filter((id) => !row.baseline.includes(id));
  const bound = await store.boundPosts(fresh);
  const [postId, ...others] = fresh.filter((id) => !bound.has(id));
  if (postId === undefined || others.length > 0) return false;
  const change = { now: clock.now(), postId, error: null, looksLeft: AFTER_LOOKS };
  return (await store.move(row.id, ARROWS.recognise, change)) !== null;
}

async function send(client: Client, row: OutboxRow, signal: AbortSignal): Promise<CreateOutcome> {
  const { board, title, content, email, full_name } = row;
  if (email === null) return await client.create({ board, title, content }, signal);
  return await client.createAsUser({ board, title, content, email, full_name: full_name ?? '' }, signal);
}

/** An id that already confirms another row cannot be this one's: then the answer says nothing. */
async function doubtful(store: OutboxStore, outcome: CreateOutcome): Promise<CreateOutcome> {
  if (outcome.outcome !== 'confirmed') return outcome;
  const bound = await store.boundPosts([outcome.postId]);
  if (!bound.has(outcome.postId)) return outcome;
  const { httpStatus, serverTime, postId } = outcome;
  return {
    outcome: 'unknown',
    reason: `the answer names post ${postId}, which confirms another row`,
    httpStatus,
    serverTime,
  };
}

/** The one table from what the client learned to where the row goes. */
async function endOf(context: OutboxContext, row: OutboxRow, outcome: CreateOutcome): Promise<AttemptEnd> {
  const now = context.clock.now();
  const attempt = {
    id: row.id,
    n: row.attempts,
    outcome: outcome.outcome,
    httpStatus: statusOf(outcome),
    error: reasonOf(outcome),
  };
  const change = { now, error: reasonOf(outcome) };
  switch (outcome.outcome) {
    case 'confirmed':
      return {
        ...attempt,
        arrow: ARROWS.confirm,
        change: {
          now,
          postId: outcome.postId,
          url: outcome.url,
          error: null,
          looksLeft: row.was_ambiguous ? AFTER_LOOKS : 0,
        },
      };
    case 'rejected':
      return { ...attempt, arrow: ARROWS.reject, change };
    case 'throttled':
      return { ...attempt, arrow: ARROWS.release, change: { ...change, notBefore: outcome.retryAt } };
    case 'unauthorised':
      return { ...attempt, arrow: ARROWS.release, change };
    case 'not-sent':
      return {
        ...attempt,
        arrow: ARROWS.release,
        change: { ...change, notBefore: now + backoff(row.attempts, context.random) },
      };
    case 'unknown':
      return { ...attempt, arrow: ARROWS.doubt, change: { ...change, ...(await doubtAfter(context, now)) } };
  }
}

/** An unclear attempt may still take effect until its deadline, and stay out of the list for a while after that. */
export async function doubtAfter(
  { store, createMs, settleMs }: OutboxContext,
  from: number,
): Promise<{ notBefore: number; wasAmbiguous: true }> {
  const settle = Math.max(settleMs, 3 * (await store.worstListDelay()));
  return { notBefore: from + createMs + settle, wasAmbiguous: true };
}

/** Capped exponential with equal jitter. */
export function backoff(attempts: number, random: () => number): number {
  const most = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 16));
  return most / 2 + (random() * most) / 2;
}

function statusOf(outcome: CreateOutcome): number | null {
  return 'httpStatus' in outcome ? outcome.httpStatus : null;
}

function reasonOf(outcome: CreateOutcome): string | null {
  return 'reason' in outcome ? outcome.reason : null;
}
