import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { request } from 'undici';
import { freeSpace, isForAnybody } from '../base/files.ts';
import type { Secret } from '../base/secret.ts';
import { sizeText } from '../text/text.ts';
import { type Finding, fault, fine, warning } from './check.ts';

const LITTLE_SPACE = 1_000_000_000;
const NO_SPACE = 50_000_000;
const FOR_OTHERS = 0o077;

/** The folder in which everything is written: there, ours alone, and with room. */
export function examineFolder(folder: string, freeIn = freeSpace): Finding {
  if (!existsSync(folder)) return missing(folder);
  if (!statSync(folder).isDirectory())
    return fault(`${folder} is not a folder`, 'Set DATA_DIR to a folder.', 'data-folder');
  if (!canWrite(folder))
    return fault(
      `${folder} cannot be written to`,
      `Give the user of this program the right to write to ${folder}.`,
      'data-folder',
    );
  if (isForAnybody(folder))
    return fault(
      `every user of this machine can write to ${folder}`,
      `Run: chmod o-w ${folder}`,
      'data-folder',
    );
  const free = freeIn(folder);
  if (free < NO_SPACE)
    return fault(
      `only ${sizeText(free)} are free for ${folder}`,
      'Make room on that disk: nothing can be written.',
      'disk-full',
      'storage',
    );
  return othersMayRead(folder) ?? space(folder, free);
}

function missing(folder: string): Finding {
  let parent = dirname(resolve(folder));
  while (!existsSync(parent)) parent = dirname(parent);
  return takesFolder(parent)
    ? fine(`${folder} is not there yet; it is made when it is needed`)
    : fault(
        `${folder} is not there and cannot be made in ${parent}`,
        'Set DATA_DIR to a folder you may write to.',
        'data-folder',
      );
}

function space(folder: string, free: number): Finding {
  return free < LITTLE_SPACE
    ? warning(
        `${folder}, with ${sizeText(free)} free`,
        'Make room on that disk before the mirror grows.',
        'disk-full',
      )
    : fine(`${folder}, with ${sizeText(free)} free`);
}

/** Names, e-mails and texts of customers are in there. */
function othersMayRead(path: string): Finding | null {
  const mode = statSync(path).mode & 0o777;
  if ((mode & FOR_OTHERS) === 0) return null;
  return warning(
    `${path} is open to other users of this machine (mode 0${mode.toString(8)})`,
    `Run: chmod go= ${path}`,
    'open-to-others',
  );
}

export function examineFile(path: string): Finding | null {
  return existsSync(path) ? othersMayRead(path) : null;
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** By making one: /proc and the like say that they can be written to, and take none. */
function takesFolder(parent: string): boolean {
  try {
    rmdirSync(mkdtempSync(join(parent, '.feedback-mirror-')));
    return true;
  } catch {
    return false;
  }
}

const ANSWER_MS = 5000;

export interface ServiceAddress {
  host: string;
  port: number;
  token: Secret | null;
  /** It is also that of the feedback service. */
  isUpstreamToken: boolean;
}

/**
 * Who can read over HTTP what the mode of the data folder keeps from other accounts. On a machine with one account nothing is
 * wrong without a token, so that alone is no warning.
 */
export function examineAccess({ host, token, isUpstreamToken }: ServiceAddress): Finding {
  const example = randomBytes(18).toString('base64url');
  if (!token)
    return fine(
      `no HTTP_TOKEN: every account of this machine can read the mirror over HTTP. To end that, set HTTP_TOKEN, such as ${example}`,
    );
  if (isUpstreamToken)
    return warning(
      'HTTP_TOKEN is the token of the feedback service: people who get it to read the mirror can do there what you can',
      `Set it to another long random text, such as ${example}.`,
      'weak-token',
    );
  return isWeak(token.reveal())
    ? warning(
        `HTTP_TOKEN is easy to guess, and nothing else protects ${host}`,
        `Set it to a long random text, such as ${example}.`,
        'weak-token',
      )
    : fine('the service asks for HTTP_TOKEN');
}

function isWeak(token: string): boolean {
  return token.length < 16 || new Set(token).size < 8;
}

/** Whether the service runs here, and what it says of itself. */
export async function examineService(
  { host, port, token }: ServiceAddress,
  signal: AbortSignal,
): Promise<Finding> {
  if (port === 0) return fine('HTTP_PORT is 0: it takes another port each time, so it cannot be asked');
  const base = `http://${reachable(host)}:${port}`;
  const alive = await ask(`${base}/healthz`, null, signal);
  if (alive === null)
    return warning(
      `nothing answers at ${base}`,
      '"feedback-mirror start" keeps the mirror fresh and sends the outbox.',
      'service-down',
    );
  if (alive.isSilent)
    return warning(
      `whatever listens at ${base} does not answer within ${ANSWER_MS / 1000} s`,
      'If it is the service, it is very busy: its log says with what.',
      'service-busy',
    );
  // Another program may have that port, and must not get the token.
  if (alive.status !== 200 || Reflect.get(Object(alive.body), 'status') !== 'ok')
    return fault(
      `another program answers at ${base}`,
      'Set HTTP_PORT to a port that is free, or 0 for any.',
      'port-taken',
      'busy',
    );
  const ready = await ask(`${base}/readyz`, token, signal);
  if (ready?.status === 200) return fine(`it runs at ${base} and does its work`);
  if (ready?.status === 401)
    return warning(
      `it runs at ${base} and asks for a token`,
      'Set HTTP_TOKEN as the service has it.',
      'service-token',
    );
  return fault(
    `it runs at ${base}, but ${complaints(ready?.body)}`,
    'Its log says more.',
    'not-ready',
    'unreachable',
  );
}

interface Answer {
  /** 0 where something was said that is no HTTP. */
  status: number;
  body: unknown;
  /** Somebody listens, and has said nothing in the time. */
  isSilent?: true;
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
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return null;
    const isSilent = error instanceof Error && error.name === 'TimeoutError';
    return { status: 0, body: null, ...(isSilent && { isSilent }) };
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
    .filter(
      (check: unknown) =>
        Reflect.get(Object(check), 'ok') === false && !Reflect.get(Object(check), 'warning'),
    )
    .map((check: unknown) => String(Reflect.get(Object(check), 'detail')));
  return details.length > 0 ? [...new Set(details)].join('; ') : 'it does not say that it does its work';
}
