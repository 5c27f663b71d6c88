import type { Client, CreateOutcome } from '../api/client.ts';
import { crashPoint } from '../base/crash.ts';
import type { AttemptEnd, OutboxRow, OutboxStore, PostText, Refusal, Words } from '../store/outbox/seam.ts';
import type { OutboxContext } from './context.ts';
import { graced } from './grace.ts';
import { type Look, look } from './look.ts';
import { likeness, plainText } from './match.ts';
import { AFTER_LOOKS, ARROWS } from './states.ts';
import { givenUp, lookLater } from './unsettled.ts';

export type { OutboxContext } from './context.ts';
export { AFTER_LOOKS } from './states.ts';

export type PushResult =
  | { sent: true; row: OutboxRow; outcome: CreateOutcome['outcome'] }
  | { sent: false; reason: Hindrance };

/** Why nothing went out. */
type Hindrance = Refusal['refused'] | 'recognised';

const FIRST_RETRY_MS = 2000;
const LAST_RETRY_MS = 300_000;

/** Sends one row, once. Whatever happens from the claim on is written down, or found by the next sender as an orphan. */
export async function push(context: OutboxContext, id: number): Promise<PushResult> {
  const { store, client, clock, signal, createMs } = context;
  signal.throwIfAborted();
  const refusal = await store.refusal(id, clock.now());
  const before = refusal ? null : await store.find(id);
  if (!before) return { sent: false, reason: refusal?.refused ?? 'gone' };
  const baseline = await lookalikes(store, before);
  const hindrance = before.was_ambiguous ? await recognise(context, before, baseline) : null;
  if (hindrance !== null) return { sent: false, reason: hindrance };
  const now = clock.now();
  const deadline = now + createMs;
  const claimed = await store.claim({ id, arrow: ARROWS.claim, now, deadline, baseline });
  if ('refused' in claimed) return { sent: false, reason: claimed.refused };
  crashPoint('push:claimed');
  const outcome = await graced(context, (extended) => send(client, claimed, extended));
  crashPoint('push:answered');
  if (outcome.outcome === 'unauthorised')
    await store.setPaused(`the upstream refused the token (${outcome.httpStatus})`);
  const row = await record(context, claimed, outcome, deadline);
  crashPoint('push:recorded');
  return { sent: true, row: row ?? claimed, outcome: outcome.outcome };
}

/** Posts of the mirror that this row could be taken for. */
async function lookalikes(store: OutboxStore, row: OutboxRow): Promise<number[]> {
  const found = await store.lookalikes(wordsOf(row));
  const isLike = likeness(row);
  return found
    .filter((post) => isLike({ ...post, boardUrl: post.board_slug, creatorEmail: post.creator_email }))
    .map((post) => post.id);
}

/**
 * A row that was sent before and not found may have turned up in the mirror since: then it must not go out again. What turned up is
 * looked at in the list itself, where it is also known when it was made.
 */
async function recognise(context: OutboxContext, row: OutboxRow, alike: number[]): Promise<Hindrance | null> {
  const { store, clock } = context;
  const fresh = alike.filter((id) => !row.baseline.includes(id));
  if ((await store.boundPosts(fresh)).size === fresh.length) return null;
  let seen: Look;
  try {
    seen = await look(context, row);
  } catch (error) {
    await lookLater(context, row, ARROWS.hold, error);
    return (await store.paused()) === null ? 'not due' : 'paused';
  }
  const [match, ...others] = seen.matches;
  if (!match) return null;
  const change = { now: clock.now(), postId: match.id, url: match.url, error: null, looksLeft: AFTER_LOOKS };
  const moved =
    others.length === 0
      ? await store.move(row.id, ARROWS.recognise, change)
      : await store.move(row.id, ARROWS.giveUp, givenUp(row, seen, clock.now()));
  return moved ? 'recognised' : null;
}

async function send(client: Client, row: OutboxRow, signal: AbortSignal): Promise<CreateOutcome> {
  const { board, title, content, email, full_name } = row;
  if (email === null) return await client.create({ board, title, content }, signal);
  return await client.createAsUser({ board, title, content, email, full_name: full_name ?? '' }, signal);
}

async function record(
  context: OutboxContext,
  row: OutboxRow,
  outcome: CreateOutcome,
  deadline: number,
): Promise<OutboxRow | null> {
  const ended = await context.store.endAttempt(await endOf(context, row, outcome, deadline));
  if (ended || outcome.outcome !== 'confirmed') return ended;
  return await context.store.endAttempt(await endOf(context, row, doubtful(outcome), deadline));
}

/** An id that already confirms another row cannot be this one's: then the answer says nothing. */
function doubtful({
  postId,
  httpStatus,
  serverTime,
}: CreateOutcome & { outcome: 'confirmed' }): CreateOutcome {
  const reason = `the answer names post ${postId}, which confirms another row`;
  return { outcome: 'unknown', reason, httpStatus, serverTime };
}

/** The one table from what the client learned to where the row goes. */
async function endOf(
  context: OutboxContext,
  row: OutboxRow,
  outcome: CreateOutcome,
  deadline: number,
): Promise<AttemptEnd> {
  const now = context.clock.now();
  const attempt = {
    id: row.id,
    n: row.attempts,
    outcome: outcome.outcome,
    httpStatus: statusOf(outcome),
    error: reasonOf(outcome),
  };
  const change = { now, error: reasonOf(outcome) };
  const looksLeft = row.was_ambiguous ? AFTER_LOOKS : 0;
  switch (outcome.outcome) {
    case 'confirmed':
      return {
        ...attempt,
        arrow: ARROWS.confirm,
        change: { now, postId: outcome.postId, url: outcome.url, error: null, looksLeft },
      };
    case 'rejected':
      return { ...attempt, arrow: ARROWS.reject, change: { ...change, looksLeft } };
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
      return {
        ...attempt,
        arrow: ARROWS.doubt,
        change: { ...change, ...(await doubtAfter(context, Math.max(now, deadline))) },
      };
  }
}

/**
 * An unclear attempt is left to settle from the last moment at which it can have left this machine: its deadline, or later, where
 * the process was frozen or died without having said a word.
 */
export async function doubtAfter(
  { store, settleMs }: OutboxContext,
  from: number,
): Promise<{ notBefore: number; wasAmbiguous: true }> {
  const settle = Math.max(settleMs, 3 * (await store.worstListDelay()));
  return { notBefore: from + settle, wasAmbiguous: true };
}

/** The words to look a row up by in the mirror. */
export function wordsOf({ title, content }: PostText): Words {
  return { given: title, title: plainText(title), content: plainText(content) };
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
