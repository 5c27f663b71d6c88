import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { ownFile } from '../../base/program.ts';
import { isSameSecret, type Secret } from '../../base/secret.ts';
import type { EndedSessions } from '../../state/state.ts';
import { htmlText } from '../../text/text.ts';
import { type Guesses, TOO_MANY_GUESSES } from './guesses.ts';

/**
 * A browser that has shown the token once carries a cookie instead of it. The cookie says until when it holds, signed with a key
 * made of the token and of a number that only the mirror knows, so that another token ends every session, a restart ends none, and nobody
 * can make one elsewhere. Only sessions that a person ended before their time are kept on this side.
 */
export interface BrowserSession {
  isToken(given: string): boolean;
  isOpen(request: IncomingMessage): boolean;
  open(isSecure: boolean): string;
  /** Ends the session of this request, also for copies of its cookie. Returns the header that removes the cookie. */
  close(request: IncomingMessage): string;
}

const HOURS = 12;

interface SessionOptions {
  ended?: EndedSessions | undefined;
  now?: () => number;
}

export function createSession(token: Secret, options: SessionOptions = {}): BrowserSession {
  const { ended = endedInMemory(), now = Date.now } = options;
  const key = createHmac('sha256', token.reveal())
    .update(`feedback-mirror: session, 3, ${ended.key()}`)
    .digest();
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  // Cookies know no ports: mirrors on one machine must not end each other's sessions.
  const name = `feedback-mirror-${sign('name')
    .replaceAll(/[^a-z0-9]/gi, '')
    .slice(0, 8)}`;
  const flags = 'Path=/; HttpOnly; SameSite=Strict';
  const read = ({ headers }: IncomingMessage): { id: string; until: number } | null => {
    const [until = '', id = '', signature = ''] = cookieOf(headers.cookie ?? '', name).split('.');
    const isOurs = isSameSecret(signature, sign(`${until}.${id}`));
    return isOurs && Number(until) > now() ? { id, until: Number(until) } : null;
  };
  return {
    isToken: (given) => isSameSecret(given, token.reveal()),
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
  const [ids, key] = [new Set<string>(), randomUUID()];
  return { key: () => key, has: (id) => ids.has(id), add: (id) => void ids.add(id) };
}

function cookieOf(header: string, name: string): string {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

export const LOGIN_PATH = '/login';
export const LOGOUT_PATH = '/logout';
export const LOGIN_STYLE = '/login.css';

const SHEET = 'base.css';
const WRONG_TOKEN = 'This is not the token of this service.';

interface LoginOptions {
  session: BrowserSession;
  guesses: Guesses;
}

/** A page that takes the token and gives a session for it. It works without scripts, and is the only one that takes a form. */
export async function addLogin(app: FastifyInstance, { session, guesses }: LoginOptions): Promise<void> {
  const style = readFileSync(ownFile(`../../web/${SHEET}`, import.meta.url), 'utf8');
  const login: FastifyPluginAsync = async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: 16_384 },
      async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
    );
    scope.get(LOGIN_PATH, async ({ raw, query }, reply) => {
      const to = localPath(fieldOf(query, 'to'));
      return session.isOpen(raw) ? reply.redirect(to, 303) : page(reply, { to });
    });
    scope.post(LOGIN_PATH, async ({ body, headers, ip }, reply) => {
      const to = localPath(fieldOf(body, 'to'));
      if (session.isToken(fieldOf(body, 'token').trim()))
        return reply.header('set-cookie', session.open(isEncrypted(headers))).redirect(to, 303);
      const isAnswered = await guesses.wrong(ip, reply.raw);
      const [status, problem] = isAnswered ? [403, WRONG_TOKEN] : [429, TOO_MANY_GUESSES.detail];
      return page(reply.code(status).header('connection', 'close'), { to, problem });
    });
  };
  await app.register(login);
  app.get(LOGIN_STYLE, async (_request, reply) => reply.type('text/css; charset=utf-8').send(style));
  app.post(LOGOUT_PATH, async ({ raw }, reply) => reply.header('set-cookie', session.close(raw)).send({}));
}

function fieldOf(given: unknown, name: string): string {
  const value: unknown = Reflect.get(Object(given), name);
  return typeof value === 'string' ? value : '';
}

/** A proxy that ends TLS says so in a header. A false header only makes the cookie of its sender stricter. */
function isEncrypted(headers: FastifyRequest['headers']): boolean {
  return (
    String(headers['x-forwarded-proto'] ?? '')
      .split(',', 1)[0]
      ?.trim() === 'https'
  );
}

/** Where to go after the login: an address of this service, or its first page. */
export function localPath(to: string): string {
  const base = 'http://here.invalid';
  const url = to.startsWith('/') ? URL.parse(to, base) : null;
  if (url?.origin !== base) return '/';
  const path = `${url.pathname}${url.search}`;
  // The URL parser removes dots. The rest may begin like the address of another host.
  return /^\/[/\\]/.test(path) ? '/' : path;
}

/**
 * The referrer stays within this service, but stays: without any, browsers say of a form that it comes from nowhere, and that is
 * refused like a stranger's.
 */
function page(reply: FastifyReply, { to, problem }: { to: string; problem?: string }): FastifyReply {
  const alert = problem ? `<p class="problem" role="alert" id="problem">${htmlText(problem)}</p>` : '';
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="same-origin" />
    <title>Sign in · Feedback Mirror</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${LOGIN_STYLE}" />
  </head>
  <body class="login">
    <main>
      <h1>Feedback Mirror</h1>
      <p class="quiet">This service asks for its token. Whoever set it up has it as HTTP_TOKEN.</p>
      <form method="post" action="${LOGIN_PATH}">
        ${alert}
        <input type="hidden" name="to" value="${htmlText(to)}" />
        <label class="field">Token
          <input type="password" name="token" required autofocus autocomplete="current-password"${problem ? ' aria-describedby="problem"' : ''} />
        </label>
        <button class="main">Sign in</button>
      </form>
    </main>
  </body>
</html>
`);
}
