import type { IncomingMessage } from 'node:http';
import { isOurHost, type Listening } from './hosts.ts';
import { LOGIN_PATH, LOGIN_STYLE } from './login.ts';
import type { Session } from './session.ts';

export interface Refusal {
  status: number;
  detail: string;
  headers?: Record<string, string>;
}

export interface GuardOptions {
  /** Asked at every request: the port is only known once we listen. */
  listening(): Listening;
  /** Null where there is no token and everybody who reaches us is let in. */
  session: Session | null;
}

/** What anybody may ask without a token: whatever restarts the process needs to know none, and a person has to give it somewhere. */
const OPEN_PATHS = ['/healthz', LOGIN_PATH, LOGIN_STYLE];

const READING = ['GET', 'HEAD', 'OPTIONS'];

/** What is to be done with a request, whatever its route, before anything of its body is read. */
export interface Verdict {
  /** Null lets it pass. */
  refusal: Refusal | null;
  /** It showed the token, or there is none to show; nobody has to for the open paths. */
  isKnown: boolean;
  /** It showed something else in the token's place. */
  isGuess: boolean;
}

export type Guard = (request: IncomingMessage) => Verdict;

export function createGuard({ listening, session }: GuardOptions): Guard {
  return (request) => {
    const refusal = refuseHost(request, listening()) ?? refuseStranger(request);
    const isOpen = OPEN_PATHS.includes(pathOf(request));
    if (refusal || isOpen || !session) return { refusal, isKnown: !refusal && !isOpen, isGuess: false };
    const given = givenToken(request);
    const isKnown = (given !== null && session.isToken(given)) || session.isOpen(request);
    return {
      refusal: isKnown ? null : refuseUnknown(request),
      isKnown,
      isGuess: given !== null && !isKnown,
    };
  };
}

/** The token as the header carries it or, for clients of the feedback API, the query. */
function givenToken(request: IncomingMessage): string | null {
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  if (bearer !== undefined || !pathOf(request).startsWith(API_PATH)) return bearer ?? null;
  return new URLSearchParams(request.url?.split('?')[1]).get(API_TOKEN_PARAMETER);
}

const API_PATH = '/api/v1/';
export const API_TOKEN_PARAMETER = 'token';

const NO_TOKEN: Refusal = {
  status: 401,
  detail: 'This service asks for its HTTP_TOKEN: send the header "Authorization: Bearer" with it.',
  headers: { 'www-authenticate': 'Bearer realm="feedback-mirror"' },
};

/** A person who opens a page is shown where to give the token; a program is told. */
function refuseUnknown({ method = '', url = '', headers }: IncomingMessage): Refusal {
  if (method !== 'GET' || !/\btext\/html\b/.test(headers.accept ?? '')) return NO_TOKEN;
  const location = url === '/' ? LOGIN_PATH : `${LOGIN_PATH}?to=${encodeURIComponent(url)}`;
  return { status: 303, detail: 'Sign in first.', headers: { location } };
}

/** One Host that is ours, and a plain path: Node itself would take the first of two, and a target with another host in it. */
function refuseHost(request: IncomingMessage, listening: Listening): Refusal | null {
  const [host, second] = request.headersDistinct.host ?? [];
  if (!request.url?.startsWith('/'))
    return {
      status: 400,
      detail: 'Ask for a path that begins with a slash, and name the host in the header Host.',
    };
  if (host === undefined || second !== undefined)
    return { status: 400, detail: 'A request needs the header Host, once.' };
  if (isOurHost(host, listening)) return null;
  const hint = `Call it as ${listening.host}, or as localhost, with port ${listening.port}.`;
  return { status: 421, detail: `This service is not known under the name in the header Host. ${hint}` };
}

/**
 * A page of somebody else can make a browser send us things, but not hide that it does: the browser adds where it comes from.
 * Programs that are no browsers send neither header.
 */
function refuseStranger({ method = '', headers, headersDistinct }: IncomingMessage): Refusal | null {
  if (READING.includes(method)) return null;
  const host = URL.parse(`http://${headers.host}`)?.host;
  const isOurs = (headersDistinct.origin ?? []).every((origin) => host && URL.parse(origin)?.host === host);
  const site = headers['sec-fetch-site'];
  if (isOurs && (site === undefined || site === 'same-origin' || site === 'none')) return null;
  return { status: 403, detail: 'Changes are only accepted from pages of this service itself.' };
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
