import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type LiveToken, type LoadInput, liveToken, type Settings, secretsOf } from '../../config/load.ts';
import { type Client, type ClientOptions, createClient } from '../api/client.ts';
import {
  type CallKind,
  type Closing,
  createCircuitBreaker,
  createRateLimit,
  type RateLimit,
} from '../api/rate-limit.ts';
import { systemClock } from '../base/clock.ts';
import { AppError, messageOf } from '../base/errors.ts';
import { createLogger, type Logger } from '../base/log.ts';
import { Secret } from '../base/secret.ts';
import type { ServiceState } from '../state/state.ts';

export interface Upstream {
  url: string;
  token: () => Secret;
  /** Null for the sandbox, whose token stays. */
  tokenNews: LiveToken['news'];
  close: () => Promise<void>;
}

/** The service of the settings; without one, the sandbox in this process, on a file beside the mirror. */
export async function findUpstream(settings: Settings, input: LoadInput, live: boolean): Promise<Upstream> {
  if (settings.baseUrl) {
    const token = realToken(settings, input);
    return { url: settings.baseUrl.href, token, tokenNews: token.news, close: async () => {} };
  }
  const { startSandbox } = await import('../sandbox/server.ts');
  const token = new Secret(randomUUID());
  const owner = { token: token.reveal(), email: 'owner@example.com', name: 'Sandbox Owner' };
  const sandbox = await startSandbox({
    data: join(settings.dataDir, 'sandbox.db'),
    posts: 500,
    referenceTime: Date.now(),
    days: 60,
    tokens: [owner],
    live: live && { everyMs: 30_000, pace: 'calm' },
  });
  return { url: sandbox.url, token: () => token, tokenNews: () => null, close: () => sandbox.close() };
}

export function realToken(settings: Settings, input: LoadInput): LiveToken {
  if (settings.token) return liveToken(input, settings.token);
  throw new AppError('usage', `there is no token for ${settings.baseUrl?.host ?? 'the upstream'}`, {
    hint: 'Set FEEDBACK_API_TOKEN, or FEEDBACK_API_TOKEN_FILE to the path of a file that holds it.',
  });
}

export function openClient(
  settings: Settings,
  {
    url,
    ...rest
  }: Pick<ClientOptions, 'token' | 'log' | 'rateLimit' | 'env' | 'onRequest' | 'retry' | 'mayLeave'> & {
    url: string;
  },
): Client {
  const { auth, authParameter, pageParameter, cursorParameter } = settings;
  return createClient({
    baseUrl: url,
    auth:
      auth === 'query' && authParameter ? { kind: 'query', parameter: authParameter } : { kind: 'header' },
    pageParameter,
    cursorParameter,
    ...rest,
  });
}

/** A log without secrets, and the token, which may become another one: the log hides each that was read. */
export function maskedLog(
  settings: Settings,
  read: () => Secret,
  level: string,
): { token: () => Secret; log: Logger } {
  const seen = new Set(secretsOf(settings));
  const { logFormat: format, source } = settings;
  const token = (): Secret => {
    const current = read();
    seen.add(current);
    return current;
  };
  return { token, log: createLogger({ level, format, source, secrets: () => [...seen] }) };
}

/** A note that cannot be read or written must not turn an answer of the upstream into an unclear one. */
export function sharedGate(state: ServiceState, log: Logger): RateLimit {
  const kept = <T>(work: () => T, instead: T): T => {
    try {
      return work();
    } catch (error) {
      log.error(
        { event: 'upstream.rate-limit.unshared' },
        `when the upstream may be called is not shared: ${messageOf(error)}`,
      );
      return instead;
    }
  };
  const store = {
    read: (kind: CallKind) => kept(() => state.closing(kind), null),
    write: (kind: CallKind, closing: Closing) => kept(() => state.noteClosing(kind, closing), undefined),
  };
  return createRateLimit(systemClock, { store, breaker: createCircuitBreaker() });
}
