import { CLOCK_STEP_MS, iso } from '../base/clock.ts';
import { crashPoint } from '../base/crash.ts';
import { AppError, codeOf, messageOf } from '../base/errors.ts';
import { counted } from '../base/text.ts';
import type { OutboxRow, RowChange, Transition, Unclear } from '../store/outbox/types.ts';
import type { OutboxContext } from './context.ts';
import { displaced, SWEEP_CHECKS, TRANSITIONS } from './states.ts';
import type { SeenPost, Verdict } from './unaccounted.ts';
import {
  ask,
  isUnsettled,
  type Listed,
  laneOf,
  readWindow,
  type Unseen,
  whyIncomplete,
  whyUnseen,
} from './window.ts';

export type ReconcileResult = 'found' | 'send again' | 'uncertain' | 'later';

/** One read of the list serves every row that has settled, so the first to settle waits this long for the others. */
const LONGEST_WAIT_MS = 60_000;

/** When the next reconcile is due: with the last row that settles, or so long after the first. */
export function reconcileAt({ first, last }: Unclear, settleMs: number): number {
  return Math.min(last, first + Math.min(settleMs, LONGEST_WAIT_MS));
}

export function isReconcileDue({ store, clock, settleMs }: OutboxContext): boolean {
  const { unclear } = store.due(clock.now(), 0);
  return unclear !== null && reconcileAt(unclear, settleMs) <= clock.now();
}

/**
 * Finds out what became of every ambiguous row that has settled, by reading only, in one pass over the pages of their window. A row
 * that is about to be sent again is checked by the same pass. A list that cannot be read leaves all of them as they are, for later.
 */
export async function reconcile(context: OutboxContext): Promise<Map<number, ReconcileResult>> {
  const { store, clock } = context;
  const isDue = (row: OutboxRow): boolean => row.state === 'ambiguous' && !isUnsettled(row, clock.now());
  const { early = [], due = [] } = Object.groupBy(store.claimants().filter(isDue), (row) =>
    isEarly(context, row) ? 'early' : 'due',
  );
  const results = new Map<number, ReconcileResult>(early.map(({ id }) => [id, 'later']));
  if (due.length === 0) return results;
  let seen: Seen;
  try {
    seen = await readFor(context, due);
  } catch (error) {
    for (const row of due) postpone(context, row, TRANSITIONS.wait, error);
    return new Map([...early, ...due].map(({ id }) => [id, 'later']));
  }
  crashPoint('reconcile:read');
  context.onWindow?.(due.map((row) => whyOpen(seen, row)).find((open) => open !== null)?.why ?? null);
  const concluded = await concludeAll(context, new Set(due.map(({ id }) => id)), seen);
  crashPoint('reconcile:recorded');
  return new Map([...results, ...concluded]);
}

/** Until when rows settle whose attempt this process has seen, by the clock that nobody can set. */
const settling = new WeakMap<object, Map<number, number>>();

export function keepSettling({ store, clock }: OutboxContext, id: number, notBefore: number): void {
  const rows = settling.get(store) ?? new Map<number, number>();
  settling.set(store, rows.set(id, clock.monotonic() + notBefore - clock.now()));
}

/** A clock that was put ahead makes a row due at once, while its post may still be on its way. */
function isEarly(context: OutboxContext, row: OutboxRow): boolean {
  const { store, clock } = context;
  const left = (settling.get(store)?.get(row.id) ?? 0) - clock.monotonic();
  if (left <= CLOCK_STEP_MS) {
    settling.get(store)?.delete(row.id);
    return false;
  }
  const now = clock.now();
  const error = 'the clock was put ahead: it settles all the same';
  store.move(row.id, TRANSITIONS.wait, { now, notBefore: now + left, error });
  return true;
}

interface Seen {
  verdicts: Map<number, Verdict>;
  rows: OutboxRow[];
  latest: Listed['latest'];
  /** Why a post that was not shown may stand there all the same; null where the reads were whole. */
  incomplete: string | null;
  /** The same for the post of one row. */
  unseen(row: OutboxRow): Unseen | null;
}

/** Only two reads without it count as none: a post that slips from one page to the next during a read is missed by one of them. */
async function readFor(context: OutboxContext, due: readonly OutboxRow[]): Promise<Seen> {
  const first = await readWindow(context, due);
  const seen = judged(context, first);
  if (due.every(({ id }) => seen.verdicts.get(id)?.kind === 'match')) return seen;
  const second = await readWindow(context, due);
  for (const [id, post] of first.posts) if (!second.posts.has(id)) second.posts.set(id, post);
  for (const [lane, sent] of second.latest)
    second.latest.set(lane, [sent, first.latest.get(lane) ?? ''].sort()[0] ?? '');
  const reads = [first, second];
  const unseen = (row: OutboxRow) => whyUnseen(context.store, row, reads);
  return { ...judged(context, second), incomplete: whyIncomplete(context.store, reads), unseen };
}

/** The rows as they stand after the read: meanwhile others were sent, and a listed post may be theirs. */
function judged({ store, clock }: OutboxContext, listed: Listed): Seen {
  const rows = store.claimants();
  const { verdicts } = ask(store, clock.now(), rows, listed);
  return { verdicts, rows, latest: listed.latest, incomplete: null, unseen: () => null };
}

async function concludeAll(
  context: OutboxContext,
  due: ReadonlySet<number>,
  seen: Seen,
): Promise<Map<number, ReconcileResult>> {
  const results = new Map<number, ReconcileResult>();
  for (const row of seen.rows) {
    const verdict = seen.verdicts.get(row.id);
    if (!verdict) continue;
    const result = due.has(row.id)
      ? await conclude(context, row, verdict, seen)
      : await early(context, row, verdict);
    if (result) results.set(row.id, result);
  }
  return results;
}

async function conclude(
  context: OutboxContext,
  row: OutboxRow,
  verdict: Verdict,
  seen: Seen,
): Promise<ReconcileResult> {
  if (verdict.kind === 'match') return bind(context, row, verdict);
  const open = whyOpen(seen, row);
  if (open !== null) {
    const held = seen.incomplete === null ? 0 : context.store.heldPosts();
    const isOver = held > 0 || open.isFinal || !isWithinPatience(row.first_sent_at, context.clock.now());
    if (isOver) return await park(context, row, [], { why: open.why + heldText(held) });
    postpone(context, row, TRANSITIONS.wait, new AppError('protocol', open.why));
    return 'later';
  }
  if (verdict.kind === 'none') return await concludeNone(context, row, seen.latest);
  if (verdict.isOpen && isWithinPatience(row.first_sent_at, context.clock.now()))
    return waitFor(context, row, 'a post that could be this one may still prove to be another row’s');
  return await park(context, row, verdict.posts);
}

/** Why nothing follows from a read that showed no post of the row; null where it showed one, or would have. */
function whyOpen({ verdicts, incomplete, unseen }: Seen, row: OutboxRow): Unseen | null {
  if (verdicts.get(row.id)?.kind !== 'none') return null;
  return incomplete === null ? unseen(row) : { why: incomplete, isFinal: false };
}

/** The list stays as it is until a person has judged it: waiting tells nothing more. */
function heldText(held: number): string {
  return held === 0
    ? ''
    : `; ${held} that are missing are held: if they are gone, "feedback-mirror sync posts --accept-deletes", and then send this again`;
}

/** Not settled yet, or about to be sent again: what is certain is certain already, everything else has time. */
async function early(
  context: OutboxContext,
  row: OutboxRow,
  verdict: Verdict,
): Promise<ReconcileResult | null> {
  if (row.state !== 'ready' && row.state !== 'ambiguous') return null;
  const isMatch = verdict.kind === 'match' && !wasJudged(row, verdict.post);
  if (isMatch && (row.state === 'ready' || verdict.matched === 'exact')) return bind(context, row, verdict);
  if (row.state === 'ready' && verdict.kind === 'candidates' && !verdict.isOpen)
    return await park(context, row, verdict.posts);
  return null;
}

/**
 * Missing once means it did not arrive. Missing again could mean that this list does not show such posts, or not yet. A post of our
 * own that was sent later the same way, and is listed, tells the two apart; without one only a person can. And so many unclear
 * attempts without a post are enough in any case.
 */
const MOST_NOT_FOUND = 4;

async function concludeNone(
  context: OutboxContext,
  row: OutboxRow,
  latest: Listed['latest'],
): Promise<ReconcileResult> {
  const { store, clock } = context;
  const now = clock.now();
  if (Date.parse(row.changed_at) > now)
    return waitFor(context, row, 'the clock was set back: it settles anew');
  const last = store.attempts(row.id).at(-1);
  if (last?.post_id) {
    const answer = last.error ?? `the answer names post ${last.post_id}`;
    const why = `${answer}; the list shows none that could be this one`;
    return await park(context, row, [], { named: [last.post_id], why });
  }
  if (row.not_found + 1 >= MOST_NOT_FOUND) return await park(context, row, []);
  const isCurrent = (latest.get(laneOf(row)) ?? '') > (last?.started_at ?? row.first_sent_at ?? '');
  if (row.not_found === 0 || isCurrent) {
    const error = 'no post in the list is unaccounted for after an unclear attempt';
    store.move(row.id, TRANSITIONS.sendAgain, {
      now,
      notBefore: null,
      notFound: row.not_found + 1,
      error,
      // For the one whose import was cancelled meanwhile: nothing else comes back to it.
      checksIfUnclear: SWEEP_CHECKS,
    });
    return 'send again';
  }
  const isWorthWaiting = isWithinPatience(last?.ended_at ?? row.changed_at, now) && store.hasSuccessor(row);
  if (!isWorthWaiting) return await park(context, row, []);
  return waitFor(
    context,
    row,
    'not in the list again; waiting for another post to show that the list is up to date',
  );
}

const PATIENCE_MS = 6 * 3_600_000;

function isWithinPatience(since: string | null, now: number): boolean {
  const waited = now - Date.parse(since ?? '');
  return waited >= 0 && waited < PATIENCE_MS;
}

function waitFor({ store, clock, settleMs }: OutboxContext, row: OutboxRow, error: string): 'later' {
  const now = clock.now();
  store.move(row.id, TRANSITIONS.wait, { now, notBefore: now + settleMs, error });
  return 'later';
}

/** It stood there when the row became uncertain, and was not clearly its own: what a person decided since is an answer about it. */
export function wasJudged({ judged }: OutboxRow, { id }: SeenPost): boolean {
  return judged.includes(id);
}

/** The post is this row's. Null of the store: a person has meanwhile said that it is another row's; the next pass leaves it out. */
export function bind(
  { store, clock }: OutboxContext,
  row: OutboxRow,
  { post, matched }: Verdict & { kind: 'match' },
): ReconcileResult {
  if (post.reusedFrom !== undefined)
    store.move(post.reusedFrom, TRANSITIONS.displace, displaced(clock.now(), post.id));
  const transition = row.state === 'ready' ? TRANSITIONS.adopt : TRANSITIONS.found;
  const outcome = { postId: post.id, url: post.url, matched, error: null, checksLeft: SWEEP_CHECKS };
  return store.move(row.id, transition, { now: clock.now(), ...outcome }) ? 'found' : 'later';
}

/** Only a person can judge. */
export async function park(
  { store, clock, observe }: OutboxContext,
  row: OutboxRow,
  posts: readonly SeenPost[],
  { named = [], why = whyParked(row, posts) }: { named?: readonly number[]; why?: string } = {},
): Promise<ReconcileResult> {
  observe?.(posts.flatMap(({ listed }) => listed ?? []));
  const change: RowChange = {
    now: clock.now(),
    notBefore: null,
    candidates: [...posts.flatMap(({ id }) => (id > 0 ? [id] : [])), ...named],
    error: why,
    checksLeft: SWEEP_CHECKS,
  };
  store.move(row.id, TRANSITIONS.park, change);
  return 'uncertain';
}

function whyParked(row: OutboxRow, posts: readonly SeenPost[]): string {
  if (posts.length === 0) return `not in the list after ${counted(row.not_found + 1, 'unclear attempt')}`;
  if (posts.every(({ creator }) => creator === null))
    return 'a listed post that cannot be read could be this one';
  const [of] = posts.flatMap(({ confirms }) => confirms ?? []);
  if (of !== undefined) return `the post of row ${of} could be this one as well`;
  return posts.length === 1
    ? '1 post that nothing accounts for could be this one'
    : `${posts.length} posts could be this one`;
}

const FIRST_WAIT_MS = 2000;
const LAST_WAIT_MS = 300_000;

/** The list could not be read: the row is left where it is until later. A refused token also pauses sending. */
export function postpone(
  { store, clock, gate, random }: OutboxContext,
  row: OutboxRow,
  transition: Transition,
  error: unknown,
): void {
  const [now, code] = [clock.now(), codeOf(error)];
  if (code === 'interrupted' || code === 'internal' || code === 'storage') throw error;
  if (code === 'unauthorised') store.setPaused(`the upstream refused the token for reading at ${iso(now)}`);
  const notBefore = Math.max(now + backoff(row, now, random), gate.closedUntil(now) ?? 0);
  store.move(row.id, transition, {
    now,
    notBefore,
    error: `could not look for it: ${messageOf(error)}`,
  });
}

/** The longer a row has been waiting, the less another minute matters. With equal jitter. */
export function backoff(row: OutboxRow, now: number, random: () => number): number {
  const waited = Math.max(0, now - Date.parse(row.first_sent_at ?? row.created_at));
  const most = Math.min(LAST_WAIT_MS, Math.max(FIRST_WAIT_MS, waited / 10));
  return most / 2 + (random() * most) / 2;
}
