import type { Dispatcher } from 'undici';
import { AppError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { traced } from '../base/tracing.ts';
import { ENDPOINTS, type Operation } from '../contract/endpoints.ts';
import { readBody } from './body.ts';
import { explainNetwork, Failure, safeCause, type UpstreamAnswer } from './failure.ts';
import type { ClientContext, Limits } from './options.ts';
import { ageOf, httpDate } from './retry.ts';

interface Exchange {
  operation: Operation;
  query: string;
  body: string | null;
  limits: TimeLimits;
  retry: boolean;
  signal: AbortSignal | undefined;
}

/**
 * One request and its answer: no retry, no redirect, no judgement of the status.
 * Throws a Failure when no answer came, the signal's reason when it was aborted.
 */
export async function exchange(
  context: ClientContext,
  dispatcher: Dispatcher,
  secret: Secret,
  request: Exchange,
): Promise<UpstreamAnswer> {
  const { operation, retry } = request;
  const { method } = ENDPOINTS[operation];
  const attributes = {
    'http.request.method': method,
    'server.address': context.base.hostname,
    operation,
    retry,
  };
  return await traced(`${method} ${operation}`, attributes, async (tell) => {
    const answer = await exchangeOnce(context, dispatcher, secret, request);
    tell({ 'http.response.status_code': answer.status });
    return answer;
  });
}

async function exchangeOnce(
  context: ClientContext,
  dispatcher: Dispatcher,
  secret: Secret,
  request: Exchange,
): Promise<UpstreamAnswer> {
  const { operation, body, retry, signal } = request;
  const wire = wireRequest(context, request, secret);
  const started = context.clock.monotonic();
  const timeout = startTimeout(request.limits, signal);
  let status: number | null = null;
  let why: string | undefined;
  try {
    const response = await unlessAborted(
      dispatcher.request({ ...wire, signal: timeout.signal, reset: body !== null }),
      timeout.signal,
    );
    status = response.statusCode;
    timeout.progress();
    return await receive(response, context.limits, timeout, secret, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const failure = networkFailure(error, timeout, secret);
    why = failure.message;
    throw failure;
  } finally {
    timeout.stop();
    // A request that we cancelled ourselves says nothing about the upstream.
    if (status !== null || !signal?.aborted) context.rateLimit.record(status, why);
    context.onRequest({ operation, status, ms: context.clock.monotonic() - started, retry });
  }
}

/** The address of an operation, without query: the only place its requests ever go to. */
export function endpointOf(base: URL, operation: Operation): URL {
  const url = new URL(base);
  url.pathname = pathOf(base, operation);
  return url;
}

function pathOf(base: URL, operation: Operation): string {
  return base.pathname.replace(/\/+$/, '') + ENDPOINTS[operation].path;
}

/** What goes on the wire. It holds the token, so it is made for one exchange and never kept or shown. */
function wireRequest({ base, auth }: ClientContext, { operation, query, body }: Exchange, secret: Secret) {
  const credentials = auth.kind === 'query' ? tokenParameter(auth.parameter, secret) : '';
  const search = [query, credentials].filter((part) => part !== '').join('&');
  return {
    path: pathOf(base, operation) + (search === '' ? '' : `?${search}`),
    method: ENDPOINTS[operation].method,
    headers: {
      accept: 'application/json',
      // A shared cache in between would show one page as it was and the next as it is, and rows that slid between them as gone.
      'cache-control': 'no-cache',
      'accept-encoding': 'gzip',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(auth.kind === 'header' ? { authorization: `Bearer ${headerToken(secret)}` } : {}),
    },
    body,
  };
}

function tokenParameter(name: string, secret: Secret): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(tokenText(secret).toWellFormed())}`;
}

/** Checked here because the library's own complaint about a bad header quotes nothing a person could act on. */
function headerToken(secret: Secret): string {
  const token = tokenText(secret);
  if (/^[\t\x20-\x7e\x80-\xff]+$/.test(token)) return token;
  const message = 'The API token has characters that no HTTP header can carry, such as a line break.';
  const hint = 'Check FEEDBACK_API_TOKEN; a file that holds it may end with more than one line.';
  throw new AppError('usage', message, { hint });
}

function tokenText(secret: Secret): string {
  const token = secret.reveal();
  if (token !== '') return token;
  throw new AppError('usage', 'The API token is empty.', { hint: 'Set FEEDBACK_API_TOKEN.' });
}

/** The library hears of an abort only once it has a connection; we do not wait for one. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function receive(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  limits: Limits,
  timeout: Timeout,
  secret: Secret,
  signal: AbortSignal | undefined,
): Promise<UpstreamAnswer> {
  // A body that we stop reading still emits its error. Without a listener the error would end the process.
  body.on('error', () => {});
  const times = { serverTime: httpDate(headers.date), ageMs: ageOf(headers.age) };
  const head = { status: statusCode, headers, ...times };
  try {
    return { ...head, body: { ok: true, ...(await readBody(body, headers, limits, timeout.progress)) } };
  } catch (error) {
    signal?.throwIfAborted();
    return { ...head, body: { ok: false, failure: networkFailure(error, timeout, secret) } };
  } finally {
    body.destroy();
  }
}

function networkFailure(error: unknown, timeout: Timeout, secret: Secret): Failure {
  if (error instanceof Failure) return error;
  const mask = (text: string): string => secret.mask(text);
  const cause = safeCause(error, mask);
  const late = timeout.expired();
  if (late !== null)
    return new Failure('unreachable', `the answer took too long: ${late}`, { again: true, cause });
  if (Reflect.get(Object(error), 'code') === 'UND_ERR_HEADERS_OVERFLOW') {
    return new Failure('protocol', 'the headers of the answer are larger than allowed', { cause });
  }
  return new Failure('unreachable', explainNetwork(error, mask), { again: true, cause });
}

interface TimeLimits {
  totalMs: number;
  idleMs: number | null;
}

/** Aborts one exchange when it takes too long, sends no byte for too long, or is cancelled. */
interface Timeout {
  readonly signal: AbortSignal;
  progress(): void;
  /** Which limit was hit, as a clause; null when none was. */
  expired(): string | null;
  stop(): void;
}

function startTimeout({ totalMs, idleMs }: TimeLimits, parent: AbortSignal | undefined): Timeout {
  const controller = new AbortController();
  let expired: string | null = null;
  let steps = 0;
  const expire = (clause: string): void => {
    expired ??= clause;
    controller.abort(new Error(clause));
  };
  const idle = idleMs === null ? null : idleTimer(idleMs, () => steps, expire);
  const total = setTimeout(() => expire(`it was not complete after ${seconds(totalMs)}`), totalMs);
  const unlink = linkAbort(parent, controller);
  return {
    signal: controller.signal,
    progress() {
      steps += 1;
      idle?.refresh();
    },
    expired: () => expired,
    stop() {
      clearTimeout(total);
      idle?.stop();
      unlink();
    },
  };
}

/**
 * A process that was busy for longer than the limit finds its timer due before it gets to read what has long arrived.
 * So the verdict waits for one round of the event loop, and for the bytes that round may bring.
 */
function idleTimer(idleMs: number, steps: () => number, expire: (clause: string) => void) {
  let verdict: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    const before = steps();
    verdict = setImmediate(() => {
      if (steps() === before) expire(`nothing arrived for ${seconds(idleMs)}`);
    });
  }, idleMs);
  return {
    refresh: () => timer.refresh(),
    stop() {
      clearTimeout(timer);
      clearImmediate(verdict);
    },
  };
}

/** Aborts `controller` with its parent's reason; returns how to let go, as a parent may live for weeks. */
export function linkAbort(parent: AbortSignal | undefined, controller: AbortController): () => void {
  if (parent === undefined) return () => {};
  const abort = (): void => controller.abort(parent.reason);
  if (parent.aborted) abort();
  else parent.addEventListener('abort', abort, { once: true });
  return () => parent.removeEventListener('abort', abort);
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}
