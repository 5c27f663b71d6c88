import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Queue } from 'bullmq';
import Fastify, {
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { type Clock, systemClock } from '../base/clock.ts';
import { AppError, messageOf } from '../base/errors.ts';
import { cannotListen, WITHOUT_SCHEMAS } from '../base/listen.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import type { Metrics } from '../base/metrics.ts';
import { programVersion } from '../base/program.ts';
import type { Secret } from '../base/secret.ts';
import { readWithin } from '../base/timeout.ts';
import { refuseDeepJson } from '../contract/json.ts';
import type { EndedSessions } from '../store/service-state.ts';
import { assess, type Progress } from '../worker/health.ts';
import { addBoard } from './board.ts';
import { type HttpLimits, limitBody, limitConnections } from './connections.ts';
import { createGuard, type Guard, type Refusal, urlOf } from './guard.ts';
import { slowGuesses, TOO_MANY_GUESSES } from './guesses.ts';
import {
  addFailures,
  addHeaders,
  addReplies,
  badTarget,
  breakOff,
  leaveBodies,
  noteRoutes,
  type Replies,
  type Route,
  refuse,
} from './replies.ts';
import { addLogin, createSession, LOGOUT_PATH } from './session.ts';

export interface HttpOptions {
  host: string;
  /** 0 for any free one. */
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
  progress(): Promise<Progress>;
  /** As soon as they are open. */
  queues: Promise<readonly Queue[]>;
  /** Gives back the port that was held for this server; called just before it listens. */
  releasePort?: () => Promise<void>;
  /** Further routes under the same guard. Called with the first request for one of them: most services are seldom looked at. */
  parts(): Promise<readonly HttpPart[]>;
  /** Where ended sessions are kept over a restart. */
  endedSessions?: EndedSessions | undefined;
  clock?: Clock;
  limits?: Partial<HttpLimits>;
}

/** Adds its routes in a scope of its own. */
export type HttpPart = (app: FastifyInstance, site: Replies) => Promise<void> | void;

const LIMITS: HttpLimits = {
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
  /** Has the parts before somebody asks for them; rejects where they cannot be had. */
  loadParts(): Promise<void>;
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
  const { app, routes, loadSite } = await build(options);
  try {
    await options.releasePort?.();
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw cannotListen(error, { host, port });
  }
  const loadParts = async (): Promise<void> => {
    if (app.server.listening) await loadSite();
  };
  return { url: urlOf({ host, port: portOf(app) }), routes, loadParts, close: () => app.close() };
}

interface Front {
  app: FastifyInstance;
  routes: readonly Route[];
  loadSite(): Promise<FastifyInstance>;
}

/** The server that listens. It guards every request, answers for health, and hands over the rest. */
async function build(options: HttpOptions): Promise<Front> {
  const { host, token, log, queues } = options;
  const limits = { ...LIMITS, ...options.limits };
  const session = token && createSession(token, { ended: options.endedSessions });
  const guard = createGuard({
    session,
    feedToken: options.feedToken ?? null,
    mcpToken: options.mcpToken ?? null,
    listening: () => ({ host, port: portOf(app), names: options.names ?? [] }),
  });
  const shared = serverOptions(limits);
  const app: FastifyInstance = Fastify({ ...shared, frameworkErrors: badTarget(guard) });
  const connections = limitConnections(app, limits);
  const guesses = slowGuesses(options.clock ?? systemClock);
  // A form of a stranger's page may send plain text without asking first; nothing here wants it.
  app.removeContentTypeParser('text/plain');
  refuseDeepJson(app);
  addHeaders(app);
  addRequestLog(app, log);
  app.addHook('onRequest', async (request, reply) => {
    const { refusal, isGuess, isKnown } = guard(request.raw);
    if (!isKnown && !connections.isAlone(request.raw, reply.raw)) return drop(request, reply);
    if (isGuess && !(await guesses.wrong(request.ip, reply.raw))) return refuse(reply, TOO_MANY_GUESSES);
    if (refusal) return refuse(reply, refusal);
    if (isKnown && !connections.admit(request.raw)) return refuse(reply, TOO_MANY_CONNECTIONS);
    if (!request.is404) limitBody(request, reply, limits.bodyMs, tooLate);
    return undefined;
  });
  const routes: Route[] = [];
  noteRoutes(app, routes);
  addFailures(app, log);
  addHealth(app, { ...options, ...limits });
  addBoard(app, { queues, log, bodyBytes: limits.bodyBytes });
  if (session) {
    await addLogin(app, { session, guesses });
    endWithSession(app, guard, limits.sessionMs);
  }
  let site: Promise<FastifyInstance> | undefined;
  const loadSite = (): Promise<FastifyInstance> => {
    site ??= openSite(options, shared, limits, routes);
    return site;
  };
  handOver(app, loadSite);
  // Before the connections are ended: it has a last word for those who wait.
  app.addHook('preClose', async () => (await site?.catch(() => undefined))?.close());
  return { app, routes, loadSite };
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
  // For sessions whose time is over, and for those ended at another process of the same folder.
  const timer = setInterval(check, everyMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

/** What this server has no route for goes to another one as it came. */
function handOver(app: FastifyInstance, load: () => Promise<FastifyInstance>): void {
  void app.register((scope, _options, done) => {
    leaveBodies(scope);
    scope.setNotFoundHandler(async ({ raw }, reply) => {
      const { routing } = await load();
      reply.hijack();
      routing(raw, reply.raw);
    });
    done();
  });
}

/** Everything else is a second server without a port, as a server takes no routes once it listens. */
async function openSite(
  { log, parts }: HttpOptions,
  shared: ReturnType<typeof serverOptions>,
  limits: HttpLimits,
  routes: Route[],
): Promise<FastifyInstance> {
  const site: FastifyInstance = Fastify(shared);
  site.removeContentTypeParser('text/plain');
  refuseDeepJson(site);
  addHeaders(site);
  site.addHook('onRequest', async (request, reply) => limitBody(request, reply, limits.bodyMs, tooLate));
  const replies = addReplies(site, log, routes);
  for (const part of await parts()) {
    const plugin: FastifyPluginAsync = async (scope) => part(scope, replies);
    await site.register(plugin);
  }
  await site.ready();
  return site;
}

const TOO_MANY_CONNECTIONS: Refusal = {
  status: 503,
  detail: 'Too many connections are open at once. Try again in a few seconds.',
  headers: { 'retry-after': '5' },
};

/** No client that means well asks again before it was answered: browsers, probes and libraries wait. */
function drop({ raw }: FastifyRequest, reply: FastifyReply): FastifyReply {
  raw.socket.destroy();
  return reply.hijack();
}

const TOO_LATE: Refusal = { status: 408, detail: 'The body of this request did not arrive in time.' };

function tooLate(reply: FastifyReply): void {
  void refuse(reply, TOO_LATE);
}

function serverOptions({ bodyBytes, headersMs }: HttpLimits) {
  // Both servers know a request by the same id, which is in the log and in what the client is told.
  const ids = new WeakMap<IncomingMessage, string>();
  const idOf = (raw: IncomingMessage): string => {
    const id = ids.get(raw) ?? randomUUID();
    ids.set(raw, id);
    return id;
  };
  return {
    schemaController: { compilersFactory: WITHOUT_SCHEMAS },
    forceCloseConnections: true,
    bodyLimit: bodyBytes,
    // Bodies have a limit of their own, which knows uploads; Node has one time for all routes.
    requestTimeout: 0,
    keepAliveTimeout: 10_000,
    // Job ids of the board are longer than the router's usual limit.
    routerOptions: { maxParamLength: 500 },
    genReqId: idOf,
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

type HealthOptions = Pick<HttpOptions, 'log' | 'metrics' | 'progress'> & Pick<HttpLimits, 'progressMs'>;

/** `/healthz`: the process answers. `/readyz`: it does its work. `/metrics`: what it did. */
function addHealth(app: FastifyInstance, { log, metrics, progress, progressMs }: HealthOptions): void {
  const read = readWithin(progressMs, () => logged(progress, log));
  app.get('/healthz', async () => ({ status: 'ok', ...programVersion() }));
  app.get('/readyz', async (_request, reply) => {
    const found = await read();
    const answer = found ? { ...assess(found), ...summary(found) } : UNKNOWN;
    return reply.code(answer.ready ? 200 : 503).send(answer);
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}

const UNKNOWN = {
  ready: false,
  checks: [
    {
      name: 'progress',
      ok: false,
      detail: 'the service could not tell in time how far it is; its log may say why',
    },
  ],
};

/** Of the queues only what is in them: a list of zeros hides the one number that matters. */
function summary({ now, startedAt, queue: { kind, depth } }: Progress) {
  const queue = { kind, depth: depth.filter(({ jobs }) => jobs > 0) };
  return { upSeconds: Math.round((now - startedAt) / 1000), queue };
}

async function logged(progress: () => Promise<Progress>, log: Logger): Promise<Progress> {
  try {
    return await progress();
  } catch (error) {
    log.error(
      { event: 'http.progress.failed', err: error },
      `the progress of the service cannot be read: ${messageOf(error)}`,
    );
    throw error;
  }
}
