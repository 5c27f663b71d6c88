import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { Secret } from '../base/secret.ts';
import type { EndedSessions } from '../store/service-state.ts';

/**
 * A browser that has shown the token once carries a cookie instead of it. The cookie says until when it holds, signed with a key
 * made of the token, so that another token ends every session and a restart ends none. Only sessions that a person ended before
 * their time are kept on this side.
 */
export interface Session {
  /** Whether this is the token itself. */
  isToken(given: string): boolean;
  /** Whether the request carries a session that still holds. */
  isOpen(request: IncomingMessage): boolean;
  /** The header that opens a session. */
  open(isSecure: boolean): string;
  /** Ends the session of this request, also for somebody who copied its cookie; returns the header that removes it. */
  close(request: IncomingMessage): string;
}

const HOURS = 12;

export interface SessionOptions {
  ended?: EndedSessions | undefined;
  now?: () => number;
}

export function createSession(token: Secret, options: SessionOptions = {}): Session {
  const { ended = endedInMemory(), now = Date.now } = options;
  const expected = digest(token.reveal());
  const key = createHmac('sha256', token.reveal()).update('feedback-mirror: session, 2').digest();
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  // Cookies know no ports: mirrors on one machine must not end each other's sessions.
  const name = `feedback-mirror-${sign('name')
    .replaceAll(/[^a-z0-9]/gi, '')
    .slice(0, 8)}`;
  const flags = 'Path=/; HttpOnly; SameSite=Strict';
  const read = ({ headers }: IncomingMessage): { id: string; until: number } | null => {
    const [until = '', id = '', signature = ''] = cookieOf(headers.cookie ?? '', name).split('.');
    const isOurs = timingSafeEqual(digest(sign(`${until}.${id}`)), digest(signature));
    return isOurs && Number(until) > now() ? { id, until: Number(until) } : null;
  };
  return {
    isToken: (given) => timingSafeEqual(digest(given), expected),
    isOpen(request) {
      const session = read(request);
      return session !== null && !ended.has(session.id);
    },
    open(isSecure) {
      const text = `${now() + HOURS * 3_600_000}.${randomUUID()}`;
      return `${name}=${text}.${sign(text)}; Max-Age=${HOURS * 3600}; ${flags}${isSecure ? '; Secure' : ''}`;
    },
    close(request) {
      const session = read(request);
      if (session) ended.add(session.id, session.until, now());
      return `${name}=; Max-Age=0; ${flags}`;
    },
  };
}

function endedInMemory(): EndedSessions {
  const ids = new Set<string>();
  return { has: (id) => ids.has(id), add: (id) => void ids.add(id) };
}

function cookieOf(header: string, name: string): string {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

/** Digests have one length and say nothing about the text, so comparing them takes the same time for every guess. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A wrong token is answered late, and later each time; one address must not slow down another. */
export interface Guesses {
  wrong(address: string): Promise<void>;
}

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 16_000;
const FORGIVEN_MS = 60_000;
const MOST_ADDRESSES = 1000;

/** The token itself is compared first and never waits: guessing must not lock its owner out, also not from the same address. */
export function slowGuesses(clock: Clock): Guesses {
  const wrong = new Map<string, { times: number; at: number }>();
  return {
    async wrong(address) {
      const now = clock.now();
      const before = wrong.get(address);
      const times = before && Math.abs(now - before.at) < FORGIVEN_MS ? before.times + 1 : 1;
      wrong.delete(address);
      wrong.set(address, { times, at: now });
      const [oldest] = wrong.keys();
      if (wrong.size > MOST_ADDRESSES && oldest !== undefined) wrong.delete(oldest);
      await clock.sleep(Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(times - 1, 10)));
    },
  };
}
