import { type Clock, systemClock } from '../base/clock.ts';
import { AppError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import type { Secret } from '../base/secret.ts';
import type { Operation } from '../contract/endpoints.ts';
import { createRetryBudget, type RetryBudget } from './budget.ts';
import { createGate, type Gate } from './gate.ts';
import { RETRY_DEFAULTS, type RetryPolicy } from './retry.ts';

export interface Limits {
  /** One page in all, from the first byte sent to the last received. */
  pageMs: number;
  /** The longest time without a byte from the upstream. */
  idleMs: number;
  /** One body, decompressed. */
  maxBytes: number;
  /** How many times its received size a body may expand to. */
  maxExpansion: number;
  maxHeaderBytes: number;
  maxRows: number;
  /** One create in all. */
  createMs: number;
  connectMs: number;
}

export const LIMIT_DEFAULTS: Limits = {
  pageMs: 60_000,
  idleMs: 10_000,
  maxBytes: 16 * 1024 * 1024,
  maxExpansion: 100,
  maxHeaderBytes: 16_384,
  maxRows: 10_000,
  createMs: 30_000,
  connectMs: 10_000,
};

export type Auth = { kind: 'header' } | { kind: 'query'; parameter: string };

export interface RequestInfo {
  operation: Operation;
  /** Null when no answer came. */
  status: number | null;
  ms: number;
  retry: boolean;
}

export interface ClientOptions {
  /** https, or http on loopback. */
  baseUrl: URL | string;
  auth: Auth;
  /** Asked for every request, so that a new token takes effect without a restart. */
  token: () => Secret;
  clock?: Clock;
  random?: () => number;
  log?: Logger;
  /** How a bare number in `next` is sent back. */
  pageParameter?: string;
  /** How an opaque text in `next` is sent back. */
  cursorParameter?: string;
  limits?: Partial<Limits>;
  retry?: Partial<RetryPolicy>;
  /** Shared by everything of this process that retries; one is made if absent. */
  budget?: RetryBudget;
  /** Shared by everything that talks to this upstream; give one to open it closed, after a restart. */
  gate?: Gate;
  /** Certificates to trust instead of the usual ones, in PEM. */
  ca?: string;
  onRequest?: (info: RequestInfo) => void;
}

/** The options with nothing left open. */
export interface Context {
  base: URL;
  auth: Auth;
  token: () => Secret;
  clock: Clock;
  random: () => number;
  log: Logger | null;
  pageParameter: string;
  cursorParameter: string;
  limits: Limits;
  retry: RetryPolicy;
  budget: RetryBudget;
  gate: Gate;
  ca: string | null;
  onRequest: (info: RequestInfo) => void;
  /** Creates in a row that were throttled without being told until when. */
  throttledInRow: { creates: number };
}

export function settle(options: ClientOptions): Context {
  if (options.auth.kind === 'query' && options.auth.parameter === '') {
    throw new AppError('usage', 'The name of the query parameter that carries the token is empty.');
  }
  const clock = options.clock ?? systemClock;
  return {
    base: checkBase(options.baseUrl),
    auth: options.auth,
    token: options.token,
    clock,
    random: options.random ?? Math.random,
    log: options.log ?? null,
    pageParameter: options.pageParameter ?? 'page',
    cursorParameter: options.cursorParameter ?? 'cursor',
    limits: { ...LIMIT_DEFAULTS, ...options.limits },
    retry: { ...RETRY_DEFAULTS, ...options.retry },
    budget: options.budget ?? createRetryBudget(),
    gate: options.gate ?? createGate(clock),
    ca: options.ca ?? null,
    onRequest: harmless(options),
    throttledInRow: { creates: 0 },
  };
}

/** Whoever counts requests must not be able to turn a post that was created into one that may not have been. */
function harmless({ onRequest, log }: ClientOptions): Context['onRequest'] {
  return (info) => {
    try {
      onRequest?.(info);
    } catch (error) {
      log?.error({ reason: messageOf(error) }, 'counting a request failed');
    }
  };
}

function checkBase(value: URL | string): URL {
  const base = URL.parse(String(value));
  if (base === null) throw new AppError('usage', 'The base URL of the upstream is not a URL.');
  if (base.username !== '' || base.password !== '') {
    throw new AppError('usage', 'The base URL of the upstream must not carry a user name or password.');
  }
  if (base.search !== '' || base.hash !== '') {
    throw new AppError('usage', 'The base URL of the upstream must not carry a query or a fragment.');
  }
  if (base.protocol === 'https:' || (base.protocol === 'http:' && isLoopback(base.hostname))) return base;
  throw new AppError(
    'usage',
    `The base URL of the upstream must be https, or http on loopback: ${base.origin}.`,
    {
      hint: 'Set FEEDBACK_BASE_URL to an https address.',
    },
  );
}
