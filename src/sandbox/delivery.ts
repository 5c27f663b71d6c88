import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { type Answer, encoded } from './answer.ts';
import type { FaultRule } from './fault-kinds.ts';

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

/** Sends the answer. Its Date is the world's, not the machine's: a client may set its watch by it. */
export async function send(
  wire: Wire,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  manner: Manner = 'whole',
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
export function reset(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
  return reply;
}

/** Never answers. With a time the connection is closed after it, without one it is left to the client. */
export function hang(
  { clock, closing }: Wire,
  request: FastifyRequest,
  reply: FastifyReply,
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
