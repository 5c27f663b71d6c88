import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorCode, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { withoutDashes } from '../../reports/report.ts';
import { type Guard, type HttpRefusal, isOpenedByPerson } from './guard.ts';

/** Every code as an HTTP status: 502 and 503 where the upstream is what fails, 500 where we do, 422 where a statement asks for more than its limits. */
const STATUS: Record<ErrorCode, number> = {
  usage: 400,
  unauthorised: 502,
  unreachable: 502,
  throttled: 503,
  refused: 502,
  protocol: 502,
  partial: 422,
  gone: 410,
  busy: 503,
  storage: 503,
  interrupted: 503,
  internal: 500,
};

/** Scripts, styles and connections of our own only, nothing inline, no frames around or in us. */
export const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** A part with a need of its own sets `content-security-policy` on its replies; everything else is the same for all. */
export function addHeaders(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply, payload) => {
    secure(reply);
    return payload;
  });
}

/** Called directly only for a reply that bypasses the hooks. */
function secure(reply: FastifyReply): FastifyReply {
  if (!reply.hasHeader('content-security-policy'))
    void reply.header('content-security-policy', CONTENT_POLICY);
  // Our own files may be kept if they are asked for again each time; what else a plugin wants kept is not.
  if (reply.getHeader('cache-control') !== 'no-cache') void reply.header('cache-control', 'no-store');
  return reply.headers(HEADERS);
}

export function refuse(reply: FastifyReply, { status, detail, headers = {} }: HttpRefusal): FastifyReply {
  // What is left of the request is not read any more, so the connection cannot be used again.
  return secure(reply)
    .code(status)
    .headers({ ...headers, connection: 'close' })
    .send({ detail });
}

const FILE_TYPES: Record<string, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
};

export function sendFile(reply: FastifyReply, name: string, content: string | Readable): FastifyReply {
  const type = FILE_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const safe = name.replaceAll(/[^\w.-]/g, '_');
  return reply.type(type).header('content-disposition', `attachment; filename="${safe}"`).send(content);
}

const streams = new WeakSet<ServerResponse>();

/**
 * Ends an answer that goes on: a stream may end anywhere, and what has an end of its own must not look as if it had come to it.
 * A client that does not read would never come to the end of its stream, so it is not waited for.
 */
export function breakOff(response: ServerResponse): void {
  if (streams.has(response) && response.writableLength === 0) response.end();
  else response.destroy();
}

/** An ended stream stays among the listeners until its client has read all of it. */
export function canWrite({ writableEnded, destroyed }: ServerResponse): boolean {
  return !writableEnded && !destroyed;
}

export function openStream(reply: FastifyReply, first: string): ServerResponse | null {
  secure(reply).header('content-type', 'text/event-stream').hijack();
  const { raw } = reply;
  if (raw.destroyed) return null;
  streams.add(raw);
  // Fastify listens for the first error only, and any further one would end the process. What it says of the client, `close` says too.
  raw.on('error', () => undefined);
  raw.writeHead(200, reply.getHeaders() as Record<string, string>).write(first);
  return raw;
}

/** Aborts when the client leaves before it has the whole answer, so that the work for it stops. */
export function untilGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new AppError('interrupted', 'nobody waits for the answer'));
  });
  return gone.signal;
}

/** What the router itself cannot read, before any hook runs: the guard is asked here too. */
export function badTarget(guard: Guard) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const detail = 'This is no address of this service.';
    void refuse(reply, guard(request.raw).refusal ?? { status: error.statusCode ?? 400, detail });
  };
}

/** Whatever a 503 of ours waits for, a statement that runs or an upstream that is away, may be over by then. */
const RETRY_SECONDS = '5';

/** The answer to something that went wrong. What is a defect of ours is logged, once, under an id that the client gets too. */
function answerTo(error: unknown, id: string, log: Logger): HttpRefusal {
  if (error instanceof AppError && error.code !== 'internal') {
    const headers = STATUS[error.code] === 503 ? { 'retry-after': RETRY_SECONDS } : {};
    return { status: STATUS[error.code], detail: sentences(error), headers };
  }
  const status = statusOf(error);
  if (status < 500) return { status, detail: messageOf(error) };
  log.error({ event: 'http.request.failed', request: id, err: error }, 'a request failed');
  return { status, detail: `Something went wrong here; the log has it as request ${id}.` };
}

/** The message of an error as sentences for a page: what is wrong, then what to do. */
function sentences({ message, hint = '' }: AppError): string {
  const [said, advice] = [withoutDashes(message), withoutDashes(hint)];
  const first = `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  return advice ? `${first}${/[.?!]$/.test(first) ? '' : '.'} ${advice}` : first;
}

/** Fastify and its plugins say what a client did wrong by a status below 500. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

export interface Route {
  url: string;
  methods: readonly string[];
}

export type NotFoundPage = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export interface Replies {
  readonly routes: readonly Route[];
  setNotFoundPage(page: NotFoundPage): void;
}

/** Replies for what fails and for what no route answers: 405 with the methods there are, or 404. */
export function addReplies(app: FastifyInstance, log: Logger): Replies {
  let page: NotFoundPage | null = null;
  const routes: Route[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ url, methods: [method].flat() });
  });
  app.setErrorHandler((error, request, reply) => {
    const { status, detail, headers = {} } = answerTo(error, request.id, log);
    return reply.code(status).headers(headers).send({ detail });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = routes.filter(({ url }) => matches(url, path)).flatMap((route) => route.methods);
    if (methods.length === 0 && page && isOpenedByPerson(request.raw)) return page(request, reply.code(404));
    if (methods.length === 0) return reply.code(404).send({ detail: `There is nothing at ${path}.` });
    const allow = [...new Set(methods)].sort().join(', ');
    return reply
      .code(405)
      .header('allow', allow)
      .send({ detail: `${path} takes ${allow}.` });
  });
  return {
    routes,
    setNotFoundPage(given) {
      page = given;
    },
  };
}

/** The router's own notation: `:name` for a part of a path, `*` for the rest of it. */
function matches(route: string, path: string): boolean {
  const [wanted, given] = [route.split('/'), path.split('/')];
  const rest = wanted.indexOf('*');
  if (rest < 0 && wanted.length !== given.length) return false;
  const fixed = rest < 0 ? wanted : wanted.slice(0, rest);
  return fixed.every((part, n) => (part.startsWith(':') ? Boolean(given[n]) : part === given[n]));
}
