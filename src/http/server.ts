import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Queue } from 'bullmq';
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify';
import { type Clock, systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { cannotListen, WITHOUT_SCHEMAS } from '../base/listen.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Secret } from '../base/secret.ts';
import type { EndedSessions } from '../store/service-state.ts';
import type { Progress } from '../worker/health.ts';
import { addBoard } from './board.ts';
import { type HttpLimits, limitBody, limitConnections } from './connections.ts';
import { createGuard, type Refusal, urlOf } from './guard.ts';
import { addHealth } from './health.ts';
import { addHeaders, addReplies, badTarget, type Replies, type Route, refuse } from './replies.ts';
import { addLogin, createSession, slowGuesses } from './session.ts';

export interface HttpOptions {
  host: string;
  /** 0 for any free one. */
  port: number;
  token: Secret | null;
  /** Opens the Atom feeds and nothing else. */
  feedToken?: Secret | null;
  /** Opens the tools for agents and nothing else. */
  mcpToken?: Secret | null;
  log: Logger;
  metrics: Metrics;
  progress(): Promise<Progress>;
  /** As soon as they are open. */
  queues: Promise<readonly Queue[]>;
  /** Gives back the port that was held for this server; called just before it listens. */
  releasePort?: () => Promise<void>;
  /** Further routes: each registers under the same guard. */
  parts: readonly HttpPart[];
  /** Where ended sessions are kept over a restart. */
  endedSessions?: EndedSessions | undefined;
  clock?: Clock;
  limits?: Partial<HttpLimits>;
}

/** Adds its routes in a scope of its own. */
export type HttpPart = (app: FastifyInstance, site: Pick<Replies, 'setNotFoundPage'>) => Promise<void> | void;

const LIMITS: HttpLimits = {
  bodyBytes: 1024 * 1024,
  headersMs: 10_000,
  bodyMs: 10_000,
  stallMs: 30_000,
  connections: 256,
  strangers: 64,
  progressMs: 5000,
};

export interface HttpServer {
  url: string;
  /** Every route there is, as the router spells it. */
  readonly routes: readonly Route[];
  /** Accepts nothing more and ends every connection, also those that are waited on. */
  close(): Promise<void>;
}

/** The HTTP side of the service: health, metrics, the queue board and whatever parts are given. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { host, port } = options;
  if (!isLoopback(host) && !options.token)
    throw new AppError('usage', `${host} can be reached from elsewhere, and there is no HTTP_TOKEN`, {
      hint: 'Set HTTP_TOKEN, or leave HTTP_HOST at 127.0.0.1.',
    });
  const { app, routes } = await build(options);
  try {
    await options.releasePort?.();
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw cannotListen(error, { host, port });
  }
  return { url: urlOf({ host, port: portOf(app) }), routes, close: () => app.close() };
}

async function build(options: HttpOptions): Promise<{ app: FastifyInstance; routes: readonly Route[] }> {
  const { host, token, log, queues, parts } = options;
  const limits = { ...LIMITS, ...options.limits };
  const session = token && createSession(token, { ended: options.endedSessions });
  const guard = createGuard({
    session,
    feedToken: options.feedToken ?? null,
    mcpToken: options.mcpToken ?? null,
    listening: () => ({ host, port: portOf(app) }),
  });
  const app: FastifyInstance = Fastify({ ...nodeOptions(limits), frameworkErrors: badTarget(guard) });
  const connections = limitConnections(app, limits);
  const guesses = slowGuesses(options.clock ?? systemClock);
  // A form of a stranger's page may send plain text without asking first; nothing here wants it.
  app.removeContentTypeParser('text/plain');
  addHeaders(app);
  addRequestLog(app, log);
  app.addHook('onRequest', async (request, reply) => {
    const { refusal, isGuess, isKnown } = guard(request.raw);
    if (isGuess) await guesses.wrong(request.ip);
    if (refusal) return refuse(reply, refusal);
    if (isKnown && !connections.admit(request.raw)) return refuse(reply, TOO_MANY_CONNECTIONS);
    limitBody(request, reply, limits.bodyMs, (late) => void refuse(late, TOO_LATE));
    return undefined;
  });
  const replies = addReplies(app, log);
  addHealth(app, { ...options, ...limits });
  addBoard(app, { queues, log, bodyBytes: limits.bodyBytes });
  if (session) await addLogin(app, { session, guesses });
  for (const part of parts) {
    const plugin: FastifyPluginAsync = async (scope) => part(scope, replies);
    await app.register(plugin);
  }
  return { app, routes: replies.routes };
}

const TOO_MANY_CONNECTIONS: Refusal = {
  status: 503,
  detail: 'Too many connections are open at once. Try again in a few seconds.',
  headers: { 'retry-after': '5' },
};

const TOO_LATE: Refusal = { status: 408, detail: 'The body of this request did not arrive in time.' };

function nodeOptions({ bodyBytes, headersMs }: HttpLimits) {
  return {
    schemaController: { compilersFactory: WITHOUT_SCHEMAS },
    forceCloseConnections: true,
    bodyLimit: bodyBytes,
    // Bodies have a limit of their own, which knows uploads; Node has one time for all routes.
    requestTimeout: 0,
    keepAliveTimeout: 10_000,
    // Job ids of the board are longer than the router's usual limit.
    routerOptions: { maxParamLength: 500 },
    genReqId: () => randomUUID(),
    // Node looks for late ones every 30 s unless told otherwise.
    http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.min(headersMs, 2000) },
  };
}

/** Paths only: a query may hold a token, or what somebody searches for. */
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
