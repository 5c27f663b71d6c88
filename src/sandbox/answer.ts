import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
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
async function encoded(answer: Answer, acceptEncoding: string | undefined): Promise<Answer> {
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

export interface Wire {
  clock: Clock;
  /** Aborted when the sandbox closes, so that nothing slow keeps it open. */
  closing: AbortSignal;
}

/** A request that is to be answered. */
export interface Call {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** How an answer goes out. */
export type Manner = 'whole' | 'cut' | { drip: { ms: number; bytes: number } };

export function mannerOf(rule: FaultRule | undefined): Manner {
  if (!rule) return 'whole';
  return rule.kind === 'cut' ? 'cut' : { drip: { ms: rule.ms ?? 20, bytes: rule.bytes ?? 1 } };
}

/** Sends the answer. Its Date is the world's, not the machine's: a client may set its watch by it. */
export async function send(
  wire: Wire,
  { request, reply }: Call,
  answer: Answer,
  manner: Manner,
): Promise<FastifyReply> {
  const { status, headers, body } = await encoded(answer, request.headers['accept-encoding']);
  const dated = { date: new Date(wire.clock.now()).toUTCString(), ...headers };
  if (manner === 'whole') return reply.code(status).headers(dated).send(body);
  reply.hijack();
  reply.raw.writeHead(status, { ...dated, 'content-length': body.length });
  if (manner === 'cut') cut(reply, body);
  else await drip(wire, reply, body, manner.drip);
  return reply;
}

function cut(reply: FastifyReply, body: Buffer): void {
  const half = body.subarray(0, Math.floor(body.length / 2));
  // Only when that half has left: a socket destroyed earlier would take it along.
  reply.raw.write(half, () => reply.raw.destroy());
}

async function drip(
  { clock, closing }: Wire,
  reply: FastifyReply,
  body: Buffer,
  { ms, bytes }: { ms: number; bytes: number },
): Promise<void> {
  let at = 0;
  for (; at + bytes < body.length; at += bytes) {
    reply.raw.write(body.subarray(at, at + bytes));
    if (!(await slept(clock, ms, closing)) || reply.raw.destroyed) return;
  }
  // The last bytes end it: a client that has them may leave, and that is no broken answer.
  reply.raw.end(body.subarray(at));
}

/** Ends the connection without a byte, as a crash would. */
export function reset({ request, reply }: Call): FastifyReply {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
  return reply;
}

/** Never answers. With a time the connection is closed after it, without one it is left to the client. */
export function hang(
  { clock, closing }: Wire,
  { request, reply }: Call,
  ms: number | undefined,
): FastifyReply {
  reply.hijack();
  if (ms !== undefined) void slept(clock, ms, closing).then(() => request.raw.socket.destroy());
  return reply;
}

/** False when the sandbox closed meanwhile. */
export async function slept(clock: Clock, ms: number, closing: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, closing);
    return true;
  } catch {
    return false;
  }
}
