import { createHash } from 'node:crypto';
import { AppError, type ErrorCode } from '../base/errors.ts';
import { isTooDeep } from '../base/json.ts';
import type { Secret } from '../base/secret.ts';
import { type Header, isTransientStatus, waitAsked } from './retry.ts';

/**
 * What went wrong in one exchange. Other folders get an AppError that names the page too. The words of both end in logs and tables that no
 * erasure reaches, so they hold nothing that the upstream sent.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: ErrorCode;
  readonly again: boolean = false;
  /** How long the upstream asked us to wait, when it said so in a way we honour. */
  readonly waitMs: number | null = null;
  readonly httpStatus: number | null = null;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, reason: string, { cause, ...details }: FailureDetails = {}) {
    super(reason, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, details);
  }
}

type FailureDetails = Partial<Pick<Failure, 'again' | 'waitMs' | 'httpStatus' | 'hint'>> & { cause?: Error };

type Mask = (text: string) => string;

const MAX_DEPTH = 4;

/**
 * A copy that keeps what helps to find the fault and nothing else. Errors of HTTP libraries carry requests, headers
 * and sockets as properties, and with them the token: they never travel further than this.
 */
export function safeCause(error: unknown, mask: Mask, depth = 0): Error {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  const inner = error instanceof Error && depth < MAX_DEPTH ? innerCause(error) : undefined;
  const copy = new Error(
    mask(message),
    inner === undefined ? {} : { cause: safeCause(inner, mask, depth + 1) },
  );
  copy.name = mask(name);
  copy.stack = `${copy.name}: ${copy.message}`;
  for (const key of ['code', 'syscall']) {
    const value: unknown = Reflect.get(Object(error), key);
    if (typeof value === 'string') Reflect.set(copy, key, mask(value));
  }
  return copy;
}

/** With several addresses tried, the first of their errors says as much as all of them. */
function innerCause(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : error.cause;
}

const PLAIN: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EPIPE: 'the connection was closed while sending',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was shorter or longer than it said',
};

/** One plain clause about a network error, with the library's own words where we have none. */
export function explainNetwork(error: unknown, mask: Mask): string {
  const code: unknown = Reflect.get(Object(error), 'code');
  const words = typeof code === 'string' ? PLAIN[code] : undefined;
  if (words !== undefined) return words;
  const message = error instanceof Error && error.message !== '' ? error.message : String(code ?? error);
  return shortLine(mask(message), 200);
}

/** Text of a stranger made fit for a message: one line, no control characters, a limited length. Mask it before. */
export function shortLine(text: string, limit: number): string {
  const flat = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .toWellFormed();
  return flat.length <= limit ? flat : `${flat.slice(0, limit - 1).toWellFormed()}…`;
}

export interface UpstreamAnswer {
  status: number;
  headers: Record<string, Header>;
  serverTime: number | null;
  ageMs: number;
  body: { ok: true; text: string; bytes: number } | { ok: false; failure: Failure };
}

/** What an answer was like, without a word of it: `502 (text/html, 312 bytes, sha256 0b5c…)`. */
export function describeAnswer({ status, headers, body }: UpstreamAnswer): string {
  return body.ok
    ? `${status} (${describeBody(headers['content-type'], body.text, body.bytes)})`
    : `${status}`;
}

export function describeBody(contentType: unknown, text: string, bytes: number): string {
  const [type = ''] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(String(contentType ?? '')) ?? [];
  const size = `${bytes} bytes`;
  return [type || 'no content type', ...(bytes === 0 ? ['empty'] : [size, `sha256 ${shortHash(text)}`])].join(
    ', ',
  );
}

/** Enough to see whether two texts are the same one. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Why an answer that is no success failed a read. */
export function statusFailure(answer: UpstreamAnswer, now: number): Failure {
  const { status: httpStatus, headers } = answer;
  const reason = `the upstream answered ${describeAnswer(answer)}`;
  if (httpStatus === 401 || httpStatus === 403) {
    const hint =
      'Check FEEDBACK_API_TOKEN, FEEDBACK_AUTH and FEEDBACK_AUTH_PARAM, or token, auth and auth_param in sources.yaml.';
    return new Failure('unauthorised', reason, { httpStatus, hint });
  }
  if (isTransientStatus(httpStatus)) {
    const waitMs = waitAsked(httpStatus, headers, now);
    return new Failure('unreachable', reason, { again: true, httpStatus, waitMs });
  }
  if (httpStatus >= 400) return new Failure('refused', reason, { httpStatus });
  const { place, hint } = redirectOf(headers.location);
  return new Failure('protocol', `the upstream answered ${httpStatus}${place}`, { httpStatus, hint });
}

/** A host as an operator would set it, which leaves no room for anything else. */
const PLAIN_HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/** The host to which a redirect pointed. No redirect is followed, and a path may hold what people wrote. */
export function redirectOf(location: unknown): { place: string; hint: string } {
  const given = typeof location === 'string' ? location : '';
  const url = URL.parse(given);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && PLAIN_HOST.test(url.hostname);
  const host = isPlain ? ` to ${url.origin}` : /^\/(?![/\\])/.test(given) ? ' on the same host' : '';
  return { place: `, a redirect${host}`, hint: REDIRECT_HINT };
}

const REDIRECT_HINT =
  'Redirects are not followed. Set FEEDBACK_BASE_URL to the address of the API: what stands before /api/v1/. Where browsers are asked to sign in, also check FEEDBACK_API_TOKEN and FEEDBACK_AUTH.';

/** What a person can do where the failure itself does not say. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  unreachable:
    'Is FEEDBACK_BASE_URL right, and the service up? What was read so far is kept; run again later.',
  refused: 'Is FEEDBACK_BASE_URL right? It is the address before /api/v1/.',
};

/** The failure as everyone outside of this folder sees it. */
export function toAppError(failure: Failure, what: string, host: string, attempts = 1): AppError {
  const tries = attempts > 1 ? ` (${attempts} attempts)` : '';
  // Still throttled after the last attempt: the way out is to wait, not to look for a fault.
  const code = failure.httpStatus === 429 ? 'throttled' : failure.code;
  const hint = failure.hint ?? HINTS[code];
  return new AppError(code, `${what} at ${host} failed${tries}: ${failure.message}.`, {
    ...(hint === undefined ? {} : { hint }),
    ...(failure.cause === undefined ? {} : { cause: failure.cause }),
  });
}

/**
 * Why the upstream rejected a create, in its own words: its `detail` and what it says of each field. People need them to mend the post,
 * so they are kept with the row in the outbox, where an erasure finds them, and nowhere else. Masked before it is cut: half a token
 * would no longer be recognised.
 */
export function rejectionWords(text: string, secret: Secret): string {
  const json = parseOrNull(text);
  const { errors, ...rest } = Object(json) as Record<string, unknown>;
  const words = Object.entries({ ...rest, ...Object(errors) }).flatMap(([field, said]) => {
    const sentences = (Array.isArray(said) ? said : [said]).filter((each) => typeof each === 'string');
    if (sentences.length === 0) return [];
    return [field === 'detail' ? sentences.join(' ') : `${field}: ${sentences.join(' ')}`];
  });
  return shortLine(secret.mask(words.join('; ').replaceAll('.; ', '. ').slice(0, 20_000)), 300);
}

export function parseOrNull(text: string): unknown {
  try {
    return isTooDeep(text) ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
