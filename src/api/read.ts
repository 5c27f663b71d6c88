import pRetry from 'p-retry';
import type { Dispatcher } from 'undici';
import { AppError } from '../base/errors.ts';
import { MOST_LEVELS, parseJson, parseShallow, TooDeepJson } from '../base/json.ts';
import type { Secret } from '../base/secret.ts';
import {
  type Comment,
  type Decoded,
  decodeComment,
  decodePost,
  type Post,
  problemOf,
} from '../contract/decode.ts';
import { type Operation, type Resource, SEARCH_LIMIT, SEARCH_PARAMETER } from '../contract/endpoints.ts';
import { ENVELOPE, type WireOf } from '../contract/entities.ts';
import { endpointOf, exchange } from './exchange.ts';
import { describeBody, Failure, shortHash, statusFailure, toAppError } from './failure.ts';
import { cursorOf, withoutCredentials } from './next.ts';
import { authParameter, type ClientContext } from './options.ts';
import { throttledFailure } from './rate-limit.ts';
import { backoffMs, waitAsked } from './retry.ts';

export interface Reject {
  index: number;
  /** Its id, where at least that can be told. */
  id: number | null;
  reason: string;
  /** The row as JSON text, cut at 64 KiB, the token masked. */
  body: string;
}

export interface Page<T> {
  rows: T[];
  rejects: Reject[];
  /** 1, 2, 3… in its walk. */
  number: number;
  /** How to read this page again; the empty text for the first. It can be stored and holds no token. */
  cursor: string;
  /** The cursor of the following page, null at the explicit end. */
  next: string | null;
  /** How many rows the whole list has by the envelope's own `count`; left out where it says nothing. */
  count?: number;
  /** The upstream's clock by its `Date` header, in milliseconds since the epoch. */
  serverTime: number | null;
  /** When the page had arrived, on our own clock; pages fetched ahead are worked on later. */
  receivedAt: number;
  /** How long a cache in between had kept it, although it was asked not to; left out where none had. */
  ageMs?: number;
  bytes: number;
  /** Rows that an earlier page of the walk has shown; left out where there are none. */
  repeated?: ReadonlySet<number>;
}

/** A page whose rows are not decoded yet: the following one can already be asked for. */
export interface ReceivedPage<T> extends Omit<Page<T>, 'rows' | 'rejects'> {
  decode(): Pick<Page<T>, 'rows' | 'rejects'>;
}

export function decodedPage<T>({ decode, ...page }: ReceivedPage<T>): Page<T> {
  return { ...page, ...decode() };
}

export interface List<T> {
  name: Resource;
  operation: Operation;
  decode: (raw: unknown) => Decoded<T>;
}

export const LISTS: { posts: List<Post>; comments: List<Comment> } = {
  posts: { name: 'posts', operation: 'listPosts', decode: decodePost },
  comments: { name: 'comments', operation: 'listComments', decode: decodeComment },
};

export type RowOf<R extends Resource> = R extends 'posts' ? Post : Comment;

/** Reads one page: request, envelope and the way to the following page. */
export async function readPage<T>(
  context: ClientContext,
  dispatcher: Dispatcher,
  list: List<T>,
  place: { cursor: string; number: number; signal: AbortSignal; isGuess: boolean },
): Promise<ReceivedPage<T>> {
  const { operation } = list;
  const { number, signal, isGuess } = place;
  const cursor = checkCursor(place.cursor, context);
  const request = { operation, query: cursor, what: describePage(list, cursor, number), signal, isGuess };
  return await read(context, dispatcher, request, ({ json, text, bytes, serverTime, ageMs, secret }) => {
    const envelope = openEnvelope(json, context.limits.maxRows);
    const rules = {
      endpoint: endpointOf(context.base, operation),
      pageParameter: context.pageParameter,
      cursorParameter: context.cursorParameter,
      authParameter: authParameter(context.auth),
      secret,
    };
    const next = cursorOf(envelope.next, rules);
    const exactly = () => openEnvelope(parseJson(text), context.limits.maxRows).results;
    const decode = () => decodeRows(envelope.results, exactly, list.decode, secret);
    const receivedAt = context.clock.now();
    const times = { serverTime: timeNow(serverTime, ageMs, receivedAt), receivedAt };
    const received = { ...times, bytes, ...(ageMs > 0 && { ageMs }) };
    const count: unknown = Reflect.get(Object(json), 'count');
    const says = Number.isSafeInteger(count) && { count: Number(count) };
    return { decode, number, cursor, next, ...says, ...received };
  });
}

/**
 * The upstream's clock when the answer arrived. Of one that a cache had kept, `Date` is the time at which it was made, to which its age
 * comes, or that of the cache itself, which has counted it already: whichever is nearer to our own clock.
 */
function timeNow(date: number | null, ageMs: number, now: number): number | null {
  if (date === null) return null;
  return Math.abs(date + ageMs - now) < Math.abs(date - now) ? date + ageMs : date;
}

/** The documents disagree on whether a search answers with an envelope or a bare list: both are read. */
export async function readSearch(
  context: ClientContext,
  dispatcher: Dispatcher,
  text: string,
  signal: AbortSignal,
): Promise<{ rows: Post[]; rejects: Reject[] }> {
  if (!text.isWellFormed()) throw new AppError('usage', 'The text to search for is broken Unicode.');
  const query = `${SEARCH_PARAMETER}=${encodeURIComponent(text)}`;
  const request = { operation: 'searchPosts', query, what: 'Searching posts', signal } as const;
  return await read(context, dispatcher, request, ({ json, text: answer, secret }) => {
    const { maxRows } = context.limits;
    const found = (answered: unknown): unknown[] =>
      Array.isArray(answered) ? checkRows(answered, maxRows) : openEnvelope(answered, maxRows).results;
    const exactly = () => found(parseJson(answer));
    return decodeRows(found(json).slice(0, SEARCH_LIMIT), exactly, LISTS.posts.decode, secret);
  });
}

/**
 * `Listing posts, page 3 (page=3)`. A walk that begins in the middle, or a page read on its own, has no number worth telling.
 * A cursor is the upstream's own text: it is shown only where it is nothing but numbers.
 */
export function describePage({ name }: List<unknown>, cursor: string, number: number): string {
  if (cursor === '') return `Listing ${name}, page ${number},`;
  const place = describeCursor(cursor);
  return number === 1 ? `Listing ${name} from ${place},` : `Listing ${name}, page ${number} (${place}),`;
}

function describeCursor(cursor: string): string {
  const isPlain = /^[\w.%-]{1,40}=\d{1,15}(&[\w.%-]{1,40}=\d{1,15}){0,3}$/.test(cursor);
  return isPlain ? cursor : `a cursor of ${cursor.length} characters, sha256 ${shortHash(cursor)}`;
}

/** A cursor comes back from storage: whatever happened to it there, it must stay a query of our own endpoint. */
function checkCursor(cursor: string, { auth, token }: ClientContext): string {
  try {
    if (/^[\x21\x22\x24-\x7e]*$/.test(cursor))
      return withoutCredentials(cursor, authParameter(auth), token());
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  throw new AppError('usage', `This is no cursor of a page: ${describeCursor(cursor)}.`);
}

interface ReadRequest {
  operation: Operation;
  query: string;
  /** What is being read, for messages: `listing posts, page 3`. */
  what: string;
  signal: AbortSignal;
  /** No reader waits for this page yet, so it is tried once. */
  isGuess?: boolean;
}

interface ReadResult {
  json: unknown;
  text: string;
  bytes: number;
  serverTime: number | null;
  ageMs: number;
  secret: Secret;
}

/** One read, tried until it answers, may not be tried again, or has used up its attempts; then what `open` makes of the answer. */
async function read<T>(
  context: ClientContext,
  dispatcher: Dispatcher,
  request: ReadRequest,
  open: (result: ReadResult) => T,
): Promise<T> {
  const { signal, what } = request;
  let attempts = 0;
  try {
    const result = await pRetry(
      async (attempt) => {
        attempts = attempt;
        await context.rateLimit.pass(context.retry.maxWaitMs, signal);
        return await attemptRead(context, dispatcher, request, attempt);
      },
      {
        retries: request.isGuess ? 0 : Math.max(0, context.retry.attempts - 1),
        // All waiting is done on our own clock, below.
        minTimeout: 0,
        signal,
        shouldRetry: ({ error }) => mayRetry(error),
        onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
          if (!mayRetry(error)) return;
          refuseLongWait(context, error);
          if (retriesLeft > 0) await waitBeforeRetry(context, request, error, attemptNumber);
        },
      },
    );
    return open(result);
  } catch (error) {
    throw error instanceof Failure ? toAppError(error, what, context.base.host, attempts) : error;
  }
}

function mayRetry(error: Error): error is Failure {
  return error instanceof Failure && error.again;
}

async function attemptRead(
  context: ClientContext,
  dispatcher: Dispatcher,
  { operation, query, signal }: ReadRequest,
  attempt: number,
): Promise<ReadResult> {
  const secret = context.token();
  const limits = { totalMs: context.limits.pageMs, idleMs: context.limits.idleMs };
  const request = { operation, query, body: null, limits, retry: attempt > 1, signal };
  const answer = await exchange(context, dispatcher, secret, request);
  const { status, headers, serverTime, ageMs, body } = answer;
  const now = context.clock.now();
  // An answer that asks for a wait speaks to all reads, not to the one that met it; so does a 429 that does not say for how long. A 503 with
  // a time is about the whole service.
  const own = status === 429 ? backoffMs(context.retry, attempt, context.random) : null;
  const wait = waitAsked(status, headers, now) ?? own;
  if (wait !== null) context.rateLimit.closeUntil(now + wait, status === 429 ? ['reads'] : undefined);
  if (status < 200 || status > 299) throw statusFailure(answer, now);
  if (!body.ok) throw body.failure;
  const { text, bytes } = body;
  try {
    return { json: parseShallow(text), text, bytes, serverTime, ageMs, secret };
  } catch (error) {
    if (error instanceof TooDeepJson) throw new Failure('protocol', TOO_DEEP);
    const reason = `the answer is not JSON (${describeBody(headers['content-type'], text, bytes)})`;
    throw new Failure('unreachable', reason, { again: true });
  }
}

const TOO_DEEP = `the answer has lists or objects within each other more than ${MOST_LEVELS} levels deep`;

function refuseLongWait({ clock, retry }: ClientContext, { waitMs, httpStatus }: Failure): void {
  if (waitMs !== null && waitMs > retry.maxWaitMs) throw throttledFailure(clock.now() + waitMs, httpStatus);
}

async function waitBeforeRetry(
  { clock, retry, random, log }: ClientContext,
  { operation, signal }: ReadRequest,
  error: Failure,
  attempt: number,
): Promise<void> {
  // After an answer that closed the rate limit, that does the waiting, for this read as for every other.
  const isLimited = error.httpStatus === 429 || error.waitMs !== null;
  const delayMs = error.waitMs ?? (isLimited ? null : backoffMs(retry, attempt, random));
  const when = delayMs === null ? 'later' : `in ${Math.round(delayMs / 100) / 10} s`;
  const facts = { operation, attempt, delayMs, reason: error.message };
  log?.warn(
    { event: 'upstream.read.retried', ...facts },
    `a read failed and is tried again ${when}: ${error.message}`,
  );
  if (!isLimited) await clock.sleep(delayMs ?? 0, signal);
}

/** The list envelope, whole: a page without one of its fields is no page. */
function openEnvelope(json: unknown, maxRows: number): { next: unknown; results: unknown[] } {
  const problem = problemOf(json, ENVELOPE);
  if (problem !== null) throw new Failure('protocol', `the answer is no list envelope: ${problem}`);
  const { next, results } = json as WireOf<typeof ENVELOPE>;
  return { next, results: checkRows(results ?? [], maxRows) };
}

function checkRows(rows: unknown[], maxRows: number): unknown[] {
  if (rows.length <= maxRows) return rows;
  throw new Failure('protocol', `the answer has ${rows.length} rows; ${maxRows} are allowed`);
}

/** A number that parsing rounds is refused. To parse exactly takes five times as long, so only a page with a refused row is parsed so. */
function decodeRows<T>(
  raws: unknown[],
  exactly: () => unknown[],
  decode: List<T>['decode'],
  secret: Secret,
): { rows: T[]; rejects: Reject[] } {
  const rows: T[] = [];
  const rejects: Reject[] = [];
  let exact: unknown[] | null = null;
  for (const [index, rounded] of raws.entries()) {
    let [raw, result] = [rounded, decode(rounded)];
    if (!result.ok) {
      exact ??= exactly();
      raw = exact[index];
      result = decode(raw);
    }
    if (result.ok) rows.push(result.row);
    else rejects.push({ index, id: idOf(raw), reason: result.reason, body: textOf(raw, secret) });
  }
  return { rows, rejects };
}

function idOf(raw: unknown): number | null {
  const id: unknown = Reflect.get(Object(raw), 'id');
  return Number.isSafeInteger(id) ? (id as number) : null;
}

const BODY_LIMIT = 64 * 1024;

function textOf(raw: unknown, secret: Secret): string {
  const text = Buffer.from(secret.mask(stringify(raw)));
  if (text.length <= BODY_LIMIT) return text.toString();
  // In streaming mode a character cut in two is left out instead of becoming a replacement mark.
  return new TextDecoder().decode(text.subarray(0, BODY_LIMIT), { stream: true });
}

/** Parsing copes with any depth of nesting, printing does not. */
function stringify(raw: unknown): string {
  try {
    return JSON.stringify(raw);
  } catch {
    return '"a value nested too deeply to print"';
  }
}
