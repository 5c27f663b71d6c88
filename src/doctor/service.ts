import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import type { Secret } from '../base/secret.ts';
import { doubt, type Finding, fault, fine } from './check.ts';

const ANSWER_MS = 5000;

interface Place {
  host: string;
  port: number;
  token: Secret | null;
}

/**
 * Who can read over HTTP what the mode of the data folder keeps from other accounts. On a machine with one account nothing is
 * wrong without a token, so that alone is no warning.
 */
export function examineAccess({ host, token }: Place): Finding {
  const example = randomBytes(18).toString('base64url');
  if (!token)
    return fine(
      `no HTTP_TOKEN: every account of this machine can read the mirror over HTTP; HTTP_TOKEN=${example} would end that`,
    );
  return isWeak(token.reveal())
    ? doubt(
        `HTTP_TOKEN is easy to guess, and nothing else protects ${host}`,
        `Set it to a long random text, such as ${example}.`,
      )
    : fine('the service asks for HTTP_TOKEN');
}

function isWeak(token: string): boolean {
  return token.length < 16 || new Set(token).size < 8;
}

/** Whether the service runs here, and what it says of itself. */
export async function examineService({ host, port, token }: Place, signal: AbortSignal): Promise<Finding> {
  if (port === 0) return fine('HTTP_PORT is 0: it takes another port each time, so it cannot be asked');
  const base = `http://${reachable(host)}:${port}`;
  const alive = await ask(`${base}/healthz`, null, signal);
  if (alive === null)
    return doubt(
      `nothing answers at ${base}`,
      '"feedback-mirror start" keeps the mirror fresh and sends the outbox.',
    );
  // Whoever else has that port must not be sent the token.
  if (alive.status !== 200 || Reflect.get(Object(alive.body), 'status') !== 'ok')
    return fault(
      `another program answers at ${base}`,
      'Set HTTP_PORT to a port that is free, or 0 for any.',
      'busy',
    );
  const ready = await ask(`${base}/readyz`, token, signal);
  if (ready?.status === 200) return fine(`it runs at ${base} and does its work`);
  if (ready?.status === 401)
    return doubt(`it runs at ${base} and asks for a token`, 'Set HTTP_TOKEN as the service has it.');
  return fault(`it runs at ${base}, but ${complaints(ready?.body)}`, 'Its log says more.', 'unreachable');
}

interface Answer {
  status: number;
  body: unknown;
}

async function ask(url: string, token: Secret | null, signal: AbortSignal): Promise<Answer | null> {
  const headers = token === null ? {} : { authorization: `Bearer ${token.reveal()}` };
  try {
    // Not fetch, which refuses a list of ports.
    const { statusCode: status, body } = await request(url, {
      headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    return { status, body: await body.json().catch(() => null) };
  } catch (error) {
    signal.throwIfAborted();
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? null : { status: 0, body: null };
  }
}

/** An address to listen on is not always one to call. */
function reachable(host: string): string {
  const called = { '0.0.0.0': '127.0.0.1', '::': '::1', '[::]': '::1' }[host] ?? host;
  return called.includes(':') && !called.startsWith('[') ? `[${called}]` : called;
}

function complaints(body: unknown): string {
  const checks: unknown = Reflect.get(Object(body), 'checks');
  const details = (Array.isArray(checks) ? checks : [])
    .filter((check: unknown) => Reflect.get(Object(check), 'ok') === false)
    .map((check: unknown) => String(Reflect.get(Object(check), 'detail')));
  return details.length > 0 ? details.join('; ') : 'it does not say that it does its work';
}
