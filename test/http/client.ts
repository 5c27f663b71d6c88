import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Running } from './service.ts';

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Call {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
}

/** One request on a connection of its own: no more headers than Host and those given, and the path as it is. */
export async function ask({ url }: Pick<Running, 'url'>, path: string, call: Call = {}): Promise<Reply> {
  const { method = 'GET', headers = {}, body } = call;
  const outgoing = request(url, { path, method, headers, agent: false });
  outgoing.end(body);
  const [incoming] = await once(outgoing, 'response');
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

export function bearer(token: string): OutgoingHttpHeaders {
  return { authorization: `Bearer ${token}` };
}

export function detailOf({ body }: Reply): string {
  return (JSON.parse(body) as { detail: string }).detail;
}

/** Exactly these lines on the wire, which no client library would send; the answer as it came. */
export async function say({ port }: Pick<Running, 'port'>, ...lines: string[]): Promise<string> {
  const socket = await dial(port);
  socket.end(`${lines.join('\r\n')}\r\n\r\n`);
  return text(socket);
}

/** What the status line of a raw answer says; 0 where there is none. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

export async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}
