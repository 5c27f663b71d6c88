import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

export interface Received {
  at: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** How a receiver answers: with a status, one that asks to wait, not at all, or by breaking the connection. */
export type Behaviour = number | { status: number; retryAfter: number } | 'stall' | 'die';

/** A receiver of webhooks on loopback that does as it is told, one behaviour a request, and then answers 204. */
export async function openReceiver(t: TestContext) {
  const received: Received[] = [];
  const ids = new Set<unknown>();
  const plan: Behaviour[] = [];
  let connections = 0;
  const answer = (response: ServerResponse, behaviour: Behaviour): void => {
    if (behaviour === 'stall') return;
    if (behaviour === 'die') response.socket?.destroy();
    else if (typeof behaviour === 'object')
      response.writeHead(behaviour.status, { 'retry-after': String(behaviour.retryAfter) }).end();
    else response.writeHead(behaviour, { location: '/elsewhere' }).end('x'.repeat(100_000));
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    ids.add(request.headers['webhook-id']);
    received.push({ at: Date.now(), headers: request.headers, body });
    answer(response, plan.shift() ?? 204);
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    port: (server.address() as AddressInfo).port,
    received,
    plan,
    /** How many different messages came. */
    distinct: () => ids.size,
    connections: () => connections,
    /** What it took, by the number of the change, repeats left out. */
    numbers: (): number[] => [
      ...new Set(received.map(({ body }) => (JSON.parse(body) as { data: { number: number } }).data.number)),
    ],
  };
}
