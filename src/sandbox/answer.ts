import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FieldErrors } from '../contract/draft.ts';

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
