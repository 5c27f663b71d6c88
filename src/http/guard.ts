import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Secret } from '../base/secret.ts';
import { isOurHost, type Listening } from './hosts.ts';

export interface Refusal {
  status: number;
  detail: string;
  headers?: Record<string, string>;
}

export interface GuardOptions {
  /** Asked at every request: the port is only known once we listen. */
  listening(): Listening;
  token: Secret | null;
}

/** What anybody may ask without a token, so that whatever restarts the process needs to know none. */
const OPEN_PATHS = ['/healthz'];

const READING = ['GET', 'HEAD', 'OPTIONS'];

/** Says no to a request, whatever its route, before anything of it is read; null lets it pass. */
export type Guard = (request: IncomingMessage) => Refusal | null;

export function createGuard({ listening, token }: GuardOptions): Guard {
  // The ways to show that one is allowed in; a browser's session will be another one.
  const ways = token ? [bearerOf(token)] : [];
  return (request) => {
    const refusal = refuseHost(request, listening()) ?? refuseStranger(request);
    if (refusal) return refusal;
    const isOpen = !token || OPEN_PATHS.includes(pathOf(request));
    return isOpen || ways.some((isAllowed) => isAllowed(request)) ? null : NO_TOKEN;
  };
}

const NO_TOKEN: Refusal = {
  status: 401,
  detail: 'This service asks for its HTTP_TOKEN: send the header "Authorization: Bearer" with it.',
  headers: { 'www-authenticate': 'Bearer realm="feedback-mirror"' },
};

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

/** Digests have one length and say nothing about the token, so comparing them takes the same time for every guess. */
function bearerOf(token: Secret): (request: IncomingMessage) => boolean {
  const expected = digest(token.reveal());
  return ({ headers }) => {
    const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
