import { messageOf } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { isId, type NewPost, type NewPostAsUser } from '../contract/entities.ts';
import type { FreshConnection } from './connection.ts';
import { exchange } from './exchange.ts';
import {
  type Answer,
  describeAnswer,
  describeBody,
  Failure,
  oneLine,
  parseOrNull,
  redirectOf,
  rejectionWords,
  safeCause,
} from './failure.ts';
import type { Context } from './options.ts';
import { waitAsked } from './retry.ts';

/** What is known about a create after one attempt. Only `not-sent` and `throttled` are safe to send again. */
export type CreateOutcome =
  | {
      outcome: 'confirmed';
      postId: number;
      url: string | null;
      httpStatus: number;
      serverTime: number | null;
    }
  /** The reason is in the upstream's own words: for the row of the outbox, which an erasure reaches, and for no log. */
  | { outcome: 'rejected'; httpStatus: number; reason: string; serverTime: number | null }
  | { outcome: 'throttled'; httpStatus: number | null; retryAt: number; reason: string }
  | { outcome: 'unauthorised'; httpStatus: number; reason: string }
  | { outcome: 'not-sent'; reason: string }
  | { outcome: 'unknown'; reason: string; httpStatus: number | null; serverTime: number | null };

export type CreateRequest =
  | { operation: 'createPost'; post: NewPost }
  | { operation: 'createPostAsUser'; post: NewPostAsUser };

/** Answers that say the upstream understood and did nothing. */
export const REJECTIONS: ReadonlySet<number> = new Set([400, 404, 405, 410, 413, 415, 422]);

/** Sends a post once, on a connection of its own, and says what is known afterwards. Never throws. */
export async function create(
  context: Context,
  request: CreateRequest,
  signal: AbortSignal | undefined,
  connection: () => FreshConnection,
): Promise<CreateOutcome> {
  const early = beforeConnecting(context, signal);
  if (early !== null) return early;
  let secret: Secret;
  try {
    secret = context.token();
  } catch (error) {
    return { outcome: 'not-sent', reason: oneLine(messageOf(error), 300) };
  }
  return await sendOnce(context, request, secret, signal, connection());
}

/** Why no connection is opened now; null where one may be. */
export function beforeConnecting(
  { rateLimit, clock }: Context,
  signal: AbortSignal | undefined,
): CreateOutcome | null {
  if (signal?.aborted) return { outcome: 'not-sent', reason: 'it was called off before it was sent' };
  const now = clock.now();
  // Nobody asked for this wait: it is our own, so it is no throttling and ends like any other failure to connect.
  if (rateLimit.outageUntil(now) !== null)
    return { outcome: 'not-sent', reason: 'the upstream has not been answering' };
  const retryAt = rateLimit.closedUntil(now);
  if (retryAt === null) return null;
  const reason = `the upstream asked us not to call before ${new Date(retryAt).toISOString()}`;
  return { outcome: 'throttled', httpStatus: null, retryAt, reason };
}

async function sendOnce(
  context: Context,
  { operation, post }: CreateRequest,
  secret: Secret,
  signal: AbortSignal | undefined,
  connection: FreshConnection,
): Promise<CreateOutcome> {
  const limits = { totalMs: context.limits.createMs, idleMs: null };
  const request = { operation, query: '', body: JSON.stringify(post), limits, retry: false, signal };
  try {
    return judge(context, await exchange(context, connection.dispatcher, secret, request), secret);
  } catch (error) {
    const reason = signal?.aborted ? 'it was called off' : safeReason(error, secret);
    if (!connection.stood()) return { outcome: 'not-sent', reason };
    return { outcome: 'unknown', reason, httpStatus: null, serverTime: null };
  } finally {
    // Not waited for: the next row may go out now.
    connection.close().catch(() => undefined);
  }
}

function safeReason(error: unknown, secret: Secret): string {
  return error instanceof Failure
    ? error.message
    : oneLine(safeCause(error, (t) => secret.mask(t)).message, 300);
}

function judge(context: Context, answer: Answer, secret: Secret): CreateOutcome {
  const { status: httpStatus, serverTime, body } = answer;
  const reason = `the upstream answered ${describeAnswer(answer)}`;
  if (httpStatus === 401 || httpStatus === 403) return { outcome: 'unauthorised', httpStatus, reason };
  const asked = waitAsked(httpStatus, answer.headers, context.clock.now());
  if (httpStatus === 429) return throttle(context, answer, asked, reason);
  context.throttledInRow.creates = 0;
  // A 503 may come after the post was kept: the attempt stays unclear, and nobody calls before the time it names.
  if (asked !== null) context.rateLimit.closeUntil(context.clock.now() + asked);
  if (!body.ok) {
    const unclear = `the upstream answered ${httpStatus}, but ${body.failure.message}`;
    return { outcome: 'unknown', reason: unclear, httpStatus, serverTime };
  }
  if (REJECTIONS.has(httpStatus)) {
    const words = rejectionWords(body.text, secret);
    const why = words === '' ? reason : `the upstream answered ${httpStatus}: ${words}`;
    return { outcome: 'rejected', httpStatus, reason: why, serverTime };
  }
  if (httpStatus >= 300 && httpStatus < 400) {
    const { place, hint } = redirectOf(answer.headers.location);
    const moved = `the upstream answered ${httpStatus}${place}. ${hint}`;
    return { outcome: 'unknown', reason: moved, httpStatus, serverTime };
  }
  if (httpStatus < 200 || httpStatus > 299) return { outcome: 'unknown', reason, httpStatus, serverTime };
  return confirm(answer, body.text, secret);
}

/** The wait that nobody asked for begins with this and doubles: a limit of so many calls a second is over at once. */
const FIRST_THROTTLE_MS = 1000;

function throttle(
  context: Context,
  { status: httpStatus }: Answer,
  asked: number | null,
  reason: string,
): CreateOutcome {
  const { throttledInRow, retry, clock } = context;
  const own = Math.min(retry.maxDelayMs, FIRST_THROTTLE_MS * 2 ** Math.min(throttledInRow.creates, 16));
  if (asked === null) throttledInRow.creates++;
  const retryAt = clock.now() + (asked ?? own);
  context.rateLimit.closeUntil(retryAt);
  return { outcome: 'throttled', httpStatus, retryAt, reason };
}

/** Only the id counts: a post whose id we know exists, whatever else the answer lacks. */
function confirm(
  { status: httpStatus, headers, serverTime }: Answer,
  text: string,
  secret: Secret,
): CreateOutcome {
  const json = parseOrNull(text);
  const postId: unknown = Reflect.get(Object(json), 'post_id');
  if (!isId(postId) || postId < 1) {
    const body = describeBody(headers['content-type'], text, Buffer.byteLength(text));
    const reason = `the upstream answered ${httpStatus} without an integer post_id (${body})`;
    return { outcome: 'unknown', reason, httpStatus, serverTime };
  }
  const url: unknown = Reflect.get(Object(json), 'url');
  const shownUrl = typeof url === 'string' ? oneLine(secret.mask(url), 2_000) : null;
  return { outcome: 'confirmed', postId, url: shownUrl, httpStatus, serverTime };
}
