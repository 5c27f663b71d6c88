import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { FieldErrors } from '../contract/draft.ts';
import type { Call } from './call.ts';

/** What the service decided to say, before it is put on the wire. */
export interface SandboxAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Sent without compression, also to a client that takes gzip. */
  uncompressed?: true;
}

/** Below this, compressing costs more than it saves. */
const GZIP_FROM = 1024;
const compress = promisify(gzip);

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): SandboxAnswer {
  return jsonTextAnswer(status, JSON.stringify(value), headers);
}

export function jsonTextAnswer(
  status: number,
  json: string,
  headers: Record<string, string> = {},
): SandboxAnswer {
  return textAnswer(status, json, 'application/json; charset=utf-8', headers);
}

export function textAnswer(
  status: number,
  text: string,
  type: string,
  headers: Record<string, string> = {},
): SandboxAnswer {
  return { status, headers: { 'content-type': type, ...headers }, body: Buffer.from(text) };
}

/** Every refusal has the same shape; `errors` names the fields where there are any. */
export function problemAnswer(
  status: number,
  detail: string,
  errors?: FieldErrors,
  headers: Record<string, string> = {},
): SandboxAnswer {
  return jsonAnswer(status, errors ? { detail, errors } : { detail }, headers);
}

/** The answer as it goes out: compressed when the client takes gzip and it is worth it, and dated by the clock of the world. */
export async function encoded(
  answer: SandboxAnswer,
  { request }: Call,
  clock: Clock,
): Promise<SandboxAnswer> {
  const wanted = /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))|,|$)/i.test(
    request.headers['accept-encoding'] ?? '',
  );
  const headers = { date: new Date(clock.now()).toUTCString(), ...answer.headers };
  const settled = answer.uncompressed || 'content-encoding' in headers;
  if (!wanted || settled || answer.body.length <= GZIP_FROM) return { ...answer, headers };
  return {
    ...answer,
    headers: { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body: await compress(answer.body),
  };
}

export async function sendAnswer(answer: SandboxAnswer, call: Call, clock: Clock): Promise<FastifyReply> {
  const { status, headers, body } = await encoded(answer, call, clock);
  return call.reply.code(status).headers(headers).send(body);
}

export function unauthorised(): SandboxAnswer {
  const challenge = { 'www-authenticate': 'Bearer' };
  return problemAnswer(401, 'A valid API token is required.', undefined, challenge);
}
