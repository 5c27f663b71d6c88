import type { Client, CreateOutcome } from '../../api/client.ts';
import { iso } from '../../base/clock.ts';
import { crashPoint } from '../../base/crash.ts';
import { codeOf } from '../../base/errors.ts';
import { SWEEP_CHECKS, TRANSITIONS } from '../decide/states.ts';
import type { AttemptEnd, OutboxRow, Refusal } from '../decide/types.ts';
import type { Verdict } from '../decide/whose.ts';
import { isClosed, isOfBoard } from '../store/refused.ts';
import type { OutboxContext } from './context.ts';
import { contentAsSent, markFor, readBack } from './mark.ts';
import { ask, conclude, type ReconcileResult } from './reconcile.ts';
import { backoff, postpone, settleFrom } from './settle.ts';
import { type Listed, readWindow, windowOf } from './window.ts';

export type { OutboxContext } from './context.ts';

export type PushResult =
  /** `note`: a sentence to tell once. */
  | { sent: true; row: OutboxRow; outcome: CreateOutcome['outcome']; note: string | null }
  | { sent: false; reason: Hindrance };

/** Why nothing went out. */
type Hindrance = Refusal['refused'] | 'adopted' | 'uncertain';

/**
 * Sends one row, once. Whatever happens from the claim on is written down, or found by the next sender as an orphan. The next row may
 * go as soon as this one is known to have arrived: a disk is waited for while that one is on its way.
 */
export async function push(
  context: OutboxContext,
  id: number,
  letNextGo: () => Promise<void> = async () => undefined,
): Promise<PushResult> {
  const { store, client, clock, signal, createMs } = context;
  const perMinute = paceOf(context);
  signal.throwIfAborted();
  const hindrance = await hindranceTo(context, id);
  if (hindrance !== null) return { sent: false, reason: hindrance };
  const listedMaxId = await highestListed(context);
  signal.throwIfAborted();
  const now = clock.now();
  const deadline = now + createMs;
  const waiting = store.find(id);
  const mark = waiting && markFor(context, waiting);
  const transition = TRANSITIONS.claim;
  const claimed = store.claim({ id, transition, now, deadline, listedMaxId, mark, perMinute });
  if ('refused' in claimed) return { sent: false, reason: claimed.refused };
  crashPoint('push:claimed');
  const outcome = await graced(context, (extended) => send(client, claimed, extended));
  crashPoint('push:answered');
  const ended = { outcome, at: clock.now(), deadline };
  adaptPace(context, outcome);
  if (outcome.outcome === 'confirmed') await letNextGo();
  const row = await written(context, () => {
    if (outcome.outcome === 'unauthorised') holdBack(context, claimed, outcome.httpStatus);
    stopWhereUnreadable(context, outcome);
    return record(context, claimed, ended);
  });
  crashPoint('push:recorded');
  // An answer that names a post which cannot be this row's leaves the row unclear.
  const isBelieved = outcome.outcome !== 'confirmed' || row?.state !== 'ambiguous';
  const note = row && isBelieved ? await readBack(context, row) : null;
  return { sent: true, row: row ?? claimed, outcome: isBelieved ? outcome.outcome : 'unknown', note };
}

/** The share of the pace at which the sender goes on just now, and the share from which on it is won back slowly. */
interface Share {
  now: number;
  safe: number;
}

const shares = new WeakMap<object, Share>();
const LEAST_SHARE = 1 / 64;
/** By each post that arrives: fast after an outage, slowly towards the rate at which the service refused. */
const WON_BACK = { fast: 1.5, slow: 1.03 };
const OVERLOADED = 503;

/** How many posts may leave a minute just now. */
export function paceOf({ store, perMinute }: Pick<OutboxContext, 'store' | 'perMinute'>): number {
  return Math.max(1, perMinute * (shares.get(store)?.now ?? 1));
}

/** 429, 503 and refused connections halve the pace before they make rows unclear by the dozen. */
function adaptPace({ store }: OutboxContext, outcome: CreateOutcome): void {
  const { now, safe } = shares.get(store) ?? { now: 1, safe: 1 };
  const half = Math.max(LEAST_SHARE, now / 2);
  if (statusOf(outcome) === 429 || statusOf(outcome) === OVERLOADED)
    shares.set(store, { now: half, safe: half });
  else if (outcome.outcome === 'not-sent') shares.set(store, { now: half, safe });
  else if (outcome.outcome === 'confirmed')
    shares.set(store, { now: Math.min(1, now * (now < safe ? WON_BACK.fast : WON_BACK.slow)), safe });
}

/** An attempt is claimed only when a request can leave, and a row that was once unclear only when no post could be its own. */
async function hindranceTo(context: OutboxContext, id: number): Promise<Hindrance | null> {
  const { store, clock, gate } = context;
  const refusal = store.refusal(id, clock.now());
  if (refusal) return refusal.refused;
  if (gate.closedUntil(clock.now()) !== null) return 'rate limit';
  const row = store.find(id);
  if (!row) return 'gone';
  return row.was_ambiguous ? await checkBeforeResend(context, row) : null;
}

/** What came into the mirror since the row was reconciled may be its post: the same question as there, once more. */
async function checkBeforeResend(context: OutboxContext, row: OutboxRow): Promise<Hindrance | null> {
  const { store, clock } = context;
  let reads: Listed[] = [];
  try {
    if (isReleased(row)) reads = [await lookedFor(context, row)];
  } catch (error) {
    postpone(context, row, TRANSITIONS.defer, error);
    return 'not due';
  }
  const verdictAmong = (rows?: OutboxRow[]): Verdict | undefined =>
    ask(store, clock.now(), { reads }, rows).verdicts.get(row.id);
  // Alone it has the fewest posts to be compared with, and most rows need no more.
  const verdict = isHeldUp(verdictAmong([row])) ? verdictAmong() : undefined;
  if (!verdict || !isHeldUp(verdict)) return recheck(context, row);
  return HINDRANCES[conclude(context, row, verdict, reads) ?? 'later'];
}

/** By a post that is, or could be, the row's. */
function isHeldUp(verdict: Verdict | undefined): boolean {
  return (
    verdict?.kind === 'confirmed' || (verdict !== undefined && 'posts' in verdict && verdict.posts.length > 0)
  );
}

const HINDRANCES: Record<ReconcileResult, Hindrance> = {
  found: 'adopted',
  uncertain: 'uncertain',
  later: 'not due',
  'send again': 'not due',
};

/** A person has let it go, and no list was read for it since: its post may have come, or an older copy not know of it. */
function isReleased({ state, was_ambiguous, not_found }: OutboxRow): boolean {
  return state === 'ready' && was_ambiguous && not_found === 0;
}

const looks = new WeakMap<object, { at: number; listed: Promise<Listed> }>();

/** One read of the list serves all rows that were let go before it. */
async function lookedFor(context: OutboxContext, row: OutboxRow): Promise<Listed> {
  const { store, clock } = context;
  const last = looks.get(store);
  const now = clock.now();
  const age = now - (last?.at ?? 0);
  if (last && Date.parse(row.changed_at) < last.at && age >= 0 && age < LEAST_STALE_MS)
    return await last.listed;
  const others = store.unclear().filter((other) => isReleased(other) && other.id !== row.id);
  const listed = readWindow(context, windowOf(store, [row, ...others]));
  looks.set(store, { at: now, listed });
  listed.catch(() => looks.delete(store));
  return await listed;
}

/** So many times as long as a row settles, nothing that the list shows later than expected has to be feared. */
const STALE_SETTLES = 5;
/** At one post a minute a row waits for its turn almost as long: it must not be looked for anew whenever its turn comes. */
const LEAST_STALE_MS = 180_000;

/** Where a pause or a rate limit lies between the read of the list that did not show the row's post, and now, it is read once more. */
function recheck({ store, clock, settleMs }: OutboxContext, row: OutboxRow): Hindrance | null {
  const now = clock.now();
  const age = now - Date.parse(row.changed_at);
  if (row.not_found === 0 || (age >= 0 && age <= Math.max(LEAST_STALE_MS, STALE_SETTLES * settleMs)))
    return null;
  const error = 'it could not be sent again at once: looked for once more';
  store.move(row.id, TRANSITIONS.recheck, { now, notBefore: now, notFound: row.not_found - 1, error });
  return 'not due';
}

/** How old a read of the list may be to tell which posts stood there before a row was sent. */
const BASELINE_MS = 600_000;
const BASELINE_PATIENCE_MS = 3000;
const baselines = new WeakMap<object, { at: number; maxId: number | null }>();

/**
 * Where no pass has read the posts lately, the first page tells up to which id they stood there before: else every post of the list
 * would look new if the row became unclear. Only a page in falling order tells; one that cannot be read tells nothing. A sender asks
 * before its first row, so that the pace of the rows stays even.
 */
export async function highestListed({ store, client, clock, signal }: OutboxContext): Promise<number | null> {
  const now = clock.now();
  const isRecent = (at: number): boolean => now >= at && now - at < BASELINE_MS;
  const { readAt } = store.knowledge();
  if (readAt !== null && isRecent(readAt)) return null;
  const last = baselines.get(store);
  if (last && isRecent(last.at)) return last.maxId;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(BASELINE_PATIENCE_MS)]);
  const page = await client.page('posts', '', limited).catch(() => null);
  const ids = page?.rows.map(({ id }) => id) ?? [];
  const isFalling = ids.every((id, n) => n === 0 || id < (ids[n - 1] ?? 0));
  // In an empty list every post is new.
  const isEmpty = page !== null && page.next === null && ids.length + page.rejects.length === 0;
  const maxId = isEmpty ? 0 : isFalling ? (ids[0] ?? null) : null;
  baselines.set(store, { at: now, maxId });
  return maxId;
}

/** A create that is under way when we are told to stop has this long to be answered: cut off at once, it would be unclear. */
const GRACE_MS = 8000;

async function graced<T>(
  { clock, signal }: OutboxContext,
  work: (extended: AbortSignal) => Promise<T>,
): Promise<T> {
  const [extended, over] = [new AbortController(), new AbortController()];
  const onStop = (): void => {
    clock.sleep(GRACE_MS, over.signal).then(
      () => extended.abort(signal.reason),
      () => undefined,
    );
  };
  signal.addEventListener('abort', onStop, { once: true });
  try {
    return await work(extended.signal);
  } finally {
    signal.removeEventListener('abort', onStop);
    over.abort();
  }
}

const TRY_AGAIN_MS = 1000;

/** Troubles of the disk, and another program that keeps the file for itself. */
const PASSING: ReadonlySet<string> = new Set(['storage', 'busy']);

/** What the upstream said is not forgotten because it cannot be written: it is as soon as there is space, or the file is free. */
async function written<T>({ clock, signal }: OutboxContext, write: () => T): Promise<T> {
  for (;;) {
    try {
      return write();
    } catch (error) {
      if (!PASSING.has(codeOf(error)) || signal.aborted) throw error;
      await clock.sleep(TRY_AGAIN_MS, signal);
    }
  }
}

/** Sending stops at this answer in a row: a number that cannot be read makes every row one for a person. */
const MOST_UNREADABLE = 3;
const UNREADABLE = 'the service answers with numbers of posts that cannot be read';
const unreadable = new WeakMap<object, number>();

function stopWhereUnreadable({ store }: OutboxContext, outcome: CreateOutcome): void {
  if (outcome.outcome !== 'unknown' && outcome.outcome !== 'confirmed') return;
  const times = 'isIdUnreadable' in outcome ? (unreadable.get(store) ?? 0) + 1 : 0;
  unreadable.set(store, times);
  if (times >= MOST_UNREADABLE)
    store.setPaused(
      `${UNREADABLE}: they are texts, or beyond 2^53. Nothing more is sent; the posts exist, and the next start tries again`,
    );
}

/** A token that is refused sends nothing; one that lacks a permission (403) may still post to other boards. */
function holdBack({ store, clock }: OutboxContext, row: OutboxRow, httpStatus: number): void {
  const now = clock.now();
  const at = iso(now);
  if (httpStatus !== FORBIDDEN) {
    store.setPaused(`the upstream refused the token (${httpStatus}) at ${at}`);
    return;
  }
  const known = store.refusedBoards().find((board) => isOfBoard(row, board));
  // Rows that were on their way together are one refusal.
  if (known && isClosed(known, now)) return;
  const { board, kind } = row;
  const refusals = (known?.refusals ?? 0) + 1;
  const until = iso(now + doubling(REFUSED_BOARD, refusals));
  store.refuseBoard({ board, kind, since: known?.since ?? at, refused_at: at, until, refusals });
}

const FORBIDDEN = 403;

/**
 * How long a board waits, and a row that was refused there while others wait for it: longer than its board, so that the next to be tried
 * is another one, in case the upstream minds the words of this one.
 */
const REFUSED_BOARD = { firstMs: 30_000, longestMs: 300_000 };
const REFUSED_ROW = { firstMs: 120_000, longestMs: 3_600_000 };

function doubling({ firstMs, longestMs }: typeof REFUSED_ROW, times: number): number {
  return Math.min(longestMs, firstMs * 2 ** (times - 1));
}

/** Whoever starts a sender may have seen to the permission. */
export function retryRefused({ store, clock }: OutboxContext): void {
  for (const board of store.refusedBoards()) store.refuseBoard({ ...board, until: iso(clock.now()) });
}

async function send(client: Client, row: OutboxRow, signal: AbortSignal): Promise<CreateOutcome> {
  const { board, title, email, full_name } = row;
  const content = contentAsSent(row);
  if (email === null) return await client.create({ board, title, content }, signal);
  return await client.createAsUser({ board, title, content, email, full_name: full_name ?? '' }, signal);
}

/** What came of a request: when, and until when it could have left. */
interface Ended {
  outcome: CreateOutcome;
  at: number;
  deadline: number;
}

function record(context: OutboxContext, row: OutboxRow, ended: Ended): OutboxRow | null {
  const { store } = context;
  const { outcome } = ended;
  if (outcome.outcome !== 'confirmed') return store.endAttempt(endOf(context, row, ended));
  const known = store.knownPosts([outcome.postId]).get(outcome.postId);
  const isOlder = known?.first_seen_at != null && known.first_seen_at < (row.first_sent_at ?? '');
  const doubt = (why: string): OutboxRow | null => {
    const end = endOf(context, row, { ...ended, outcome: unclear(outcome, why) });
    return store.endAttempt({ ...end, named: outcome.postId });
  };
  if (isOlder) return doubt('which stood there before this row was sent');
  return store.endAttempt(endOf(context, row, ended)) ?? doubt('which confirms another row');
}

/** An id that cannot be this row's: then the answer says nothing about what became of it. */
function unclear(
  { postId, httpStatus, serverTime }: CreateOutcome & { outcome: 'confirmed' },
  why: string,
): CreateOutcome {
  return { outcome: 'unknown', reason: `the answer names post ${postId}, ${why}`, httpStatus, serverTime };
}

/** The one table from what the client learned to where the row goes. */
function endOf(context: OutboxContext, row: OutboxRow, { outcome, at: now, deadline }: Ended): AttemptEnd {
  const attempt = {
    id: row.id,
    n: row.attempts,
    outcome: outcome.outcome,
    httpStatus: statusOf(outcome),
    error: reasonOf(outcome),
  };
  const change = { now, error: reasonOf(outcome) };
  const checksLeft = row.was_ambiguous ? SWEEP_CHECKS : 0;
  switch (outcome.outcome) {
    case 'confirmed':
      return {
        ...attempt,
        transition: TRANSITIONS.confirm,
        change: { now, postId: outcome.postId, url: outcome.url, error: null, checksLeft },
      };
    case 'rejected':
      return { ...attempt, transition: TRANSITIONS.reject, change: { ...change, checksLeft } };
    case 'throttled':
      return {
        ...attempt,
        // Another request has met the limit since this row was claimed.
        isVoid: outcome.httpStatus === null,
        transition: TRANSITIONS.release,
        change: { ...change, notBefore: outcome.retryAt },
      };
    case 'unauthorised': {
      const isPutOff = outcome.httpStatus === FORBIDDEN && context.store.hasSuccessor(row);
      const notBefore = isPutOff ? now + doubling(REFUSED_ROW, row.attempts) : null;
      return { ...attempt, transition: TRANSITIONS.release, change: { ...change, notBefore } };
    }
    case 'not-sent':
      if (isAlwaysDiverted(context.store, row, outcome))
        return { ...attempt, transition: TRANSITIONS.reject, change: { ...change, checksLeft } };
      return {
        ...attempt,
        isVoid: outcome.httpStatus === undefined,
        transition: TRANSITIONS.release,
        change: { ...change, notBefore: now + backoff(row, now, context.random) },
      };
    case 'unknown':
      return {
        ...attempt,
        transition: TRANSITIONS.markAmbiguous,
        change: { ...change, ...settleFrom(context, row.id, Math.max(now, deadline)) },
      };
  }
}

/** So many times something before the service has answered a row, while others arrived: it is this row that is refused. */
const MOST_DIVERTED = 4;

function isAlwaysDiverted(
  store: OutboxContext['store'],
  row: OutboxRow,
  { httpStatus }: { httpStatus?: number },
): boolean {
  if (httpStatus === undefined) return false;
  const diverted = store.attempts(row.id).filter((tried) => tried.outcome === 'not-sent');
  const since = Date.parse(diverted[0]?.started_at ?? row.changed_at);
  return diverted.length + 1 >= MOST_DIVERTED && store.recentSends(since).posts > 0;
}

/** Rows that a dead sender left behind, or a handler that failed: their attempt may have reached the upstream. */
export function recoverOrphans(
  context: OutboxContext,
  isRunning: (id: number) => boolean = () => false,
): number {
  const { store, clock, createMs } = context;
  const rows = store.orphans().filter(({ id }) => !isRunning(id));
  for (const row of rows) {
    const attempts = store.attempts(row.id);
    const now = clock.now();
    // Frozen between its claim and its request, the dead sender may have sent it long after the deadline, but not after now. A deadline
    // further away than any was written by a clock that was ahead.
    const deadline = Date.parse(attempts.at(-1)?.deadline_at ?? row.changed_at);
    const latest = Math.min(Math.max(now, deadline), now + createMs);
    const change = {
      now,
      error: 'the sender died while this was on its way',
      ...settleFrom(context, row.id, latest),
    };
    const attempt = {
      id: row.id,
      n: row.attempts,
      outcome: 'unknown' as const,
      httpStatus: null,
      error: change.error,
    };
    store.endAttempt({ ...attempt, transition: TRANSITIONS.markAmbiguous, change });
  }
  return rows.length;
}

/** Sending was paused because of the token: a read shows whether that is over. */
export async function endPause({ store, client, signal }: OutboxContext, isStart = true): Promise<void> {
  const reason = store.paused();
  // A read tells nothing about the answers to creates.
  if (reason === null || (reason.startsWith(UNREADABLE) && !isStart)) return;
  await client.page('posts', '', signal);
  store.setPaused(null);
}

function statusOf(outcome: CreateOutcome): number | null {
  return 'httpStatus' in outcome ? (outcome.httpStatus ?? null) : null;
}

function reasonOf(outcome: CreateOutcome): string | null {
  return 'reason' in outcome ? outcome.reason : null;
}
