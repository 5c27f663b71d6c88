import { messageOf } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { isId, type NewPost, type NewPostAsUser } from '../contract/entities.ts';
import { freshConnection } from './connection.ts';
import { exchange } from './exchange.ts';
import {
  describeAnswer,
  describeBody,
  Failure,
  parseOrNull,
  redirectOf,
  rejectionWords,
  safeCause,
  shortLine,
  type UpstreamAnswer,
} from './failure.ts';
import type { ClientContext } from './options.ts';
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
  /** With a status: something before the service answered in its place, as a proxy does during a deploy. */
  | { outcome: 'not-sent'; reason: string; httpStatus?: number }
  | {
      outcome: 'unknown';
      reason: string;
      httpStatus: number | null;
      serverTime: number | null;
      /** The service says that the post was made, and names it in a way that cannot be read. */
      isIdUnreadable?: true;
    };

export type CreateRequest =
  | { operation: 'createPost'; post: NewPost }
  | { operation: 'createPostAsUser'; post: NewPostAsUser };

/** Statuses by which a service says that it did nothing. They count only with a body of JSON, which a proxy does not write. */
export const REJECTIONS: ReadonlySet<number> = new Set([400, 404, 405, 410, 413, 415, 422]);

/** Sends a post once, on a connection of its own, and says what is known afterwards. Never throws. */
export async function create(
  context: ClientContext,
  request: CreateRequest,
  signal: AbortSignal | undefined,
): Promise<CreateOutcome> {
  const early = whyNotNow(context, signal);
  if (early !== null) return early;
  let secret: Secret;
  try {
    secret = context.token();
  } catch (error) {
    return { outcome: 'not-sent', reason: shortLine(messageOf(error), 300) };
  }
  return await sendOnce(context, request, secret, signal);
}

/** Why nothing is sent now; null where it may be. */
function whyNotNow(
  { rateLimit, clock }: ClientContext,
  signal: AbortSignal | undefined,
): CreateOutcome | null {
  if (signal?.aborted) return { outcome: 'not-sent', reason: 'it was called off before it was sent' };
  const now = clock.now();
  // The service did not ask for this wait. It is our own, and ends like any other failure to connect.
  if (rateLimit.outageUntil(now) !== null)
    return { outcome: 'not-sent', reason: 'the upstream has not been answering' };
  const retryAt = rateLimit.closedUntil(now);
  if (retryAt === null) return null;
  const reason = `the upstream asked us not to call before ${new Date(retryAt).toISOString()}`;
  return { outcome: 'throttled', httpStatus: null, retryAt, reason };
}

async function sendOnce(
  context: ClientContext,
  { operation, post }: CreateRequest,
  secret: Secret,
  signal: AbortSignal | undefined,
): Promise<CreateOutcome> {
  const connection = freshConnection(context);
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
    : shortLine(safeCause(error, (t) => secret.mask(t)).message, 300);
}

function judge(context: ClientContext, answer: UpstreamAnswer, secret: Secret): CreateOutcome {
  const { status: httpStatus, serverTime, body } = answer;
  const reason = `the upstream answered ${describeAnswer(answer)}`;
  const isOwnWord = body.ok && isJson(body.text);
  if (httpStatus === 401 || httpStatus === 403) return { outcome: 'unauthorised', httpStatus, reason };
  const asked = waitAsked(httpStatus, answer.headers, context.clock.now());
  if (httpStatus === 429) return throttle(context, answer, asked, reason);
  context.throttledInRow.creates = 0;
  // A 503 may come after the service kept the post: the attempt stays unclear. The sender waits until the time that the answer names.
  if (asked !== null) context.rateLimit.closeUntil(context.clock.now() + asked);
  if (!body.ok) {
    const unclear = `the upstream answered ${httpStatus}, but ${body.failure.message}`;
    return { outcome: 'unknown', reason: unclear, httpStatus, serverTime };
  }
  if (REJECTIONS.has(httpStatus) && httpStatus !== TOO_LARGE && !isOwnWord)
    return divert(context, httpStatus, reason);
  context.divertedInRow.creates = 0;
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
  if (httpStatus !== 200 && httpStatus !== 201) return { outcome: 'unknown', reason, httpStatus, serverTime };
  return confirm(answer, body.text, secret);
}

/** A proxy may say it before the service has seen a byte, in whatever form. */
const TOO_LARGE = 413;

function isJson(text: string): boolean {
  return parseOrNull(text) !== null;
}

const FIRST_DIVERSION_MS = 1000;
const LONGEST_DIVERSION_MS = 60_000;

/** A page of a proxy is not the service's word: creates wait as in an outage, and then another row is tried. */
function divert(context: ClientContext, httpStatus: number, reason: string): CreateOutcome {
  const times = context.divertedInRow.creates++;
  context.rateLimit.holdCreates(
    Math.min(LONGEST_DIVERSION_MS, FIRST_DIVERSION_MS * 2 ** Math.min(times, 16)),
  );
  return { outcome: 'not-sent', reason: `${reason}, which is no answer of the service`, httpStatus };
}

/** The first wait after a throttling without Retry-After. It doubles. A limit by the second is over after the first. */
const FIRST_THROTTLE_MS = 1000;

function throttle(
  context: ClientContext,
  { status: httpStatus }: UpstreamAnswer,
  asked: number | null,
  reason: string,
): CreateOutcome {
  const { throttledInRow, retry, clock } = context;
  const own = Math.min(retry.maxDelayMs, FIRST_THROTTLE_MS * 2 ** Math.min(throttledInRow.creates, 16));
  if (asked === null) throttledInRow.creates++;
  const retryAt = clock.now() + (asked ?? own);
  context.rateLimit.closeUntil(retryAt, ['creates']);
  return { outcome: 'throttled', httpStatus, retryAt, reason };
}

/** A job's number, or that of anything else, is not the post's: the answer has to say `Success` as documented. */
function confirm(
  { status: httpStatus, headers, serverTime }: UpstreamAnswer,
  text: string,
  secret: Secret,
): CreateOutcome {
  const json: unknown = parseOrNull(text);
  const [status, postId, url] = ['status', 'post_id', 'url'].map((name): unknown =>
    Reflect.get(Object(json), name),
  );
  const isSuccess = typeof status === 'string' && status.toLowerCase() === 'success';
  if (isSuccess && isId(postId) && postId >= 1) {
    const shownUrl = typeof url === 'string' ? shortLine(secret.mask(url), 2_000) : null;
    return { outcome: 'confirmed', postId, url: shownUrl, httpStatus, serverTime };
  }
  const body = describeBody(headers['content-type'], text, Buffer.byteLength(text));
  const lack = isSuccess ? 'without an integer post_id that can be read' : 'without the status "Success"';
  const reason = `the upstream answered ${httpStatus} ${lack} (${body})`;
  const isIdUnreadable = isSuccess && postId !== undefined && postId !== null;
  return { outcome: 'unknown', reason, httpStatus, serverTime, ...(isIdUnreadable && { isIdUnreadable }) };
}
