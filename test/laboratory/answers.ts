import type { FastifyReply } from 'fastify';
import type { Clock } from '../../src/base/clock.ts';
import {
  encoded,
  jsonAnswer,
  problemAnswer,
  type SandboxAnswer,
  sendAnswer,
  unauthorised,
} from '../../src/sandbox/answer.ts';
import type { Call } from '../../src/sandbox/call.ts';
import type { FaultRule } from './fault-kinds.ts';

/** The answer that a fault gives in place of the real one. */
export function faultAnswer(rule: FaultRule, call: Call, now: number): SandboxAnswer {
  switch (rule.kind) {
    case 'throttle':
      return problemAnswer(429, 'Too many requests.', undefined, retryAfter(rule, now));
    case 'unauthorised':
      return unauthorised();
    case 'forbidden':
      return problemAnswer(403, 'This token may not do that.');
    case 'redirect':
      return problemAnswer(rule.code ?? 302, 'It is elsewhere.', undefined, {
        location: rule.target ?? '/elsewhere/',
      });
    default:
      return failure(rule, call);
  }
}

/** Services have been seen to send back what they got, token included. */
function failure(rule: FaultRule, { request }: Call): SandboxAnswer {
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

/** How an answer goes out. */
export type Manner = 'whole' | 'cut' | { drip: { ms: number; bytes: number } };

export function mannerOf(rule: FaultRule | undefined): Manner {
  if (!rule) return 'whole';
  return rule.kind === 'cut' ? 'cut' : { drip: { ms: rule.ms ?? 20, bytes: rule.bytes ?? 1 } };
}

/** Sends the answer whole, cuts it or lets it drip. */
export async function sendAs(
  wire: Wire,
  call: Call,
  answer: SandboxAnswer,
  manner: Manner,
): Promise<FastifyReply> {
  if (manner === 'whole') return sendAnswer(answer, call, wire.clock);
  const { reply } = call;
  const { status, headers, body } = await encoded(answer, call, wire.clock);
  reply.hijack();
  reply.raw.writeHead(status, { ...headers, 'content-length': body.length });
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
