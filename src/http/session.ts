import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Secret } from '../base/secret.ts';

/**
 * A browser that has shown the token once carries a cookie instead of it. Nothing of it is kept here: the cookie says until when
 * it holds, signed with a key made of the token, so that another token ends every session and a restart ends none.
 */
export interface Session {
  /** Whether this is the token itself. */
  isToken(given: string): boolean;
  /** Whether the request carries a session that still holds. */
  isOpen(request: IncomingMessage): boolean;
  /** The header that opens a session. */
  open(isSecure: boolean): string;
  /** The header that ends it. */
  close(): string;
}

const HOURS = 12;

export function createSession(token: Secret, now: () => number = Date.now): Session {
  const expected = digest(token.reveal());
  const key = createHmac('sha256', token.reveal()).update('feedback-mirror: session, 1').digest();
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  // Cookies know no ports: mirrors on one machine must not end each other's sessions.
  const name = `feedback-mirror-${sign('name')
    .replaceAll(/[^a-z0-9]/gi, '')
    .slice(0, 8)}`;
  const flags = 'Path=/; HttpOnly; SameSite=Strict';
  return {
    isToken: (given) => timingSafeEqual(digest(given), expected),
    isOpen({ headers }) {
      const [until = '', signature = ''] = cookieOf(headers.cookie ?? '', name).split('.');
      return timingSafeEqual(digest(sign(until)), digest(signature)) && Number(until) > now();
    },
    open(isSecure) {
      const until = String(now() + HOURS * 3_600_000);
      const value = `${until}.${sign(until)}`;
      return `${name}=${value}; Max-Age=${HOURS * 3600}; ${flags}${isSecure ? '; Secure' : ''}`;
    },
    close: () => `${name}=; Max-Age=0; ${flags}`,
  };
}

function cookieOf(header: string, name: string): string {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

/** Digests have one length and say nothing about the text, so comparing them takes the same time for every guess. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
