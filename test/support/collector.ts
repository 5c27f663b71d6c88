import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

/** A span as OTLP/HTTP spells it in JSON. */
interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Traces {
  resourceSpans: {
    resource: { attributes: Span['attributes'] };
    scopeSpans: { spans: Span[] }[];
  }[];
}

export interface Collector {
  url: string;
  received: Traces[];
}

/** A collector that keeps what it is sent. */
export async function startCollector(t: TestContext): Promise<Collector> {
  const received: Traces[] = [];
  const server = createServer(async (request, response) => {
    assert.equal(`${request.method} ${request.url}`, 'POST /v1/traces');
    received.push((await json(request)) as Traces);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

export function spansOf({ received }: Collector): Span[] {
  const all = received.flatMap(({ resourceSpans }) => resourceSpans);
  return all.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}
