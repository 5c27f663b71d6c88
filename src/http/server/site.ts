import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyPluginAsync, type FastifyReply } from 'fastify';
import { messageOf } from '../../base/errors.ts';
import { WITHOUT_SCHEMAS } from '../../base/listen.ts';
import type { Logger } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import { programVersion } from '../../base/program.ts';
import { runbookOf } from '../../base/runbook.ts';
import { readWithin } from '../../base/timeout.ts';
import { refuseDeepJson } from '../../contract/json.ts';
import { assess, type Progress } from '../../service/health.ts';
import { type HttpLimits, limitBody } from './connections.ts';
import type { HttpRefusal } from './guard.ts';
import { addHeaders, addReplies, type Replies, refuse } from './replies.ts';

export type HttpPart = (app: FastifyInstance, site: Replies) => Promise<void> | void;

/** What one source serves, without a port of its own: the server before it has a guard. */
export interface Site {
  handle(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

export interface SourceOptions {
  log: Logger;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
  progress(): Promise<Progress>;
}

export interface SiteOptions extends SourceOptions {
  limits: Pick<HttpLimits, 'bodyBytes' | 'bodyMs' | 'progressMs'>;
  parts: readonly HttpPart[];
}

export async function openSite({ limits, parts, ...options }: SiteOptions): Promise<Site> {
  const app: FastifyInstance = Fastify(siteOptions(limits.bodyBytes));
  prepare(app);
  app.addHook('onRequest', async (request, reply) => {
    limitBody(request, reply, limits.bodyMs, tooLate);
  });
  const replies = addReplies(app, options.log);
  addSource(app, { ...options, ...limits });
  await addParts(app, replies, parts);
  await app.ready();
  return { handle: (request, response) => app.routing(request, response), close: () => app.close() };
}

/** Adds the headers and refusals that all servers of this program have. */
export function prepare(app: FastifyInstance): void {
  // A form of a stranger's page may send plain text without asking first; nothing here wants it.
  app.removeContentTypeParser('text/plain');
  refuseDeepJson(app);
  addHeaders(app);
  app.addHook('onRequest', async ({ headers }, reply) =>
    ['', 'identity'].includes(headers['content-encoding'] ?? '') ? undefined : refuse(reply, PACKED),
  );
}

const PACKED: HttpRefusal = {
  status: 415,
  detail: 'The body is packed, as its header Content-Encoding says: send it as it is.',
  headers: { 'accept-encoding': 'identity' },
};

export function siteOptions(bodyLimit: number) {
  return {
    schemaController: { compilersFactory: WITHOUT_SCHEMAS },
    // On a busy machine a start took more than the 10 s that are usual, and the service ended.
    pluginTimeout: 0,
    bodyLimit,
    // Names of companies may be longer than the router's usual limit.
    routerOptions: { maxParamLength: 500 },
    genReqId: () => randomUUID(),
  };
}

export async function addParts(
  app: FastifyInstance,
  replies: Replies,
  parts: readonly HttpPart[],
): Promise<void> {
  for (const part of parts) {
    const plugin: FastifyPluginAsync = async (scope) => part(scope, replies);
    await app.register(plugin);
  }
}

const TOO_LATE: HttpRefusal = { status: 408, detail: 'The body of this request did not arrive in time.' };

export function tooLate(reply: FastifyReply): void {
  void refuse(reply, TOO_LATE);
}

/** `/healthz`: the process answers. */
export function addLiveness(app: FastifyInstance): void {
  app.get('/healthz', async () => ({ status: 'ok', ...programVersion() }));
}

type HealthOptions = SourceOptions & Pick<HttpLimits, 'progressMs'>;

/** `/readyz`: the source does its work. `/metrics`: what it did. */
export function addSource(app: FastifyInstance, options: HealthOptions): void {
  const { log, metrics, progress, progressMs } = options;
  const read = readWithin(progressMs, () => logged(progress, log));
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
      runbook: runbookOf('service-busy'),
    },
  ],
};

/** The summary leaves out empty states: a list of zeros hides the one number that matters. */
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
