import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Guesses, Session } from './session.ts';

export const LOGIN_PATH = '/login';
export const LOGIN_STYLE = '/login.css';

const SHEETS = ['base.css', 'forms.css', 'login.css'];

export interface LoginOptions {
  session: Session;
  guesses: Guesses;
}

/** A page that takes the token and gives a session for it. It works without scripts, and is the only one that takes a form. */
export async function addLogin(app: FastifyInstance, { session, guesses }: LoginOptions): Promise<void> {
  const style = SHEETS.map((name) => readFileSync(join(import.meta.dirname, 'assets', name), 'utf8')).join(
    '\n',
  );
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
      await guesses.wrong(ip);
      return page(reply.code(403), { to, problem: 'This is not the token of this service.' });
    });
  };
  await app.register(login);
  app.get(LOGIN_STYLE, async (_request, reply) => reply.type('text/css; charset=utf-8').send(style));
  app.post('/logout', async ({ raw }, reply) => reply.header('set-cookie', session.close(raw)).send({}));
}

function fieldOf(given: unknown, name: string): string {
  const value: unknown = Reflect.get(Object(given), name);
  return typeof value === 'string' ? value : '';
}

/** Whoever stands before us with a certificate says so; a lie only makes the liar's own cookie stricter. */
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
  // The parser takes dots away, and what is left may begin like the address of somebody else.
  return /^\/[/\\]/.test(path) ? '/' : path;
}

/**
 * The referrer stays within this service, but stays: without any, browsers say of a form that it comes from nowhere, and that is
 * refused like a stranger's.
 */
function page(reply: FastifyReply, { to, problem }: { to: string; problem?: string }): FastifyReply {
  const alert = problem ? `<p class="problem" role="alert" id="problem">${escaped(problem)}</p>` : '';
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
        <input type="hidden" name="to" value="${escaped(to)}" />
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

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
