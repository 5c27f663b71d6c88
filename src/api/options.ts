import { type Clock, systemClock } from '../base/clock.ts';
import { AppError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import type { Secret } from '../base/secret.ts';
import type { Operation } from '../contract/endpoints.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
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

export function authParameter(auth: Auth): string | null {
  return auth.kind === 'query' ? auth.parameter : null;
}

export type Auth = { kind: 'header' } | { kind: 'query'; parameter: string };

export interface RequestInfo {
  operation: Operation;
  status: number | null;
  ms: number;
  retry: boolean;
}

export interface ClientOptions {
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
  /** Shared by everything that talks to this upstream; give one to open it closed, after a restart. */
  rateLimit?: RateLimit;
  /** Certificates to trust instead of the usual ones, in PEM. */
  ca?: string;
  /** Where `HTTPS_PROXY` and `NO_PROXY` are read. */
  env?: ProxyEnvironment;
  onRequest?: (info: RequestInfo) => void;
  /** Asked when a create has its connection, immediately before its first byte is written. */
  mayLeave?: () => boolean;
}

/** The options with nothing left open. */
export interface ClientContext {
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
  rateLimit: RateLimit;
  ca: string | null;
  proxy: URL | null;
  onRequest: (info: RequestInfo) => void;
  mayLeave: () => boolean;
  /** Creates in a row that were throttled without being told until when. */
  throttledInRow: { creates: number };
  /** Creates in a row that something before the service answered. */
  divertedInRow: { creates: number };
}

export function clientContextOf(options: ClientOptions): ClientContext {
  if (options.auth.kind === 'query' && options.auth.parameter === '') {
    throw new AppError('usage', 'The name of the query parameter that carries the token is empty.');
  }
  const clock = options.clock ?? systemClock;
  const base = checkBase(options.baseUrl);
  return {
    base,
    auth: options.auth,
    token: options.token,
    clock,
    random: options.random ?? Math.random,
    log: options.log ?? null,
    pageParameter: options.pageParameter ?? 'page',
    cursorParameter: options.cursorParameter ?? 'cursor',
    limits: { ...LIMIT_DEFAULTS, ...options.limits },
    retry: { ...RETRY_DEFAULTS, ...options.retry },
    rateLimit: options.rateLimit ?? createRateLimit(clock),
    ca: options.ca ?? null,
    proxy: proxyFor(base, options.env ?? {}),
    onRequest: harmless(options),
    mayLeave: options.mayLeave ?? (() => true),
    throttledInRow: { creates: 0 },
    divertedInRow: { creates: 0 },
  };
}

/** The code that counts requests must not be able to turn a post that was created into one that may not have been. */
function harmless({ onRequest, log }: ClientOptions): ClientContext['onRequest'] {
  return (info) => {
    try {
      onRequest?.(info);
    } catch (error) {
      log?.error({ event: 'upstream.count.failed' }, `counting a request failed: ${messageOf(error)}`);
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

type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for an upstream, by the variables that other programs use too; the small letters win, as with curl. Only https goes through
 * one, as a tunnel: http is allowed on loopback alone, where a proxy would look for the service on its own machine.
 */
export function proxyFor(base: URL, env: ProxyEnvironment): URL | null {
  const name = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find((each) => env[each]);
  const value = name === undefined ? undefined : env[name];
  if (value === undefined || isLoopback(base.hostname) || isExempt(base, env.no_proxy ?? env.NO_PROXY ?? ''))
    return null;
  const proxy = URL.parse(value);
  if (proxy !== null && (proxy.protocol === 'http:' || proxy.protocol === 'https:')) return proxy;
  // The value may hold a password, so it is not shown.
  throw new AppError('usage', `${name} is not the http or https URL of a proxy.`, {
    hint: `Set it to http://host:port, unset it, or name ${base.hostname} in NO_PROXY.`,
  });
}

/** `NO_PROXY`: hosts and their subdomains, each with a port if that matters, or `*`. */
function isExempt({ hostname, port }: URL, list: string): boolean {
  return list.split(/[\s,]+/).some((entry) => {
    const [, name = '', only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (entry === '*') return true;
    if (name === '' || (only !== undefined && only !== (port || '443'))) return false;
    return hostname === name || hostname.endsWith(`.${name}`);
  });
}
