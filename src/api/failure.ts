import type { ErrorCode } from '../base/errors.ts';

export interface FailureOptions {
  /** Whether a read may try again. */
  again?: boolean;
  /** How long the upstream asked us to wait, when it said so in a way we honour. */
  waitMs?: number | null;
  httpStatus?: number | null;
  hint?: string;
  cause?: Error;
}

/** What went wrong in one exchange, before anyone knows which page it was for. Never leaves this folder. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: ErrorCode;
  readonly again: boolean;
  readonly waitMs: number | null;
  readonly httpStatus: number | null;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, reason: string, options: FailureOptions = {}) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.again = options.again ?? false;
    this.waitMs = options.waitMs ?? null;
    this.httpStatus = options.httpStatus ?? null;
    this.hint = options.hint;
  }
}

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
  return oneLine(mask(message), 200);
}

/** Text of a stranger made fit for a message: one line, no control characters, a limited length. Mask it before. */
export function oneLine(text: string, limit: number): string {
  const flat = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .toWellFormed();
  return flat.length <= limit ? flat : `${flat.slice(0, limit - 1).toWellFormed()}…`;
}
