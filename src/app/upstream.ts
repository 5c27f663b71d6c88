import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type LoadInput, liveToken, type Settings } from '../../config/load.ts';
import { type Client, type ClientOptions, createClient } from '../api/client.ts';
import { AppError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';

export interface Upstream {
  url: string;
  token: () => Secret;
  close: () => Promise<void>;
}

/** The service of the settings; without one, the sandbox in this process, on a file beside the mirror. */
export async function findUpstream(settings: Settings, input: LoadInput, live: boolean): Promise<Upstream> {
  if (settings.baseUrl)
    return { url: settings.baseUrl.href, token: realToken(settings, input), close: async () => {} };
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
  return { url: sandbox.url, token: () => token, close: () => sandbox.close() };
}

export function realToken(settings: Settings, input: LoadInput): () => Secret {
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
