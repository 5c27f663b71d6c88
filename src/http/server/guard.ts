import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback } from '../../base/loopback.ts';
import { isSameSecret, type Secret } from '../../base/secret.ts';
import { type BrowserSession, LOGIN_PATH, LOGIN_STYLE } from './session.ts';

export interface HttpRefusal {
  status: number;
  detail: string;
  headers?: Record<string, string>;
}

interface GuardOptions {
  /** Asked at every request: the port is only known once we listen. */
  listening(): Listening;
  /** Null where there is no token and everybody who reaches us is let in. */
  session: BrowserSession | null;
  /** Opens the Atom feeds and nothing else; null where only the token does. */
  feedToken?: Secret | null;
  /** The only one that opens the tools for agents, and opens nothing else; null where there are none. */
  mcpToken?: Secret | null;
}

/** What anybody may ask without a token: whatever restarts the process needs to know none, and a person has to give it somewhere. */
const OPEN_PATHS = ['/healthz', LOGIN_PATH, LOGIN_STYLE];

const READING = ['GET', 'HEAD', 'OPTIONS'];

/** What is to be done with a request, whatever its route, before anything of its body is read. */
interface Verdict {
  refusal: HttpRefusal | null;
  /** The request has the token, or none is set. Open paths need no token. */
  isKnown: boolean;
  /** It showed something else in the token's place. */
  isGuess: boolean;
}

export type Guard = (request: IncomingMessage) => Verdict;

export function createGuard(options: GuardOptions): Guard {
  const { listening, session, feedToken = null, mcpToken = null } = options;
  return (request) => {
    const refusal = refuseHost(request, listening()) ?? refuseStranger(request);
    if (!refusal && mcpToken && pathOf(request) === MCP_PATH) return verdictOnAgent(request, mcpToken);
    const isOpen = OPEN_PATHS.includes(pathOf(request));
    if (refusal || isOpen || !session) return { refusal, isKnown: !refusal && !isOpen, isGuess: false };
    const given = givenToken(request);
    const isReader =
      given !== null &&
      feedToken !== null &&
      pathOf(request).startsWith(FEED_PATH) &&
      isSameSecret(given, feedToken.reveal());
    const isKnown = isReader || (given !== null && session.isToken(given)) || session.isOpen(request);
    return {
      refusal: isKnown ? null : refuseUnknown(request),
      isKnown,
      isGuess: given !== null && !isKnown,
    };
  };
}

/** Neither a session nor another token will do: a page must not call the tools, and an agent gets no other token. */
function verdictOnAgent(request: IncomingMessage, token: Secret): Verdict {
  const given = bearerOf(request);
  const isKnown = given !== null && isSameSecret(given, token.reveal());
  const isGuess = given !== null && !isKnown;
  return { refusal: isKnown ? null : unknownWithout('MCP_TOKEN'), isKnown, isGuess };
}

function bearerOf({ headers }: IncomingMessage): string | null {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** The token as the header carries it or, for clients of the feedback API, the query. */
function givenToken(request: IncomingMessage): string | null {
  const bearer = bearerOf(request);
  const path = pathOf(request);
  if (bearer !== null || !(path.startsWith(API_PATH) || path.startsWith(FEED_PATH))) return bearer;
  return new URLSearchParams(request.url?.split('?')[1]).get(API_TOKEN_PARAMETER);
}

const API_PATH = '/api/v1/';
/** Programs that read feeds know an address and no headers. */
export const FEED_PATH = '/feeds/';
export const API_TOKEN_PARAMETER = 'token';

export const MCP_PATH = '/mcp';

function unknownWithout(token: 'HTTP_TOKEN' | 'MCP_TOKEN'): HttpRefusal {
  return {
    status: 401,
    detail: `This service asks for its ${token}: send the header "Authorization: Bearer" with it.`,
    headers: { 'www-authenticate': 'Bearer realm="feedback-mirror"' },
  };
}

/** A person who opens a page is shown where to give the token; a program is told. */
function refuseUnknown({ method = '', url = '', headers }: IncomingMessage): HttpRefusal {
  if (!isOpenedByPerson({ method, headers })) return unknownWithout('HTTP_TOKEN');
  const location = url === '/' ? LOGIN_PATH : `${LOGIN_PATH}?to=${encodeURIComponent(url)}`;
  return { status: 303, detail: 'Sign in first.', headers: { location } };
}

/** Requires one Host header that is ours, and a plain path. Node would take the first of two hosts, and a target with another host in it. */
function refuseHost(request: IncomingMessage, listening: Listening): HttpRefusal | null {
  const [host, second] = request.headersDistinct.host ?? [];
  if (!request.url?.startsWith('/'))
    return {
      status: 400,
      detail: 'Ask for a path that begins with a slash, and name the host in the header Host.',
    };
  if (host === undefined || second !== undefined)
    return { status: 400, detail: 'A request needs the header Host, once.' };
  if (isOurHost(host, listening)) return null;
  const hint = `Call it as ${listening.host}, or as localhost, with port ${listening.port}, or set HTTP_NAMES to that name.`;
  return { status: 421, detail: `This service is not known under the name in the header Host. ${hint}` };
}

/**
 * A page of somebody else can make a browser send us things, but not hide that it does: the browser adds where it comes from.
 * Programs that are no browsers send neither header.
 */
function refuseStranger({ method = '', headers, headersDistinct }: IncomingMessage): HttpRefusal | null {
  if (READING.includes(method)) return null;
  const isOurs = (headersDistinct.origin ?? []).every((origin) => isOriginOf(origin, headers.host));
  const site = headers['sec-fetch-site'];
  if (isOurs && (site === undefined || site === 'same-origin' || site === 'none')) return null;
  const hint = 'A proxy before it has to pass the header Host as the browser sent it, with its port.';
  return { status: 403, detail: `Changes are only accepted from pages of this service itself. ${hint}` };
}

/** Compares the origin with the Host under the scheme of the page: a proxy may name a port that the browser leaves out. */
export function isOriginOf(origin: string, host: string | undefined): boolean {
  const page = URL.parse(origin);
  return page !== null && page.host !== '' && URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}

function pathOf({ url = '' }: IncomingMessage): string {
  return splitMount(url).rest.split('?', 1)[0] ?? '';
}

/** `/s/acme/posts` is `/posts` of the source acme. Whatever else an address holds, both sides split it here. */
export function splitMount(url: string): { name: string | null; mount: string; rest: string } {
  const [mount = '', name = null] = /^\/s\/([a-z0-9-]{1,40})(?=[/?]|$)/.exec(url) ?? [];
  const rest = url.slice(mount.length);
  return { name, mount, rest: mount !== '' && !rest.startsWith('/') ? `/${rest}` : rest };
}

interface Listening {
  host: string;
  port: number;
  /** Under which a proxy or another machine calls it, with any port. */
  names?: readonly string[];
}

/** Names of this machine. No other site can make a browser resolve them to another machine. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const HOST_HEADER = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?<port>\d{1,5}))?$/;

/**
 * The names under which the service may be called. A page of a stranger can point a name of its own at our address (DNS
 * rebinding) and would then be of our origin; it cannot do so with an address or a name that is not its own. So:
 * on loopback, exactly the names of loopback with our port; elsewhere, any address, because an operator reaches 0.0.0.0 under
 * many (and the port may be mapped), but of the names only the configured ones and localhost. Elsewhere there is a token too.
 */
export function isOurHost(header: string, { host, port, names = [] }: Listening): boolean {
  const match = HOST_HEADER.exec(header.toLowerCase());
  const name = match?.groups?.name;
  if (name === undefined) return false;
  if (names.some((given) => inUrl(given) === name)) return true;
  const isNamed = name === inUrl(host) || LOOPBACK_NAMES.includes(name);
  if (isLoopback(host)) return isNamed && Number(match?.groups?.port ?? 80) === port;
  return isNamed || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/** The URL for a person on this machine. 0.0.0.0 and [::] become loopback addresses. */
export function urlOf({ host, port }: Listening): string {
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };
  const name = inUrl(host);
  return `http://${anywhere[name] ?? name}:${port}`;
}

/** The host as a browser spells it: an IPv6 address is shortened. */
function inUrl(host: string): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return URL.parse(`http://${name}`)?.hostname ?? name.toLowerCase();
}

/** Browsers ask for HTML when a person opens an address; programs, and the pages for their data, do not. */
export function isOpenedByPerson({
  method = '',
  headers,
}: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '');
}
