import type { Dispatcher } from 'undici';
import { AppError } from '../base/errors.ts';
import type { Post } from '../contract/decode.ts';
import { SEARCH_LIMIT, SEARCH_PARAMETER } from '../contract/endpoints.ts';
import { authParameter, endpointOf } from './endpoint.ts';
import { Failure, oneLine } from './failure.ts';
import { cursorOf, withoutCredentials } from './next.ts';
import type { Context } from './options.ts';
import { type Arrived, checkRows, decodeRows, LISTS, type List, openEnvelope, type Reject } from './page.ts';
import { read, toAppError } from './read.ts';

/** Reads one page: request, envelope and the way to the following page. */
export async function readPage<T>(
  context: Context,
  dispatcher: Dispatcher,
  list: List<T>,
  place: { cursor: string; number: number; signal: AbortSignal },
): Promise<Arrived<T>> {
  const { operation } = list;
  const { number, signal } = place;
  const cursor = checkCursor(place.cursor, context);
  const what = describe(list, cursor, number);
  const { json, bytes, serverTime, secret } = await read(context, dispatcher, {
    operation,
    query: cursor,
    what,
    signal,
  });
  const receivedAt = context.clock.now();
  return explained(context, what, () => {
    const { next, results } = openEnvelope(json, context.limits.maxRows);
    const following = cursorOf(next, {
      endpoint: endpointOf(context.base, operation),
      pageParameter: context.pageParameter,
      cursorParameter: context.cursorParameter,
      authParameter: authParameter(context.auth),
      secret,
    });
    const decode = () => decodeRows(results, list.decode, secret);
    return { decode, number, cursor, next: following, serverTime, receivedAt, bytes };
  });
}

/** The documents disagree on whether a search answers with an envelope or a bare list: both are read. */
export async function readSearch(
  context: Context,
  dispatcher: Dispatcher,
  text: string,
  signal: AbortSignal,
): Promise<{ rows: Post[]; rejects: Reject[] }> {
  if (!text.isWellFormed()) throw new AppError('usage', 'The text to search for is broken Unicode.');
  const what = 'Searching posts';
  const query = `${SEARCH_PARAMETER}=${encodeURIComponent(text)}`;
  const { json, secret } = await read(context, dispatcher, { operation: 'searchPosts', query, what, signal });
  return explained(context, what, () => {
    const { maxRows } = context.limits;
    const raws = Array.isArray(json) ? checkRows(json, maxRows) : openEnvelope(json, maxRows).results;
    return decodeRows(raws.slice(0, SEARCH_LIMIT), LISTS.posts.decode, secret);
  });
}

/**
 * `Listing posts, page 3 (page=3)`. A cursor holds no token, so it can be shown. A walk that begins in the middle, or a page read on
 * its own, has no number worth telling.
 */
export function describe({ name }: List<unknown>, cursor: string, number: number): string {
  if (cursor === '') return `Listing ${name}, page ${number},`;
  const place = oneLine(cursor, 100);
  return number === 1 ? `Listing ${name} from ${place},` : `Listing ${name}, page ${number} (${place}),`;
}

function explained<T>(context: Context, what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Failure) throw toAppError(error, { what, host: context.base.host, attempts: 1 });
    throw error;
  }
}

/** A cursor comes back from storage: whatever happened to it there, it must stay a query of our own endpoint. */
function checkCursor(cursor: string, { auth, token }: Context): string {
  const secret = token();
  try {
    if (/^[\x21\x22\x24-\x7e]*$/.test(cursor)) return withoutCredentials(cursor, authParameter(auth), secret);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  throw new AppError('usage', `This is no cursor of a page: ${oneLine(secret.mask(cursor), 100)}`);
}
