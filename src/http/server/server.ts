import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Clock, systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { cannotListen } from '../../base/listen.ts';
import type { Logger } from '../../base/log.ts';
import { isLoopback } from '../../base/loopback.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Secret } from '../../base/secret.ts';
import type { Progress } from '../../service/health.ts';
import type { EndedSessions } from '../../state/state.ts';
import { type HttpLimits, limitBody, limitConnections } from './connections.ts';
import { createGuard, type Guard, type HttpRefusal, splitMount, urlOf } from './guard.ts';
import { slowGuesses, TOO_MANY_GUESSES } from './guesses.ts';
import { addReplies, badTarget, breakOff, type Route, refuse } from './replies.ts';
import { addLogin, createSession, LOGOUT_PATH } from './session.ts';
import {
  addLiveness,
  addParts,
  addSource,
  type HttpPart,
  prepare,
  type Site,
  siteOptions,
  tooLate,
} from './site.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** Under which a proxy or another machine calls it. */
  names?: readonly string[];
  token: Secret | null;
  /** Opens the Atom feeds and nothing else. */
  feedToken?: Secret | null;
  /** Opens the tools for agents and nothing else. */
  mcpToken?: Secret | null;
  log: Logger;
  metrics: Metrics;
  /** The progress of the one source. With `sites` there is none. */
  progress?: () => Promise<Progress>;
  /** Several sources instead of one. Health and metrics are a part then. */
  sites?: Sites;
  parts: readonly HttpPart[];
  /** Where ended sessions are kept over a restart. */
  endedSessions?: EndedSessions | undefined;
  clock?: Clock;
  limits?: Partial<HttpLimits>;
}

/** What opens the source that answers this address; null for this server itself. The guard has let in what it is given. */
export type Sites = (url: string) => (() => Promise<Pick<Site, 'handle'>>) | null;

export const LIMITS: HttpLimits = {
  bodyBytes: 1024 * 1024,
  headersMs: 10_000,
  bodyMs: 10_000,
  stallMs: 30_000,
  connections: 256,
  // More than the 511 that may wait to be accepted at once: a probe lives until its request is read.
  strangers: 1024,
  progressMs: 5000,
  sessionMs: 5000,
};

export interface HttpServer {
  url: string;
  readonly routes: readonly Route[];
  /** Accepts nothing more and ends every connection, also those that are waited on. */
  close(): Promise<void>;
}

/** The HTTP side of the service: health, metrics and whatever parts are given. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { host, port } = options;
  if (!isLoopback(host) && !options.token)
    throw new AppError('usage', `${host} can be reached from elsewhere, and there is no HTTP_TOKEN`, {
      hint: 'Set HTTP_TOKEN, or leave HTTP_HOST at 127.0.0.1.',
    });
  const { app, routes } = await build(options);
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw cannotListen(error, { host, port });
  }
  return { url: urlOf({ host, port: portOf(app) }), routes, close: () => app.close() };
}

async function build(options: HttpOptions): Promise<{ app: FastifyInstance; routes: readonly Route[] }> {
  const { host, token, log, parts } = options;
  const limits = { ...LIMITS, ...options.limits };
  const session = token && createSession(token, { ended: options.endedSessions });
  const guard = createGuard({
    session,
    feedToken: options.feedToken ?? null,
    mcpToken: options.mcpToken ?? null,
    listening: () => ({ host, port: portOf(app), names: options.names ?? [] }),
  });
  const app: FastifyInstance = Fastify({ ...serverOptions(limits), frameworkErrors: badTarget(guard) });
  const connections = limitConnections(app, limits);
  const guesses = slowGuesses(options.clock ?? systemClock);
  prepare(app);
  addRequestLog(app, log);
  app.addHook('onRequest', async (request, reply) => {
    const { refusal, isGuess, isKnown } = guard(request.raw);
    if (!isKnown && !connections.isAlone(request.raw, reply.raw)) return drop(request, reply);
    if (isGuess && !(await guesses.wrong(request.ip, reply.raw))) return refuse(reply, TOO_MANY_GUESSES);
    if (refusal) return refuse(reply, refusal);
    if (isKnown && !connections.admit(request.raw)) return refuse(reply, TOO_MANY_CONNECTIONS);
    if (!options.sites?.(request.raw.url ?? '')) limitBody(request, reply, limits.bodyMs, tooLate);
    return undefined;
  });
  const replies = addReplies(app, log);
  addLiveness(app);
  if (session) {
    await addLogin(app, { session, guesses });
    endWithSession(app, guard, limits.sessionMs);
  }
  if (options.sites) passOn(app, options.sites);
  const { progress, metrics } = options;
  if (progress) addSource(app, { log, metrics, progress, ...limits });
  await addParts(app, replies, parts);
  return { app, routes: replies.routes };
}

/** The source answers by itself, as if it were alone: of its address it sees what comes after its name. */
function passOn(app: FastifyInstance, sites: Sites): void {
  app.addHook('onRequest', async ({ raw }, reply) => {
    const { url = '' } = raw;
    const open = sites(url);
    if (!open) return undefined;
    const site = await open();
    site.handle(Object.assign(raw, { originalUrl: url, url: splitMount(url).rest }), reply.hijack().raw);
    return reply;
  });
}

/** An answer may go on for hours, as a stream of changes does: it ends with the session in which it was asked for. */
function endWithSession(app: FastifyInstance, guard: Guard, everyMs: number): void {
  const open = new Map<IncomingMessage, ServerResponse>();
  const check = (): void => {
    for (const [request, response] of open) if (guard(request).refusal) breakOff(response);
  };
  app.addHook('onRequest', async (request, reply) => {
    open.set(request.raw, reply.raw);
    reply.raw.once('close', () => open.delete(request.raw));
  });
  app.addHook('onResponse', async ({ routeOptions }) => {
    if (routeOptions.url === LOGOUT_PATH) check();
  });
  // Finds sessions whose time is over, and those that another process of the same folder ended.
  const timer = setInterval(check, everyMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

const TOO_MANY_CONNECTIONS: HttpRefusal = {
  status: 503,
  detail: 'Too many connections are open at once. Try again in a few seconds.',
  headers: { 'retry-after': '5' },
};

/** No client that means well asks again before it was answered: browsers, probes and libraries wait. */
function drop({ raw }: FastifyRequest, reply: FastifyReply): FastifyReply {
  raw.socket.destroy();
  return reply.hijack();
}

function serverOptions({ bodyBytes, headersMs }: HttpLimits) {
  return {
    ...siteOptions(bodyBytes),
    forceCloseConnections: true,
    // Bodies have a limit of their own, which knows uploads; Node has one time for all routes.
    requestTimeout: 0,
    keepAliveTimeout: 10_000,
    // Node looks for late ones every 30 s unless told otherwise.
    http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.min(headersMs, 2000) },
  };
}

/** Paths only: a query may hold a token or words of a search. */
function addRequestLog(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', async ({ id, method, url }, { statusCode, elapsedTime }) => {
    const [path] = url.split('?', 1);
    const facts = { request: id, method, path, status: statusCode, ms: Math.round(elapsedTime) };
    log.debug({ event: 'http.request.answered', ...facts }, `${method} ${path}: ${statusCode}`);
  });
}

function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo | null)?.port ?? 0;
}
