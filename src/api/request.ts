import type { Dispatcher } from 'undici';
import type { Secret } from '../base/secret.ts';
import type { Operation } from '../contract/endpoints.ts';
import { readBody } from './body.ts';
import { wireRequest } from './endpoint.ts';
import { explainNetwork, Failure, safeCause } from './failure.ts';
import type { Context, Limits } from './options.ts';
import { httpDate } from './retry-after.ts';
import { type Watch, type WatchLimits, watch } from './watch.ts';

export interface Exchange {
  operation: Operation;
  /** Without the token. */
  query: string;
  body: string | null;
  limits: WatchLimits;
  /** Not the first try of this operation. */
  retry: boolean;
  signal: AbortSignal | undefined;
}

/** An answer's head, and its body or why that could not be had. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  serverTime: number | null;
  body: { ok: true; text: string; bytes: number } | { ok: false; failure: Failure };
}

/**
 * One request and its answer: no retry, no redirect, no judgement of the status.
 * Throws a Failure when no answer came, the signal's reason when it was aborted.
 */
export async function exchange(
  context: Context,
  dispatcher: Dispatcher,
  secret: Secret,
  request: Exchange,
): Promise<Answer> {
  const { operation, query, body, retry, signal } = request;
  const wire = wireRequest(context, operation, query, body, secret);
  const started = context.clock.monotonic();
  const guard = watch(request.limits, signal);
  let status: number | null = null;
  try {
    const response = await unlessAborted(
      dispatcher.request({ ...wire, signal: guard.signal, reset: body !== null }),
      guard.signal,
    );
    status = response.statusCode;
    guard.progress();
    return await receive(response, context.limits, guard, secret, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw networkFailure(error, guard, secret);
  } finally {
    guard.stop();
    // Called off by ourselves, it says nothing about the upstream.
    if (status !== null || !signal?.aborted) context.gate.learn(status);
    context.onRequest({ operation, status, ms: context.clock.monotonic() - started, retry });
  }
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
  guard: Watch,
  secret: Secret,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  // A body we give up on still reports its end; unheard, that would bring the process down.
  body.on('error', () => {});
  const head = { status: statusCode, headers, serverTime: httpDate(headers.date) };
  try {
    return { ...head, body: { ok: true, ...(await readBody(body, headers, limits, guard.progress)) } };
  } catch (error) {
    signal?.throwIfAborted();
    return { ...head, body: { ok: false, failure: networkFailure(error, guard, secret) } };
  } finally {
    body.destroy();
  }
}

function networkFailure(error: unknown, guard: Watch, secret: Secret): Failure {
  if (error instanceof Failure) return error;
  const mask = (text: string): string => secret.mask(text);
  const cause = safeCause(error, mask);
  const late = guard.expired();
  if (late !== null)
    return new Failure('unreachable', `the answer took too long: ${late}`, { again: true, cause });
  if (Reflect.get(Object(error), 'code') === 'UND_ERR_HEADERS_OVERFLOW') {
    return new Failure('protocol', 'the headers of the answer are larger than allowed', { cause });
  }
  return new Failure('unreachable', explainNetwork(error, mask), { again: true, cause });
}
