import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSocketServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { inspect } from 'node:util';
import { type Client, type ClientOptions, createClient } from '../../../src/api/client.ts';
import { Secret } from '../../../src/base/secret.ts';
import { fakeClock } from '../../support/clock.ts';
import * as wire from '../../support/wire.ts';

export const CANARY = 'cAnary/t0ken+"7f3a9c';

export interface Upstream {
  url: string;
  port: number;
  requests: IncomingMessage[];
  /** Connections accepted since the start. */
  connections(): number;
  /** Connections open now. */
  open(): number;
}

type Handler = (request: IncomingMessage, response: ServerResponse, n: number) => void;

/** A server on loopback that answers as told and is gone after the test. */
export async function startUpstream(t: TestContext, handler: Handler): Promise<Upstream> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response, requests.length);
  });
  return { ...(await listen(t, server)), requests };
}

/** A server below HTTP: what it writes is what the client sees. */
export async function startSocketServer(t: TestContext, onSocket: (socket: Socket, n: number) => void) {
  let n = 0;
  const server = createSocketServer((socket) => {
    socket.on('error', () => {});
    // Someone has to read, or the end of the connection is never noticed.
    socket.on('data', () => {});
    n += 1;
    onSocket(socket, n);
  });
  return await listen(t, server);
}

export async function listen(t: TestContext, server: Server): Promise<Omit<Upstream, 'requests'>> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, port, connections: () => connections, open: () => sockets.size };
}

/** A client on a clock that never sleeps, closed after the test. */
export function clientOf(t: TestContext, baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({
    baseUrl,
    auth: { kind: 'header' },
    token: () => new Secret(CANARY),
    clock: fakeClock(),
    random: () => 0.5,
    ...options,
  });
  t.after(() => client.close());
  return client;
}

export function json(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function envelope(ids: number[], next: unknown = null): object {
  return { next, previous: null, results: ids.map(post) };
}

export function post(id: number) {
  return { ...wire.post, id, title: `Post ${id}`, url: `/p/${id}` };
}

export const DRAFT = { board: 'board', title: 'A title', content: 'Some content' };

/** Everything the generator gives, page by page. */
export async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const page of pages) list.push(page);
  return list;
}

/** What a promise that must fail failed with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  let result: unknown;
  try {
    result = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`this should have failed but gave ${inspect(result)}`);
}
