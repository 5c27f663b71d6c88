import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import type { FieldErrors } from '../contract/draft.ts';
import type { FaultRule } from './fault-kinds.ts';

/** What the service decided to say, before it is put on the wire. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Sent as it is even to a client that takes gzip. */
  uncompressed?: true;
}

/** Below this, compressing costs more than it saves. */
const GZIP_FROM = 1024;
const compress = promisify(gzip);

export function jsonAnswer(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return jsonTextAnswer(status, JSON.stringify(value), headers);
}

export function jsonTextAnswer(status: number, json: string, headers: Record<string, string> = {}): Answer {
  return textAnswer(status, json, 'application/json; charset=utf-8', headers);
}

export function textAnswer(
  status: number,
  text: string,
  type: string,
  headers: Record<string, string> = {},
): Answer {
  return { status, headers: { 'content-type': type, ...headers }, body: Buffer.from(text) };
}

/** Every refusal has the same shape; `errors` names the fields where there are any. */
export function problem(
  status: number,
  detail: string,
  errors?: FieldErrors,
  headers: Record<string, string> = {},
): Answer {
  return jsonAnswer(status, errors ? { detail, errors } : { detail }, headers);
}

/** The same answer, compressed when the client takes gzip and it is worth it. */
export async function encoded(answer: Answer, acceptEncoding: string | undefined): Promise<Answer> {
  const wanted = /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))|,|$)/i.test(acceptEncoding ?? '');
  const settled = answer.uncompressed || 'content-encoding' in answer.headers;
  if (!wanted || settled || answer.body.length <= GZIP_FROM) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body: await compress(answer.body),
  };
}

/** The answer that a fault gives in place of the real one. */
export function faultAnswer(rule: FaultRule, request: FastifyRequest, now: number): Answer {
  switch (rule.kind) {
    case 'throttle':
      return problem(429, 'Too many requests.', undefined, retryAfter(rule, now));
    case 'unauthorised':
      return unauthorised();
    case 'forbidden':
      return problem(403, 'This token may not do that.');
    case 'redirect':
      return problem(rule.code ?? 302, 'It is elsewhere.', undefined, {
        location: rule.target ?? '/elsewhere/',
      });
    default:
      return failure(rule, request);
  }
}

export function unauthorised(): Answer {
  const challenge = { 'www-authenticate': 'Bearer' };
  return problem(401, 'A valid API token is required.', undefined, challenge);
}

/** Services have been seen to send back what they got, token included. */
function failure(rule: FaultRule, request: FastifyRequest): Answer {
  const headers: Record<string, string> =
    rule.retryAfter === undefined ? {} : { 'retry-after': String(rule.retryAfter) };
  const detail = 'Something went wrong.';
  const echo = { request: { url: request.raw.url, headers: request.headers } };
  return jsonAnswer(rule.code ?? defaultCode(rule), rule.echo ? { detail, ...echo } : { detail }, headers);
}

function defaultCode({ kind }: FaultRule): number {
  if (kind === 'status-after') return 502;
  return kind === 'late-commit' ? 504 : 500;
}

function retryAfter(
  { form = 'seconds', retryAfter: after = 2 }: FaultRule,
  now: number,
): Record<string, string> {
  const forms = {
    seconds: { 'retry-after': String(after) },
    date: { 'retry-after': new Date(now + Number(after) * 1000).toUTCString() },
    none: {},
    garbage: { 'retry-after': 'soon' },
  };
  return forms[form];
}
