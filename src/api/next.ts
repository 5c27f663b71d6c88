import querystring from 'node:querystring';
import type { Secret } from '../base/secret.ts';
import { toInstant } from '../contract/datetime.ts';
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

/** The host that a `next` names where it is not the one that is asked; null where it names none, or ours. */
export function otherHost(next: unknown, { endpoint }: Pick<NextRules, 'endpoint'>): string | null {
  const url = typeof next === 'string' && ABSOLUTE.test(next) ? URL.parse(next) : null;
  return url === null || url.host === endpoint.host ? null : url.host;
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

const MOMENT = /\d{4}-\d\d-\d\d([T +]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?/g;
const EPOCH = /(?<!\d)\d{10}(?=\D|$|\d{3}(\d{3})?(?!\d))/g;
const ZONE = /(?<=:.*)(Z|[+-]\d\d(:?\d\d)?)$/i;
const SECOND_MS = 1000;

/** The row that a page ends with; `created` is null where it could not be read. */
export interface LastRow {
  id: number;
  created: string | null;
}

/**
 * The second in which the last row of a page was made (`2026-01-02T03:04:05`), where the cursor that goes on after it names that time and
 * not the row as well. A service that goes on after a time alone never shows the rest of the rows of that second, at any read, for as long
 * as its pages end there. Other times, as that at which the walk began or at which the cursor runs out, and what the cursors `around` this
 * one say too, tell no place. Where the time of the row is not known, any time may be its.
 */
export function secondIn(cursor: string, { id, created }: LastRow, around: readonly string[]): string | null {
  if (!cursor.split('&').some(mayHoldMoment)) return null;
  const common = new Set(around.flatMap((other) => other.split('&')));
  const own = cursor.split('&').filter((part) => !common.has(part));
  const texts = own.flatMap(textsOf);
  const named = texts.flatMap(momentsIn);
  const second =
    created === null ? named[0] : named.some((at) => isTimeOf(created, at)) && toInstant(created);
  const isRow = new RegExp(`(?<!\\d)${id}(?!\\d)`);
  // A date is no id: 12 stands in `T12:04:05`.
  if (!second || texts.some((text) => isRow.test(text.replace(MOMENT, ' ')))) return null;
  return second.slice(0, 19);
}

/** The shortest are a date and the seconds since 1970. Most cursors are numbers of pages, and are asked for every page. */
const SHORTEST_MOMENT = 10;

function mayHoldMoment(part: string): boolean {
  return part.split('=').some((piece) => piece.length >= SHORTEST_MOMENT);
}

function textsOf(part: string): string[] {
  return [querystring.unescape(part), ...part.split('=').map(unpacked)];
}

function momentsIn(text: string): string[] {
  const moments = [...text.matchAll(MOMENT)].map(([found]) => toInstant(found.replace(/^(.{10})\+/, '$1T')));
  const epochs = [...text.matchAll(EPOCH)].map(([found]) =>
    new Date(SECOND_MS * Number(found)).toISOString(),
  );
  return [...moments, ...epochs].filter((moment) => moment !== null);
}

/** Rows may show their time rounded, or no more than the minute or the day, and a cursor may leave out the zone that they show. */
function isTimeOf(created: string, moment: string): boolean {
  return sinceOf(created, moment).length > 0;
}

/** How long after the time that a row shows a moment is, by each way to read the two as one. */
function sinceOf(created: string, moment: string): number[] {
  return [created, created.replace(ZONE, '')].flatMap((text) => {
    const instant = toInstant(text);
    if (instant === null) return [];
    const after = Date.parse(moment) - Date.parse(instant);
    return after > -SECOND_MS && after < precisionOf(instant) ? [after] : [];
  });
}

function precisionOf(instant: string): number {
  if (instant.endsWith('T00:00:00.000Z')) return 86_400 * SECOND_MS;
  return instant.endsWith(':00.000Z') ? 60 * SECOND_MS : SECOND_MS;
}

/** What a cursor in base64 says, where it is one. */
function unpacked(value: string): string {
  const text = Buffer.from(querystring.unescape(value), 'base64url').toString('latin1');
  return /^[\x20-\x7e]{10,}$/.test(text) ? querystring.unescape(text) : '';
}
