import pRetry from 'p-retry';
import type { Dispatcher } from 'undici';
import { AppError, type ErrorCode } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { Operation } from '../contract/endpoints.ts';
import { explainAnswer, quote, waitAsked } from './answer.ts';
import { Failure } from './failure.ts';
import { throttled } from './gate.ts';
import type { Context } from './options.ts';
import { type Answer, exchange } from './request.ts';
import { backoffMs, isTransientStatus } from './retry.ts';

export interface ReadRequest {
  operation: Operation;
  query: string;
  /** What is being read, for messages: `listing posts, page 3`. */
  what: string;
  signal: AbortSignal;
}

/** What a read brought, with the token it was made with, so that whoever looks into it can mask. */
export interface ReadResult {
  json: unknown;
  bytes: number;
  serverTime: number | null;
  secret: Secret;
}

/** One read, tried until it answers, may not be tried again, or has used up its attempts. */
export async function read(
  context: Context,
  dispatcher: Dispatcher,
  request: ReadRequest,
): Promise<ReadResult> {
  const { signal, what } = request;
  let attempts = 0;
  context.budget.deposit();
  try {
    return await pRetry(
      async (attempt) => {
        attempts = attempt;
        await context.gate.pass(context.retry.patienceMs, signal);
        return await attemptRead(context, dispatcher, request, attempt);
      },
      {
        retries: Math.max(0, context.retry.attempts - 1),
        // All waiting is done on our own clock, below.
        minTimeout: 0,
        signal,
        shouldRetry: ({ error }) => mayRetry(error),
        onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
          if (!mayRetry(error)) return;
          refuseLongWait(context, error);
          if (retriesLeft > 0) await waitBeforeRetry(context, request, error, attemptNumber);
        },
      },
    );
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw toAppError(error, { what, host: context.base.host, attempts });
  }
}

function mayRetry(error: Error): error is Failure {
  return error instanceof Failure && error.again;
}

async function attemptRead(
  context: Context,
  dispatcher: Dispatcher,
  { operation, query, signal }: ReadRequest,
  attempt: number,
): Promise<ReadResult> {
  const secret = context.token();
  const limits = { totalMs: context.limits.pageMs, idleMs: context.limits.idleMs };
  const retry = attempt > 1;
  const answer = await exchange(context, dispatcher, secret, {
    operation,
    query,
    body: null,
    limits,
    retry,
    signal,
  });
  if (answer.status === 429) closeGate(context, answer, attempt);
  if (answer.status < 200 || answer.status > 299) throw statusFailure(context, answer, secret);
  if (!answer.body.ok) throw answer.body.failure;
  const { text, bytes } = answer.body;
  return { json: parseJson(text, secret), bytes, serverTime: answer.serverTime, secret };
}

function parseJson(text: string, secret: Secret): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const start = quote(text, secret, 60);
    throw new Failure('unreachable', `the answer is not JSON but begins with: ${start}`, { again: true });
  }
}

function statusFailure(context: Context, answer: Answer, secret: Secret): Failure {
  const { status } = answer;
  const reason = explainAnswer(answer, secret);
  if (status === 401 || status === 403) {
    return new Failure('unauthorised', reason, {
      httpStatus: status,
      hint: 'Check FEEDBACK_API_TOKEN, FEEDBACK_AUTH and FEEDBACK_AUTH_PARAM.',
    });
  }
  if (isTransientStatus(status)) {
    const waitMs = waitAsked(answer, context.clock.now());
    return new Failure('unreachable', reason, { again: true, httpStatus: status, waitMs });
  }
  return new Failure(status < 400 ? 'protocol' : 'refused', reason, { httpStatus: status });
}

/** A 429 speaks to all of us, not to the request that met it. */
function closeGate(context: Context, answer: Answer, attempt: number): void {
  const wait = waitAsked(answer, context.clock.now()) ?? backoffMs(context.retry, attempt, context.random);
  context.gate.closeUntil(context.clock.now() + wait);
}

function refuseLongWait({ clock, retry }: Context, { waitMs, httpStatus }: Failure): void {
  if (waitMs !== null && waitMs > retry.patienceMs) throw throttled(clock.now() + waitMs, httpStatus);
}

async function waitBeforeRetry(
  context: Context,
  request: ReadRequest,
  error: Failure,
  attempt: number,
): Promise<void> {
  const { clock, retry, random, budget, log } = context;
  const { operation, signal } = request;
  // After a 429 the gate does the waiting, for this read as for every other.
  const gated = error.httpStatus === 429;
  const delayMs = gated ? 0 : (error.waitMs ?? backoffMs(retry, attempt, random));
  log?.warn({ operation, attempt, delayMs, reason: error.message }, 'a read failed and will be tried again');
  if (delayMs > 0) await clock.sleep(delayMs, signal);
  // A wait the upstream itself laid down is no sign of an outage: it does not use up what is meant for one.
  if (!(gated && error.waitMs !== null)) await budget.take(clock, signal);
}

/** What a person can do where the failure itself does not say. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  unreachable:
    'Is FEEDBACK_BASE_URL right, and the service up? What was read so far is kept; run again later.',
  refused: 'Is FEEDBACK_BASE_URL right? It is the address before /api/v1/.',
};

export interface Place {
  what: string;
  host: string;
  attempts: number;
}

export function toAppError(failure: Failure, { what, host, attempts }: Place): AppError {
  const tries = attempts > 1 ? ` (${attempts} attempts)` : '';
  // Still throttled after the last attempt: the way out is to wait, not to look for a fault.
  const code = failure.httpStatus === 429 ? 'throttled' : failure.code;
  const hint = failure.hint ?? HINTS[code];
  return new AppError(code, `${what} at ${host} failed${tries}: ${failure.message}.`, {
    ...(hint === undefined ? {} : { hint }),
    ...(failure.cause === undefined ? {} : { cause: failure.cause }),
  });
}
