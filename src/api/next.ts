import type { Secret } from '../base/secret.ts';
import { Failure } from './failure.ts';

export interface NextRules {
  /** Where this list lives; a `next` that points anywhere else is refused. */
  endpoint: URL;
  pageParameter: string;
  cursorParameter: string;
  authParameter: string | null;
  secret: Secret;
}

/** Longer than any request line a server would accept. */
const MAX_LENGTH = 8_192;
/** A shorter token could be part of an honest cursor by chance. */
const RECOGNISABLE = 8;

/**
 * What `next` says as a cursor: the query string that reads the following page from our own endpoint, or null at the
 * end. Nothing of `next` but its query is ever used, so that no upstream can send us, and our token, elsewhere.
 */
export function cursorOf(next: unknown, rules: NextRules): string | null {
  if (next === null) return null;
  const query = typeof next === 'string' ? ofText(next, rules) : ofNumber(next, rules);
  return withoutCredentials(query, rules.authParameter, rules.secret);
}

function ofNumber(next: unknown, rules: NextRules): string {
  if (typeof next !== 'number') {
    throw wrong(`is ${Array.isArray(next) ? 'an array' : `of type ${typeof next}`}`);
  }
  if (!Number.isSafeInteger(next) || next < 0) throw wrong('is a number that cannot be a page');
  return parameter(rules.pageParameter, String(next));
}

function ofText(next: string, rules: NextRules): string {
  if (next === '') throw wrong('is an empty text; only null ends a list');
  if (next.length > MAX_LENGTH) throw wrong(`is longer than ${MAX_LENGTH} characters`);
  if (!next.isWellFormed() || /\p{Cc}/u.test(next)) throw wrong('has control characters or broken Unicode');
  if (/^\d+$/.test(next)) return parameter(rules.pageParameter, next);
  if (isReference(next) && !isRootedBase64(next, rules)) return ofReference(next, rules);
  if (isBareQuery(next)) return ofReference(`?${next}`, rules);
  return parameter(rules.cursorParameter, next);
}

const ABSOLUTE = /^\s*([a-z][a-z0-9+.-]*:[/\\]|(https?|wss?|ftp|file|data|blob|about|javascript):)/i;

/** An opaque cursor may hold a colon or a slash (base64 does); it is a reference only where it looks like one. */
function isReference(text: string): boolean {
  return ABSOLUTE.test(text) || /^\s*([/\\?]|\.{1,2}[/\\])/.test(text) || text.includes('?');
}

/** One in 64 cursors in base64 begins with a slash. It says nothing of a path where it does not begin like ours. */
function isRootedBase64(text: string, { endpoint }: NextRules): boolean {
  const [, root = ''] = endpoint.pathname.split('/');
  return /^\/[\w+-][\w+/-]*={0,2}$/.test(text) && text.split('/')[1] !== root;
}

/** `page=2&x=y`, but not base64 whose padding looks like a parameter without a value. */
function isBareQuery(text: string): boolean {
  return text.split('&').every((part) => /^[\w.~%[\]-]+=/.test(part)) && /=[^=]/.test(text);
}

function ofReference(reference: string, { endpoint }: NextRules): string {
  const url = reference.includes('\\') ? null : URL.parse(reference, endpoint.href);
  if (url === null || !isOurs(url, endpoint))
    throw wrong(
      `leads away from ${endpoint.host}${endpoint.pathname}`,
      'Nothing was sent there. If the service moved, set FEEDBACK_BASE_URL to its new address.',
    );
  return url.search.slice(1);
}

/**
 * Compared as text after the URL standard's own normalisation: an encoded spelling of our path is not our path. The scheme and the host
 * may be others: behind a proxy that ends TLS or does not pass the Host header on, a service names itself. The request goes to our own
 * endpoint either way. Such a proxy may also hide the first part of our path from the service.
 */
function isOurs(url: URL, endpoint: URL): boolean {
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return false;
  const [path, ours] = [trimSlash(url.pathname), trimSlash(endpoint.pathname)];
  return path === ours || (path.startsWith('/api/') && ours.endsWith(path));
}

function trimSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/**
 * The parts stay spelt as they came: decoding and encoding again would change a cursor that holds bytes which are not
 * UTF-8. The token goes: the request adds the current one, and a cursor is stored and shown.
 */
export function withoutCredentials(query: string, authParameter: string | null, secret: Secret): string {
  const recognisable = secret.reveal().length >= RECOGNISABLE;
  const kept = query.split('&').filter((part) => {
    const [pair] = new URLSearchParams(part);
    if (pair === undefined || pair[0] === authParameter) return false;
    return !(recognisable && pair[1] === secret.reveal());
  });
  const cursor = kept.join('&');
  if (recognisable && secret.mask(cursor) !== cursor) throw wrong('holds the API token inside a cursor');
  return cursor;
}

/** Spelt as the URL standard spells it, so that the same parameter in an address of `next` is the same cursor. */
function parameter(name: string, value: string): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`.replaceAll("'", '%27');
}

function wrong(what: string, hint?: string): Failure {
  return new Failure('protocol', `\`next\` ${what}`, hint === undefined ? {} : { hint });
}
